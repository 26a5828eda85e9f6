"""Attention over all layers: rollout and flow, beside the last layer's attention."""

from collections.abc import Sequence

from torch import Tensor

from bertlab.viz.attention_input import check_index, check_layers, check_tokens
from bertlab.viz.pictures import COLOURS, Picture, finish, new_panels, plain_text, token_bars

LAST, ROLLOUT, FLOW = "last layer, mean of heads", "rollout, all layers", "flow, all layers"
MOST_BARS = 40  # per panel


def rollout_bars(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    query: int,
    *,
    title: str = "",
    alt: str | None = None,
) -> Picture:
    """Where one token at the top looks: by the last layer, by rollout and by flow, side by side.

    attentions: one tensor per layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    query: the token's number, from 0; alt: the bars in words, by default generated.
    All three are shares that sum to 100 % (flow is divided by its sum, as in the paper's code).

    Raises ValueError if the tensors, the tokens and the query do not fit each other, or if there
    are over 40 tokens.

    Source: Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers".
    """
    # Imported here: SciPy, which computes the flow, takes a second to import.
    from bertlab.interpretability.rollout import attention_flow, attention_rollout

    tokens = check_tokens("rollout_bars", tokens)
    if len(tokens) > MOST_BARS:
        raise ValueError(
            f"rollout_bars: tokens must be at most {MOST_BARS}, to be readable; got {len(tokens)}; "
            "use a shorter text"
        )
    layers = check_layers("rollout_bars", attentions, tokens)
    query = check_index("rollout_bars", "query", query, len(tokens))
    flow = attention_flow(layers, query)
    shares = {
        LAST: layers[-1].mean(dim=0)[query],
        ROLLOUT: attention_rollout(layers)[query],
        FLOW: flow / flow.sum(),
    }
    title = title or f"Where “{tokens[query]}” at the top looks"
    (axes,) = new_panels(9.3, 0.26 * len(tokens) + 1.3, 1, 3)
    highest = 100 * max(share.max().item() for share in shares.values())
    for ax, (name, share) in zip(axes, shares.items(), strict=True):
        percents = (100 * share).tolist()
        labels = [f"{value:.1f}" for value in percents]
        token_bars(ax, name, tokens, percents, labels, COLOURS[0], height=0.72)
        ax.set_xlim(0, 1.15 * highest)
        picture = finish(ax, "share (%)", "token", "", alt or _bars_in_words(title, shares, tokens))
        ax.label_outer()
    picture.figure.suptitle(plain_text(title), fontsize=11, x=0.01, ha="left", fontweight="bold")
    return picture


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
