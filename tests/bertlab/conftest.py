"""A corpus that is prepared once for all tests that train on it."""

import shutil

import pytest

from bertlab.data.prepared import prepare_corpus


@pytest.fixture(scope="session")
def topics(tmp_path_factory):
    """Python's own manual, which needs no download, cut into tokens: the folder and what it is."""
    folder = tmp_path_factory.mktemp("topics")
    return folder, prepare_corpus("python-topics", folder, vocab_size=300, progress=False)


@pytest.fixture
def out(tmp_path, topics):
    """The folder of a run with a prepared corpus."""
    shutil.copytree(topics[0], tmp_path / "run" / "corpus")
    return tmp_path / "run"
