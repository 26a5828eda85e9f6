"""Floor 5: pictures and views for notebooks; nothing here draws by itself or needs a network.

- `text.py`: tables, token boxes, source listings
- `training_curves.py`, `fill_mask_bars.py`: how a training goes, and what the model guesses
- `pictures.py`, `heatmaps.py`: matplotlib pictures with words for whoever cannot see them
- `frames.py`: a page of its own inside a notebook; on it stand `flipbooks.py` (pages drawn by
  Python behind a slider) and `head_flipbooks.py`
- `head_views.py`, `model_views.py`, `neuron_views.py`: BertViz, offline, on frames
- `text_boxes.py`: a box to type in and what Python answers; `fill_mask_explorers.py`: what a model
  reads into its gaps
- `heat_tables.py`: heat maps that a frame draws anew; on them stand `head_explorers.py` (any head
  of a text that you type) and `head_galleries.py` (all heads, sorted)
- `rollouts.py`, `saliency.py`: attention over all layers, and beside the gradient
"""

from bertlab.viz.fill_mask_bars import fill_mask_bars
from bertlab.viz.fill_mask_explorers import fill_mask_explorer
from bertlab.viz.flipbooks import flipbook, flipbook_grid
from bertlab.viz.frames import Frame, frame
from bertlab.viz.head_explorers import HeadExplorer, head_explorer, head_maps
from bertlab.viz.head_flipbooks import head_flipbook
from bertlab.viz.head_galleries import head_gallery
from bertlab.viz.head_views import head_view, translation_head_view
from bertlab.viz.heatmaps import attention_heads, attention_heatmap, heatmap
from bertlab.viz.model_views import model_view, translation_model_view
from bertlab.viz.neuron_views import neuron_view, translation_neuron_view
from bertlab.viz.pictures import Picture, bars, lines
from bertlab.viz.rollouts import rollout_bars, rollout_heatmaps
from bertlab.viz.saliency import saliency_bars
from bertlab.viz.text import Rendered, show_source, table, token_boxes
from bertlab.viz.text_boxes import TextBox, text_box
from bertlab.viz.training_curves import LiveCurves, live_curves, training_curves

__all__ = [
    "Frame",
    "HeadExplorer",
    "LiveCurves",
    "Picture",
    "Rendered",
    "TextBox",
    "attention_heads",
    "attention_heatmap",
    "bars",
    "fill_mask_bars",
    "fill_mask_explorer",
    "flipbook",
    "flipbook_grid",
    "frame",
    "head_explorer",
    "head_flipbook",
    "head_gallery",
    "head_maps",
    "head_view",
    "heatmap",
    "lines",
    "live_curves",
    "model_view",
    "neuron_view",
    "rollout_bars",
    "rollout_heatmaps",
    "saliency_bars",
    "show_source",
    "table",
    "text_box",
    "token_boxes",
    "training_curves",
    "translation_head_view",
    "translation_model_view",
    "translation_neuron_view",
]
