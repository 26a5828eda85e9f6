"""The sizes of a BERT."""

import math
from dataclasses import dataclass
from typing import Any

from bertlab.model.checks import check_fields, check_heads, require

SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "d_ff", "max_length", "n_segments")


@dataclass(frozen=True)
class BertConfig:
    """Sizes and rates of a BERT; the defaults are BERT-base, uncased.

    Raises ValueError if a size is not a positive integer, if `d_model` cannot be split evenly among
    the heads, if `dropout` is not in [0, 1), if `layer_norm_eps` is negative or not finite, or if
    `causal` is not True or False.

    Source: Devlin et al. (2019), section 3 (base, large); Turc et al. (2019), "Well-Read
    Students Learn Better", table 1 (tiny, mini, small, medium).

    >>> BertConfig.base().d_head
    64
    """

    vocab_size: int = 30_522  # N_V
    d_model: int = 768  # d_e, "H" in the BERT paper
    n_layers: int = 12  # L
    n_heads: int = 12  # H, "A" in the BERT paper
    d_ff: int = 3072  # d_mlp
    max_length: int = 512  # l_max
    n_segments: int = 2
    dropout: float = 0.1
    layer_norm_eps: float = 1e-12
    causal: bool = False  # True: each token sees only what came before, as in GPT

    def __post_init__(self) -> None:
        check_sizes(self)

    @property
    def d_head(self) -> int:
        """Size of one head's queries, keys and values (d_attn and d_mid)."""
        return self.d_model // self.n_heads

    @classmethod
    def tiny(cls, **changes: Any) -> "BertConfig":
        """2 layers, 128 dimensions, 2 heads."""
        return cls._sized(2, 128, 2, changes)

    @classmethod
    def mini(cls, **changes: Any) -> "BertConfig":
        """4 layers, 256 dimensions, 4 heads."""
        return cls._sized(4, 256, 4, changes)

    @classmethod
    def small(cls, **changes: Any) -> "BertConfig":
        """4 layers, 512 dimensions, 8 heads."""
        return cls._sized(4, 512, 8, changes)

    @classmethod
    def medium(cls, **changes: Any) -> "BertConfig":
        """8 layers, 512 dimensions, 8 heads."""
        return cls._sized(8, 512, 8, changes)

    @classmethod
    def base(cls, **changes: Any) -> "BertConfig":
        """12 layers, 768 dimensions, 12 heads."""
        return cls._sized(12, 768, 12, changes)

    @classmethod
    def large(cls, **changes: Any) -> "BertConfig":
        """24 layers, 1024 dimensions, 16 heads."""
        return cls._sized(24, 1024, 16, changes)

    @classmethod
    def _sized(
        cls, n_layers: int, d_model: int, n_heads: int, changes: dict[str, Any]
    ) -> "BertConfig":
        sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": n_heads, "d_ff": 4 * d_model}
        return cls(**(sizes | changes))


def check_sizes(config: Any) -> None:
    """Raise ValueError if a size or a rate of a model's configuration is impossible."""
    check_fields(config)
    for name in SIZES:
        size = getattr(config, name, 1)  # a Transformer has no segments
        require(config, name, size >= 1, "must be at least 1")
    check_heads(type(config).__name__, config.d_model, config.n_heads)
    require(config, "dropout", 0 <= config.dropout < 1, "must be in [0, 1)")
    eps = config.layer_norm_eps
    require(config, "layer_norm_eps", 0 <= eps < math.inf, "must be at least 0 and finite")
