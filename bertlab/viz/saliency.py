"""Is attention explanation? Gradient times input beside attention; attention over all layers."""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertlab.viz.attention_input import check_index, check_layers, check_tokens
from bertlab.viz.pictures import COLOURS, Picture, finish, new_panels, plain_text, token_bars

MOST_TOKENS = 40  # bars per panel
UP, DOWN = COLOURS[0], COLOURS[1]  # blue and orange; the side of the axis shows the same


def saliency_bars(
    tokens: Sequence[str],
    saliency: Tensor,
    attention: Tensor,
    *,
    target: str = "the answer",
    attention_label: str = "attention",
    title: str = "",
    alt: str | None = None,
) -> Picture:
    """Signed bars of gradient times input beside bars of attention, and how far they agree.

    tokens: L strings; saliency: [L], for example from `gradient_times_input`, in the target's
    units; attention: [L], probabilities from 0 to 1, such as one row of a head; target: the answer,
    in words; attention_label: whose attention it is; alt: the bars in words, by default generated.

    Below is Kendall's tau between |saliency| and attention, since attention has no sign: 1 if both
    order the tokens in the same way, 0 if they agree on half of all pairs.

    Raises ValueError if there is not one number per token, 2 to 40, or if one is not finite or not
    a probability.

    Source: Jain & Wallace (2019), "Attention is not Explanation", section 4.1.
    """
    # Imported here: SciPy takes a second to import.
    from bertlab.interpretability.gradients import rank_agreement

    tokens = list(tokens)
    saliency, attention = _checked(tokens, saliency, attention)
    tau = rank_agreement(saliency.abs(), attention)
    agreement = "undefined, as all bars of one side are equal" if tau != tau else f"{tau:.2f}"
    title = title or f"What pushes {target}, and what is looked at"
    ((left, right),) = new_panels(8.4, 0.27 * len(tokens) + 1.9, 1, 2)
    signed, percents = saliency.tolist(), (100 * attention).tolist()

    colours = [DOWN if value < 0 else UP for value in signed]
    labels = [_signed(value) for value in signed]
    token_bars(left, "gradient × input", tokens, signed, labels, colours)
    room = 1.35 * (saliency.abs().max().item() or 1.0)
    left.set_xlim(-room, room)
    left.axvline(0, color="#1c2127", linewidth=0.8)

    labels = [f"{value:.0f}" for value in percents]
    token_bars(right, attention_label, tokens, percents, labels, COLOURS[2])
    right.set_xlim(0, 1.15 * (max(percents) or 1.0))

    alt = alt or _words(title, tokens, saliency, attention, attention_label, agreement)
    finish(left, f"← lowers      raises {plain_text(target)} →", "token", "", alt)
    picture = finish(right, "probability (%)", "token", "", alt)
    right.label_outer()
    picture.figure.suptitle(plain_text(title), fontsize=11, x=0.01, ha="left", fontweight="bold")
    picture.figure.supxlabel(
        f"Kendall's tau of |gradient × input| and attention: {agreement}", fontsize=10
    )
    return picture


def _checked(tokens: list[str], saliency: Tensor, attention: Tensor) -> tuple[Tensor, Tensor]:
    length = len(tokens)
    if not 2 <= length <= MOST_TOKENS:
        raise ValueError(f"saliency_bars: tokens must be 2 to {MOST_TOKENS}; got {length}")
    vectors = []
    for name, values in (("saliency", saliency), ("attention", attention)):
        vector = torch.as_tensor(values).detach().float().cpu()
        if list(vector.shape) != [length]:
            raise ValueError(
                f"saliency_bars: {name} must be [{length}], a number for each token; "
                f"got {list(vector.shape)}"
            )
        if not torch.isfinite(vector).all():
            raise ValueError(f"saliency_bars: {name} must hold finite numbers; got {values}")
        vectors.append(vector)
    low, high = vectors[1].min().item(), vectors[1].max().item()
    if low < 0 or high > 1 + 1e-4:
        raise ValueError(
            f"saliency_bars: attention must be probabilities; got numbers from {low:.3g} to "
            f"{high:.3g}"
        )
    return vectors[0], vectors[1]


def _signed(value: float) -> str:
    """
    >>> _signed(0.5), _signed(-0.001)
    ('+0.50', '0.00')
    """
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}"


def _words(
    title: str,
    tokens: list[str],
    saliency: Tensor,
    attention: Tensor,
    attention_label: str,
    agreement: str,
) -> str:
    """The three longest bars of each side, and the agreement."""
    count = min(3, len(tokens))
    pushes = saliency.abs().topk(count).indices.tolist()
    looks = attention.topk(count).indices.tolist()
    pushed = ", ".join(f"{tokens[i]} {_signed(saliency[i].item())}" for i in pushes)
    looked = ", ".join(f"{tokens[i]} {100 * attention[i]:.0f} %" for i in looks)
    return (
        f"{title}. Two panels of bars for {len(tokens)} tokens. Gradient times input, strongest: "
        f"{pushed}. {attention_label}, highest: {looked}. Kendall's tau of |gradient × input| and "
        f"attention: {agreement}."
    )


LAST, ROLLOUT, FLOW = "last layer, mean of heads", "rollout, all layers", "flow, all layers"


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
    if len(tokens) > MOST_TOKENS:
        raise ValueError(
            f"rollout_bars: tokens must be at most {MOST_TOKENS}, to be readable; got "
            f"{len(tokens)}; use a shorter text"
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
