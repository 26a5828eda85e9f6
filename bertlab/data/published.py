"""Published BERT models from the Hugging Face Hub, for use outside the course.

    python -m bertlab.data fetch bert-base-uncased

No lecture and no exercise needs them. Each model is pinned to one revision, each file to a SHA-256.
A pickle, such as `pytorch_model.bin`, is never fetched: it can run code when it is opened. The
environment variable `HF_ENDPOINT` names another server that uses the Hub's protocol.

Source: Devlin et al. (2019), whose authors published these weights.
"""

import errno
import shutil
from pathlib import Path

from filelock import FileLock
from tqdm.auto import tqdm

from bertlab.data.fetching import DataError, cache_folder, fault, wrong_file
from bertlab.data.hub_models import HubFile, HubModel, hub_model


def published(name: str) -> Path:
    """The folder of a fetched model, which `load_pretrained` and `load_tokenizer` read.

    Each file's hash is checked the first time in a process. Raises ValueError for an unknown name,
    DataError if the model has not been fetched or a file is damaged.
    """
    model, folder = hub_model(name), cache_folder() / name
    faults = {file.name: fault(folder / file.name, file.sha256) for file in model.files}
    if not any(faults.values()):
        return folder
    if not all((folder / file.name).is_file() for file in model.files):
        raise DataError(f"{name} is not in the cache, {cache_folder()}; {_what_to_run(name)}")
    damaged = [name for name, found in faults.items() if found]
    raise DataError(
        f"{folder} is damaged: the content of {', '.join(damaged)} has changed; "
        f"{_what_to_run(name)} to replace it"
    )


def fetch_published(name: str, *, progress: bool = False) -> Path:
    """Fetch the missing or damaged files of a published model; returns its folder.

    With nothing to fetch no network is used. A file is put into the folder only when it is complete
    and its hash is right. An interrupted download resumes, also in a later call. Two processes
    may call it at once: the second waits and finds the files.

    Raises ValueError for an unknown name, DataError if a file cannot be fetched: without a network,
    without space, or with another hash.
    """
    model, folder = hub_model(name), cache_folder() / name
    if _lacking(model, folder):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{folder}.lock"):
                for file in _lacking(model, folder):  # another process may have been faster
                    _fetch_file(name, file, folder, progress)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise _no_space(name) from error
    return folder


def _lacking(model: HubModel, folder: Path) -> list[HubFile]:
    return [file for file in model.files if fault(folder / file.name, file.sha256)]


def _fetch_file(name: str, file: HubFile, folder: Path, progress: bool) -> None:
    """Download one file next to its folder, check its hash, and move it into the folder."""
    part = folder.parent / f".{file.sha256}.part"  # a later call resumes it
    there = part.stat().st_size if part.is_file() else 0
    if there > file.size:
        part.unlink()
    if shutil.disk_usage(part.parent).free < file.size - there:
        raise OSError(errno.ENOSPC, "the file is larger than the space that is free")
    try:
        _download(name, file, part, progress)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            part.unlink(missing_ok=True)
        raise
    if fault(part, file.sha256):
        part.unlink()
        raise wrong_file(f"{name}: {file.name} on the server")
    folder.mkdir(exist_ok=True)
    part.replace(folder / file.name)


def _download(name: str, file: HubFile, part: Path, progress: bool) -> None:
    """Let huggingface_hub append the rest to `part`; after an interruption it retries a few times.

    Raises OSError for errors of the disk, DataError for all others.
    """
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import silent_tqdm
    except ImportError as error:
        raise DataError(
            "fetching a published model needs huggingface_hub 2 or later; run: "
            "pip install 'bertlab[published]'"
        ) from error
    model = hub_model(name)
    url = hf_hub_url(model.repository, file.name, revision=model.revision)
    try:
        if get_hf_file_metadata(url, token=False).size not in (None, file.size):
            raise wrong_file(f"{name}: {file.name} on the server")
        with part.open("ab") as stream:
            http_get(
                url,
                stream,
                resume_size=stream.tell(),
                headers={"Accept-Encoding": "identity"},  # compressed bytes could not be appended
                expected_size=file.size,
                displayed_filename=file.name,
                tqdm_class=tqdm if progress else silent_tqdm,
            )
    except DataError:
        raise
    except Exception as error:  # the client's error classes depend on its version
        if isinstance(error, OSError) and error.errno:
            raise
        last = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        raise DataError(
            f"{name}: {file.name} could not be downloaded; {_what_to_run(name)}, which resumes "
            f"where this stopped (huggingface_hub: {last})"
        ) from error


def _what_to_run(name: str) -> str:
    size = hub_model(name).megabytes
    return f"when online, run `python -m bertlab.data fetch {name}` ({size:.0f} MB)"


def _no_space(name: str) -> DataError:
    return DataError(
        f"{name}: there is too little space in {cache_folder()}; free some, or let BERTLAB_DATA be "
        f"a folder on another disk, and then {_what_to_run(name)}"
    )
