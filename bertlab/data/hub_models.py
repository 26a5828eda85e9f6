"""Models on the Hugging Face Hub that our library reads: one revision, and each file's hash.

Sizes and hashes are those of the Hub's Git repositories, where the entry of a large file is its
SHA-256; each was found in at least two independent records. Models that can be added: a BERT with
learned, absolute positions and a `model.safetensors`.
"""

from dataclasses import dataclass
from difflib import get_close_matches

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


HUB_MODELS = {
    "bert-base-uncased": HubModel(
        "google-bert/bert-base-uncased",
        "86b5e0934494bd15c9632b12f734a8a67f723594",
        "Apache-2.0",
        (
            HubFile(
                "config.json",
                570,
                "7160e1553ad2ca51d8c1cb066be533db31826e12d173824c1bb0cb1a4f187d20",
            ),
            HubFile(
                "vocab.txt",
                231508,
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
            HubFile(
                "tokenizer_config.json",
                48,
                "a025160ef0431f1a392f6f050c1310f4c5d9fb6f275932dbccba73c4d214bf10",
            ),
            HubFile(
                "model.safetensors",
                440449768,
                "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
            ),
        ),
    ),
    "bert-base-cased": HubModel(
        "google-bert/bert-base-cased",
        "cd5ef92a9fb2f889e972770a36d4ed042daf221e",
        "Apache-2.0",
        (
            HubFile(
                "config.json",
                570,
                "8b73abed2d67075fd3ec0f840aa53d9cccdc9169c04a7da135c07e721910ed74",
            ),
            HubFile(
                "vocab.txt",
                213450,
                "eeaa9875b23b04b4c54ef759d03db9d1ba1554838f8fb26c5d96fa551df93d02",
            ),
            HubFile(
                "tokenizer_config.json",
                49,
                "0f6d13e6f4da6f9e24f22ada6bc3be571123d858d7c0c05a8a7cd55a9c23c2e8",
            ),
            HubFile(
                "model.safetensors",
                435755784,
                "1d8bdcee6021e2c25f0325e84889b61c2eb26b843eef5659c247af138d64f050",
            ),
        ),
    ),
    "google/bert_uncased_L-2_H-128_A-2": HubModel(  # "BERT-Tiny": Turc et al. (2019)
        "google/bert_uncased_L-2_H-128_A-2",
        "30b0a37ccaaa32f332884b96992754e246e48c5f",
        "Apache-2.0",
        (
            HubFile(
                "config.json",
                382,
                "508e1f01aae55d73355cbdd82609be2f43ba5a0d3428837adbe56cf8391f8b39",
            ),
            HubFile(
                "vocab.txt",
                231508,
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
            HubFile(
                "model.safetensors",
                17739144,
                "7fb69ad9f6866d8983183c930e33828f326470bf6ad8bbb2ad4ed957a92e9414",
            ),
        ),
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
