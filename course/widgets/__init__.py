"""The lectures' own playgrounds, in the frames of `bertlab.viz`.

- `flipbooks.py`: pages drawn by Python behind a slider; the base of most other widgets
- `text_boxes.py`: a text box and Python's answer; `turns.py`: a blank with an instant check,
  sliders over a function of yours; `earlier.py`: questions of earlier lectures; `sources.py`: the
  library's source
- tokenizers: `merge_steppers.py`, `merge_races.py` (on `merge_choices.py`), `playgrounds.py`
- attention and the Transformer: `scaling.py`, `positions.py`, `drawn_transformers.py`,
  `decodings.py`
- heads of a model: `head_galleries.py` (all, sorted), `head_explorers.py` (for a text that you
  type)
- BERT: `emblems.py` (at a glance, with a lecture's numbers), `drawn_berts.py` (all of it, box by
  box), `parameter_calculators.py`, `token_paths.py` (with `way_maps.py`), `masking.py`
- pre-training: `training_curves.py`; `fill_masks.py`: a model's words for the masks of a text
"""

from course.widgets.decodings import beam_flipbook, decoding_flipbook
from course.widgets.drawn_berts import drawn_bert
from course.widgets.drawn_transformers import drawn_transformer
from course.widgets.earlier import before_you_start
from course.widgets.emblems import emblem
from course.widgets.fill_masks import fill_mask_explorer
from course.widgets.flipbooks import flipbook, flipbook_grid
from course.widgets.head_explorers import head_explorer
from course.widgets.head_galleries import head_gallery
from course.widgets.masking import masking_rolls
from course.widgets.merge_races import merge_race
from course.widgets.merge_steppers import merge_stepper
from course.widgets.parameter_calculators import parameter_calculator
from course.widgets.playgrounds import tokenizer_playground
from course.widgets.positions import position_explorer
from course.widgets.scaling import softmax_scaling, softmax_temperature
from course.widgets.sources import show_source
from course.widgets.text_boxes import TextBox, text_box
from course.widgets.token_paths import TokenPath, follow_token, token_path
from course.widgets.training_curves import LiveCurves, live_curves, training_curves
from course.widgets.turns import Sliders, blank, sliders

__all__ = [
    "LiveCurves",
    "Sliders",
    "TextBox",
    "TokenPath",
    "beam_flipbook",
    "before_you_start",
    "blank",
    "decoding_flipbook",
    "drawn_bert",
    "drawn_transformer",
    "emblem",
    "fill_mask_explorer",
    "flipbook",
    "flipbook_grid",
    "follow_token",
    "head_explorer",
    "head_gallery",
    "live_curves",
    "masking_rolls",
    "merge_race",
    "merge_stepper",
    "parameter_calculator",
    "position_explorer",
    "show_source",
    "sliders",
    "softmax_scaling",
    "softmax_temperature",
    "text_box",
    "token_path",
    "tokenizer_playground",
    "training_curves",
]
