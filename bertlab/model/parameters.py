"""How many parameters a model has, component by component."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn

from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining


class Component(NamedTuple):
    """Identical parts of a model, such as the norms after attention, one in each layer."""

    name: str  # as in the code, without the layer's number
    shapes: tuple[str, ...]  # of one copy, such as ("30,522 × 768",)
    copies: int
    parameters: int  # of all copies together


@dataclass(frozen=True)
class ParameterTable:
    """The components in the order in which data flows; printing it shows the table."""

    components: tuple[Component, ...]

    @property
    def total(self) -> int:
        """All parameters; one that is used twice, such as tied embeddings, counts once."""
        return sum(component.parameters for component in self.components)

    def part(self, prefix: str) -> int:
        """Parameters of the components whose name starts with `prefix`, such as "layers"."""
        return sum(c.parameters for c in self.components if c.name.startswith(prefix))

    def rows(self) -> list[tuple[str, str, str]]:
        """(component, shape, parameters) as text, and the total in the last row."""
        rows = [
            (
                component.name,
                " + ".join(component.shapes),
                f"{component.copies} × {component.parameters // component.copies:,} = "
                f"{component.parameters:,}"
                if component.copies > 1
                else f"{component.parameters:,}",
            )
            for component in self.components
        ]
        return [*rows, ("total", "", f"{self.total:,}")]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(
            f"{name:<{widths[0]}}  {shape:<{widths[1]}}  {number:>{widths[2]}}"
            for name, shape, number in rows
        )

    __repr__ = __str__


def count_parameters(model: nn.Module | BertConfig) -> ParameterTable:
    """Count a model's parameters by component; identical parts of all layers make one row.

    model: any module. A `BertConfig` means the whole pre-training model of that size, which is
    counted without allocating its weights; its encoder is the part "bert".

    >>> count_parameters(nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4)))
    0      4 × 3 + 4  16
    1      4 + 4       8
    total             24
    """
    if isinstance(model, BertConfig):
        with torch.device("meta"):
            model = BertForPreTraining(model)
    found: dict[str, list[tuple[str, str, int]]] = {}
    for name, parameter in model.named_parameters():
        owner, _, _ = name.rpartition(".")
        component = re.sub(r"\.\d+(?=\.)", "", owner) or "model"
        shape = " × ".join(f"{size:,}" for size in parameter.shape)
        found.setdefault(component, []).append((owner, shape, parameter.numel()))
    return ParameterTable(
        tuple(
            Component(
                name=component,
                shapes=tuple(shape for owner, shape, _ in parts if owner == parts[0][0]),
                copies=len({owner for owner, _, _ in parts}),
                parameters=sum(number for _, _, number in parts),
            )
            for component, parts in found.items()
        )
    )
