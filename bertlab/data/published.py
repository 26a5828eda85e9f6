"""Published BERT models from the Hugging Face Hub, for use outside the course.

    python -m bertlab.data fetch bert-base-uncased

No lecture and no exercise needs them. Each model is pinned to one revision, each file to a SHA-256.
Sizes and hashes are those of the Hub's Git repositories, where the entry of a large file is its
SHA-256; each was found in at least two independent records. Models that can be added: a BERT with
learned, absolute positions and a `model.safetensors`. A pickle, such as `pytorch_model.bin`, is
never fetched: it can run code when it is opened. The environment variable `HF_ENDPOINT` names
another server that uses the Hub's protocol.

Source: Devlin et al. (2019), whose authors published these weights.
"""

import errno
import shutil
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from filelock import FileLock
from tqdm.auto import tqdm

from bertlab.data.fetching import DataError, cache_folder, fault, wrong_file

SAFE = (".json", ".safetensors", ".txt")


@dataclass(frozen=True)
class HubFile:
    """One file of a model; size in bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class HubModel:
    """A repository on the Hub, at one revision. Raises ValueError for a file that can be unsafe."""

    repository: str
    revision: str  # a commit of that repository
    licence: str
    files: tuple[HubFile, ...]

    def __post_init__(self) -> None:
        for file in self.files:
            if not file.name.endswith(SAFE):
                raise ValueError(
                    f"{self.repository}: {file.name} is not fetched, since a pickle can run code "
                    f"when it is opened; expected files that end in {', '.join(SAFE)}"
                )

    @property
    def megabytes(self) -> float:
        """The size of the download, in millions of bytes."""
        return sum(file.size for file in self.files) / 1e6


# The SHA-256, the size and the name of each file.
BASE_UNCASED = """
7160e1553ad2ca51d8c1cb066be533db31826e12d173824c1bb0cb1a4f187d20 570 config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3 231508 vocab.txt
a025160ef0431f1a392f6f050c1310f4c5d9fb6f275932dbccba73c4d214bf10 48 tokenizer_config.json
68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3 440449768 model.safetensors
"""
BASE_CASED = """
8b73abed2d67075fd3ec0f840aa53d9cccdc9169c04a7da135c07e721910ed74 570 config.json
eeaa9875b23b04b4c54ef759d03db9d1ba1554838f8fb26c5d96fa551df93d02 213450 vocab.txt
0f6d13e6f4da6f9e24f22ada6bc3be571123d858d7c0c05a8a7cd55a9c23c2e8 49 tokenizer_config.json
1d8bdcee6021e2c25f0325e84889b61c2eb26b843eef5659c247af138d64f050 435755784 model.safetensors
"""
TINY_UNCASED = """
508e1f01aae55d73355cbdd82609be2f43ba5a0d3428837adbe56cf8391f8b39 382 config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3 231508 vocab.txt
7fb69ad9f6866d8983183c930e33828f326470bf6ad8bbb2ad4ed957a92e9414 17739144 model.safetensors
"""


def listed(lines: str) -> tuple[HubFile, ...]:
    """The files of a model, one per line."""
    rows = (line.split() for line in lines.strip().split("\n"))
    return tuple(HubFile(name, int(size), sha256) for sha256, size, name in rows)


HUB_MODELS = {
    "bert-base-uncased": HubModel(
        "google-bert/bert-base-uncased",
        "86b5e0934494bd15c9632b12f734a8a67f723594",
        "Apache-2.0",
        listed(BASE_UNCASED),
    ),
    "bert-base-cased": HubModel(
        "google-bert/bert-base-cased",
        "cd5ef92a9fb2f889e972770a36d4ed042daf221e",
        "Apache-2.0",
        listed(BASE_CASED),
    ),
    "google/bert_uncased_L-2_H-128_A-2": HubModel(  # "BERT-Tiny": Turc et al. (2019)
        "google/bert_uncased_L-2_H-128_A-2",
        "30b0a37ccaaa32f332884b96992754e246e48c5f",
        "Apache-2.0",
        listed(TINY_UNCASED),
    ),
}


def hub_model(name: str) -> HubModel:
    """A model of the table. Raises ValueError for a name that is not in it."""
    if name not in HUB_MODELS:
        raise ValueError(unknown_name(name, list(HUB_MODELS)))
    return HUB_MODELS[name]


def unknown_name(name: str, known: list[str]) -> str:
    """An error message with the most similar known names, and then all of them.

    >>> unknown_name("bert-base-uncasd", ["core", "bert-base-uncased"])
    "there is no 'bert-base-uncasd'; did you mean bert-base-uncased? known: core, bert-base-uncased"
    """
    near = get_close_matches(name, known, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"there is no {name!r}; {meant}known: {', '.join(known)}"


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
            raise DataError(
                f"{name}: there is too little space in {cache_folder()}; free some, or let "
                f"BERTLAB_DATA be a folder on another disk, and then {_what_to_run(name)}"
            ) from error
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
