"""Floor 5: pictures and views for notebooks; nothing here draws on import or needs a network.

- `text.py`: tables, token boxes
- `pictures.py`, `heatmaps.py`: matplotlib pictures with alt texts
- `saliency.py`: attention over all layers, and beside the gradient
- `frames.py`: a page of its own inside a notebook
- `head_views.py`, `neuron_views.py`: BertViz, offline, in frames
- `head_choosers.py`: the heat map of a chosen head, drawn by the frame
"""

from bertlab.viz.frames import Frame, frame
from bertlab.viz.head_choosers import head_maps
from bertlab.viz.head_views import (
    head_view,
    model_view,
    translation_head_view,
    translation_model_view,
)
from bertlab.viz.heatmaps import attention_heads, attention_heatmap, heatmap
from bertlab.viz.neuron_views import neuron_view, translation_neuron_view
from bertlab.viz.pictures import Picture, bars, lines
from bertlab.viz.saliency import rollout_bars, saliency_bars
from bertlab.viz.text import Rendered, table, token_boxes

__all__ = [
    "Frame",
    "Picture",
    "Rendered",
    "attention_heads",
    "attention_heatmap",
    "bars",
    "frame",
    "head_maps",
    "head_view",
    "heatmap",
    "lines",
    "model_view",
    "neuron_view",
    "rollout_bars",
    "saliency_bars",
    "table",
    "token_boxes",
    "translation_head_view",
    "translation_model_view",
    "translation_neuron_view",
]
