"""A progress bar for the training loop, in a terminal and in a notebook."""

from time import perf_counter
from types import TracebackType
from typing import Self

from tqdm.auto import tqdm

from bertlab.training.steps import StepResult

SMOOTH = 0.05  # a step's weight in the running means: the last 20 steps or so count


class Progress:
    """Steps done, time left, tokens a second, loss and share of masked words guessed right.

    steps: of the whole training; done: those of an earlier part, from which it goes on; enabled:
    without it nothing is printed. Loss and shares are running means, for those of single steps
    jump too much to be read.

        with Progress(config.steps, done) as bar:
            ...
            bar.update(result, tokens)
    """

    def __init__(self, steps: int, done: int = 0, *, enabled: bool = True) -> None:
        self._bar = tqdm(
            total=steps,
            initial=done,
            disable=not enabled,
            desc="pretraining",
            unit="step",
            mininterval=0.5,
            smoothing=0.02,  # an evaluation between two steps must not frighten the time left
            dynamic_ncols=True,
        )
        self._loss, self._words_right, self._words = Running(), Running(), Running()
        self._tokens, self._seconds = Running(), Running()
        self._last = perf_counter()

    def update(self, result: StepResult, tokens: int) -> None:
        """One step more.

        tokens: that the model has read in it, padding not counted.
        """
        if self._bar.disable:
            return
        now = perf_counter()
        self._seconds.add(now - self._last)
        self._tokens.add(tokens)
        self._loss.add(result.loss)
        self._words_right.add(result.mlm_correct)
        self._words.add(result.n_words)
        self._last = now
        self._bar.set_postfix_str(self._figures(), refresh=False)
        self._bar.update()

    def _figures(self) -> str:
        speed = self._tokens.mean / max(self._seconds.mean, 1e-9)
        right = self._words_right.mean / max(self._words.mean, 1e-9)
        return f"loss {self._loss.mean:.3f}, {right:.1%} of words, {speed:,.0f} tokens/s"

    def close(self) -> None:
        """Leave the bar as it is; what is printed next begins a new line."""
        self._bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Running:
    """A mean in which the past fades; right from the first value on.

    >>> running = Running()
    >>> for value in (4.0, 4.0, 4.0):
    ...     running.add(value)
    >>> round(running.mean, 6)
    4.0
    """

    def __init__(self) -> None:
        self._sum, self._weight = 0.0, 0.0

    def add(self, value: float) -> None:
        """A new value; all earlier ones count a little less."""
        self._sum += SMOOTH * (value - self._sum)
        self._weight += SMOOTH * (1 - self._weight)

    @property
    def mean(self) -> float:
        """The mean so far, 0 before the first value."""
        return self._sum / self._weight if self._weight else 0.0
