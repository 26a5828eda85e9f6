"""Attention over all layers: what reaches the top by rollout and by flow, beside the last layer."""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertlab.viz.attention_input import check_layers
from bertlab.viz.pictures import COLOURS, Picture, finish, new_axes, plain_text

LAST, ROLLOUT, FLOW = "last layer, mean of heads", "rollout, all layers", "flow, all layers"
MOST_BARS = 40  # below each other
MOST_ROWS = 24  # a flow is found for each cell, which takes seconds for more


def rollout_bars(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    query: int,
    *,
    title: str = "",
    alt: str | None = None,
) -> Picture:
    """Where one token at the top looks: by the last layer, by rollout and by flow, side by side.

    attentions: one tensor a layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    query: the token's number, from 0; alt: the bars in words, otherwise sentences are made.
    All three are shares that sum to 100 % (flow is divided by its sum, as in the paper's code).

    Raises ValueError if the tensors, the tokens and the query do not fit each other, or if there
    are over 40 tokens.

    Source: Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers".
    """
    # Not above: SciPy, which finds the flow, takes a second to import.
    from bertlab.interpretability.rollout import attention_flow, attention_rollout

    tokens = list(tokens)
    layers = _checked("rollout_bars", attentions, tokens, MOST_BARS)
    if not 0 <= query < len(tokens):
        raise ValueError(
            f"rollout_bars: query must be a token from 0 to {len(tokens) - 1}; got {query}"
        )
    shares = {
        LAST: layers[-1].mean(dim=0)[query],
        ROLLOUT: attention_rollout(layers)[query],
        FLOW: _share(attention_flow(layers, query)),
    }
    title = title or f"Where “{tokens[query]}” at the top looks"
    axes = _panels(3, 3.1, 0.26 * len(tokens) + 1.3)
    highest = 100 * max(share.max().item() for share in shares.values())
    for ax, (name, share) in zip(axes, shares.items(), strict=True):
        percents = (100 * share).tolist()
        drawn = ax.barh(range(len(tokens)), percents, color=COLOURS[0], height=0.72)
        ax.bar_label(drawn, [f"{value:.1f}" for value in percents], padding=2, fontsize=8)
        ax.set_yticks(range(len(tokens)), [plain_text(token) for token in tokens], fontsize=9)
        ax.set_ylim(len(tokens) - 0.4, -0.6)
        ax.set_xlim(0, 1.15 * highest)
        ax.set_title(name, fontsize=10)
        picture = finish(ax, "share (%)", "token", "", alt or _bars_in_words(title, shares, tokens))
        ax.label_outer()
    picture.figure.suptitle(plain_text(title), fontsize=11, x=0.01, ha="left", fontweight="bold")
    return picture


def rollout_heatmaps(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    title: str = "",
    alt: str | None = None,
) -> Picture:
    """For every token at the top, where it looks: last layer, rollout and flow as heat maps.

    Arguments, errors and source as in `rollout_bars`, for up to 24 tokens. Row = token at the
    top; every row sums to 1. Each map has colours of its own, from 0 to its highest share, so
    compare their scales.
    """
    from bertlab.interpretability.rollout import attention_flow, attention_rollout

    tokens = list(tokens)
    layers = _checked("rollout_heatmaps", attentions, tokens, MOST_ROWS)
    flow = torch.stack([_share(attention_flow(layers, query)) for query in range(len(tokens))])
    maps = {LAST: layers[-1].mean(dim=0), ROLLOUT: attention_rollout(layers), FLOW: flow}
    title = title or "From the top back to the words"
    side = max(0.2, 0.34 - 0.006 * len(tokens)) * len(tokens)
    names = [plain_text(token) for token in tokens]
    axes = _panels(3, side + 0.6, side + 2.0 + 0.07 * max(map(len, tokens)))
    for ax, (name, values) in zip(axes, maps.items(), strict=True):
        image = ax.imshow(values.numpy(), cmap="viridis", vmin=0)
        ax.set_xticks(range(len(tokens)), names, rotation=90, fontsize=8)
        ax.set_yticks(range(len(tokens)), names, fontsize=8)
        ax.tick_params(length=0)
        ax.set_title(name, fontsize=10)
        picture = finish(
            ax, "word", "token at the top", "", alt or _maps_in_words(title, maps, tokens)
        )
        ax.spines[:].set_visible(False)
        ax.label_outer()
        ax.figure.colorbar(image, ax=ax, label="share", location="bottom", shrink=0.9, pad=0.02)
    picture.figure.suptitle(plain_text(title), fontsize=11, x=0.01, ha="left", fontweight="bold")
    return picture


def _checked(
    caller: str, attentions: Sequence[Tensor] | Tensor, tokens: list[str], most: int
) -> list[Tensor]:
    if len(tokens) > most:
        raise ValueError(
            f"{caller}: tokens must be at most {most}, to be readable; got {len(tokens)}; take a "
            "shorter text"
        )
    return check_layers(caller, attentions, tokens)


def _share(flow: Tensor) -> Tensor:
    return flow / flow.sum()


def _panels(number: int, width: float, height: float) -> list:
    """Axes side by side with one vertical axis, in inches each."""
    figure = new_axes(number * width, height).figure
    figure.clear()
    return list(figure.subplots(1, number, sharey=True))


def _bars_in_words(title: str, shares: dict[str, Tensor], tokens: list[str]) -> str:
    """Each panel's three highest bars."""
    parts = []
    for name, share in shares.items():
        top = share.topk(min(3, len(tokens)))
        named = ", ".join(
            f"{tokens[place]} {100 * value:.0f} %"
            for value, place in zip(top.values.tolist(), top.indices.tolist(), strict=True)
        )
        parts.append(f"{name}: {named}")
    return f"{title}. Bars for {len(tokens)} tokens. Most, by {'; by '.join(parts)}."


def _maps_in_words(title: str, maps: dict[str, Tensor], tokens: list[str]) -> str:
    """Which word each map has most of, over all rows."""
    parts = []
    for name, values in maps.items():
        mean = values.mean(dim=0)  # [L], over the tokens at the top
        place = int(mean.argmax())
        parts.append(f"{name}: {tokens[place]} with {100 * mean[place]:.0f} % of a row on average")
    return (
        f"{title}. Three heat maps of {len(tokens)} tokens at the top by {len(tokens)} words. "
        f"The word with most, by {'; by '.join(parts)}."
    )
