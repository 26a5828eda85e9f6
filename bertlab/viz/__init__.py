"""Floor 5: pictures and views for notebooks; nothing here draws by itself or needs a network.

- `text.py`: tables, token boxes, source listings
- `training_curves.py`, `fill_mask_bars.py`: how a training goes, and what the model guesses
- `pictures.py`, `heatmaps.py`: matplotlib pictures with words for whoever cannot see them
- `frames.py`: a page of its own inside a notebook; on it stand `flipbooks.py` (pages drawn by
  Python behind a slider), `merge_steppers.py`, `merge_races.py`, `scaling.py`, `positions.py`,
  `token_paths.py`, `decodings.py`, `masking.py`, `head_flipbooks.py`, and `head_views.py`
  (BertViz, offline)
- `parameter_calculators.py`: sizes to choose, on a frame that computes by itself
- `text_boxes.py`: a box to type in and what Python answers; `playgrounds.py`: what the tokenizers
  make of it
"""

from bertlab.viz.decodings import beam_flipbook, decoding_flipbook
from bertlab.viz.fill_mask_bars import fill_mask_bars
from bertlab.viz.flipbooks import flipbook, flipbook_grid
from bertlab.viz.frames import Frame, frame
from bertlab.viz.head_flipbooks import head_flipbook
from bertlab.viz.head_views import head_view
from bertlab.viz.heatmaps import attention_heads, attention_heatmap, heatmap
from bertlab.viz.masking import masking_rolls
from bertlab.viz.merge_races import merge_race
from bertlab.viz.merge_steppers import merge_stepper
from bertlab.viz.parameter_calculators import parameter_calculator
from bertlab.viz.pictures import Picture, bars, lines
from bertlab.viz.playgrounds import TokenizerPlayground, tokenizer_playground
from bertlab.viz.positions import position_explorer
from bertlab.viz.scaling import softmax_scaling, softmax_temperature
from bertlab.viz.text import Rendered, show_source, table, token_boxes
from bertlab.viz.text_boxes import TextBox, text_box
from bertlab.viz.token_paths import TokenPath, follow_token, token_path
from bertlab.viz.training_curves import LiveCurves, live_curves, training_curves

__all__ = [
    "Frame",
    "LiveCurves",
    "Picture",
    "Rendered",
    "TextBox",
    "TokenPath",
    "TokenizerPlayground",
    "attention_heads",
    "attention_heatmap",
    "bars",
    "beam_flipbook",
    "decoding_flipbook",
    "fill_mask_bars",
    "flipbook",
    "flipbook_grid",
    "follow_token",
    "frame",
    "head_flipbook",
    "head_view",
    "heatmap",
    "lines",
    "live_curves",
    "masking_rolls",
    "merge_race",
    "merge_stepper",
    "parameter_calculator",
    "position_explorer",
    "show_source",
    "softmax_scaling",
    "softmax_temperature",
    "table",
    "text_box",
    "token_boxes",
    "token_path",
    "tokenizer_playground",
    "training_curves",
]
