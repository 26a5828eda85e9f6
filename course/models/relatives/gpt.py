"""GPT: the same parts with a causal mask; each token predicts the next one.

BERT sees both sides of a word and can fill gaps; GPT sees only the left side, and can write.

Source: Radford et al. (2018), "Improving Language Understanding by Generative Pre-Training";
Phuong & Hutter (2022), Algorithms 10 (DTransformer), 13 (DTraining) and 14 (DInference).
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.bert import Bert, drawn, evaluation_mode
from bertlab.model.checks import check_guesses, check_tensor
from bertlab.model.config import BertConfig
from bertlab.model.heads import MaskedLanguageModelHead
from bertlab.pretraining.batches import Batches
from course.models.relatives.training import without_masks


class CausalLanguageModel(nn.Module):
    """A decoder-only model: `Bert` with a causal mask, and BERT's head at every token.

    config: with `causal=True`; seed: draws all initial weights as in `Bert`.

    Published GPT has no segment vectors and no norm of the embeddings, and unembeds the last
    layer's vectors without the head's transform. GPT-2 normalises before each half of a layer.

    Source: Radford et al. (2018), sections 3.1 and 4.1; Phuong & Hutter (2022), Algorithm 10.

    >>> model = CausalLanguageModel(BertConfig.tiny(vocab_size=100, causal=True)).eval()
    >>> model(torch.tensor([[2, 17, 4]])).shape
    torch.Size([1, 3, 100])
    """

    def __init__(self, config: BertConfig, seed: int = 0) -> None:
        super().__init__()
        if not config.causal:
            raise ValueError(
                "CausalLanguageModel: config must have causal=True, or every token would see the "
                "one that it must predict; use dataclasses.replace(config, causal=True)"
            )
        self.config = config
        self.bert = Bert(config, seed)
        draw = torch.Generator().manual_seed(seed)
        self.head = drawn(lambda: MaskedLanguageModelHead(config), draw)

    def forward(self, ids: Tensor) -> Tensor:
        """At each token a score for every possible next word: [B, L] -> [B, L, V].

        Padding at the end needs no mask, because no token sees later ones.
        """
        return self.scores(self.bert(ids).last_hidden_state)

    def scores(self, hidden: Tensor) -> Tensor:
        """From vectors of tokens [..., D] to logits [..., V] of the next ones."""
        return self.head(hidden, self.bert.embeddings.token.weight)


def next_token_loss(logits: Tensor, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
    """The mean of -log p(next token), in nats, over all tokens except the first of each row.

    logits: [B, L, V]; ids: [B, L], the input: the token at t is the target at t - 1;
    attention_mask: [B, L], False at padding, which is never a target.

    Source: Radford et al. (2018), eq. 1; Phuong & Hutter (2022), Algorithm 13, which has the sum.
    """
    asked = torch.ones_like(ids, dtype=torch.bool) if attention_mask is None else attention_mask
    asked = asked[:, 1:].bool()  # [B, L - 1]
    guesses, words = logits[:, :-1][asked], ids[:, 1:][asked]  # [N, V], [N]
    check_guesses("next_token_loss", guesses, "words", words)
    return F.cross_entropy(guesses, words, reduction="sum") / max(1, len(words))


def next_token_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None
) -> Tensor:
    """From scores to the probabilities for drawing the next token: [..., V] -> [..., V].

    temperature: divides the logits; below 1, likely words become more likely, and at 0 the most
    likely word has probability 1; top_k: only the k most likely words are possible.

    Raises ValueError if the temperature is negative or top_k not from 1 to V.
    Source: Phuong & Hutter (2022), Algorithm 14; top-k: Fan et al. (2018), "Hierarchical Neural
    Story Generation".

    >>> logits = torch.tensor([0.5, 0.3, 0.2]).log()
    >>> next_token_probabilities(logits), next_token_probabilities(logits, top_k=2)
    (tensor([0.5000, 0.3000, 0.2000]), tensor([0.6250, 0.3750, 0.0000]))
    """
    V = logits.shape[-1]
    if not 0 <= temperature < math.inf:
        raise ValueError(f"generate: temperature must be at least 0 and finite; got {temperature}")
    if top_k is not None and not 1 <= top_k <= V:
        raise ValueError(f"generate: top_k must be from 1 to {V}, the words there are; got {top_k}")
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    if top_k is not None:
        best = logits.topk(top_k, dim=-1)
        logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)
    return (logits / temperature).softmax(dim=-1)


def stream(
    model: CausalLanguageModel,
    ids: Tensor,
    n_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[Tensor]:
    """Write one token after the other: yields [B], the next token of each text, `n_tokens` times.

    Arguments as in `generate`; errors are raised when the first token is requested.
    """
    if temperature > 0 and generator is None:
        raise ValueError(
            "generate: generator must be given, such as torch.Generator().manual_seed(0), unless "
            "temperature=0, which takes the most likely word and draws nothing"
        )
    check_tensor("generate", "ids", ids)
    for _ in range(n_tokens):
        window = ids[:, -model.config.max_length :]  # earlier tokens do not fit
        with evaluation_mode(model), torch.no_grad():
            last = model.bert(window).last_hidden_state[:, -1]  # [B, D]
            chances = next_token_probabilities(model.scores(last), temperature, top_k)  # [B, V]
        if temperature == 0:
            drawn = chances.argmax(dim=-1)
        else:
            drawn = torch.multinomial(chances.cpu(), 1, generator=generator)[:, 0].to(ids.device)
        ids = torch.cat([ids, drawn[:, None]], dim=1)
        yield drawn


def generate(
    model: CausalLanguageModel,
    ids: Tensor,
    n_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue texts: [B, L] -> [B, L + n_tokens].

    ids: [B, L], beginnings of the same length, without padding; temperature, top_k: as in
    `next_token_probabilities`; generator: draws the tokens, on the CPU. For each token the model
    reads its last `max_length` tokens again, which is simple; libraries that serve many users
    cache the keys and values of earlier tokens instead.

    Raises ValueError if an argument is out of range.
    Source: Phuong & Hutter (2022), Algorithm 14 (DInference).
    """
    if n_tokens < 0:
        raise ValueError(f"generate: n_tokens must not be negative; got {n_tokens}")
    options: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "generator": generator}
    written = stream(model, ids, n_tokens, **options)
    return torch.cat([ids, *(token[:, None] for token in written)], dim=1)


def evaluate_next_tokens(model: CausalLanguageModel, data: Batches) -> dict[str, float]:
    """Loss in nats per token, perplexity, and the share predicted correctly, on epoch 0."""
    device, sums, n = next(model.parameters()).device, torch.zeros(2, dtype=torch.float64), 0
    epoch: Any = data.epoch(0)  # can be iterated, though PyTorch's type does not say so
    with evaluation_mode(model), torch.no_grad():
        for batch in epoch:
            ids, mask = without_masks(batch).to(device), batch.attention_mask.to(device)
            logits, asked = model(ids), mask[:, 1:]
            right = (logits[:, :-1].argmax(dim=-1) == ids[:, 1:])[asked].sum()
            nats = next_token_loss(logits, ids, mask) * asked.sum()
            sums += torch.stack([nats, right]).cpu().double()
            n += int(asked.sum())
    loss, accuracy = sums / max(1, n)
    means = {"loss": loss, "perplexity": loss.exp(), "accuracy": accuracy}
    return {name: mean.item() for name, mean in means.items()} | {"n_tokens": n}
