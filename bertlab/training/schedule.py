"""The learning rate of a training: a linear rise, then a linear fall to zero; and the steps after
which the model is kept.

Source: Devlin et al. (2019), appendix A.2.
"""


def linear_schedule(step: int, steps: int, warmup: int) -> float:
    """The factor of the learning rate at a step: 1 at the end of the warm-up, 0 after the last.

    step: counted from 1; steps: of the whole training; warmup: steps of the rise. Step 1 has
    1 / warmup, the last one slightly more than 0.

    >>> [round(linear_schedule(step, 9, 4), 2) for step in range(1, 10)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    """
    if step <= warmup:
        return step / warmup
    return (steps - step + 1) / (steps - warmup)


def snapshot_steps(steps: int, number: int) -> set[int]:
    """The start, step 1 and the last one, and steps evenly between them on a logarithmic scale.

    There are fewer than `number` if several coincide.

    >>> sorted(snapshot_steps(1000, 5))
    [0, 1, 10, 100, 1000]
    """
    return (
        {round(steps ** (i / (number - 2))) for i in range(number - 1)} | {0} if number else set()
    )
