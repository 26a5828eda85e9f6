"""The lectures' own playgrounds, on the frames, flipbooks and text boxes of `bertlab.viz`.

- tokenizers: `merge_steppers.py`, `merge_races.py` (on `merge_choices.py`), `playgrounds.py`
- attention and the Transformer: `scaling.py`, `positions.py`, `decodings.py`
- BERT: `parameter_calculators.py`, `token_paths.py` (on `way_maps.py`), `masking.py`
"""

from course.widgets.decodings import beam_flipbook, decoding_flipbook
from course.widgets.masking import masking_rolls
from course.widgets.merge_races import merge_race
from course.widgets.merge_steppers import merge_stepper
from course.widgets.parameter_calculators import parameter_calculator
from course.widgets.playgrounds import TokenizerPlayground, tokenizer_playground
from course.widgets.positions import position_explorer
from course.widgets.scaling import softmax_scaling, softmax_temperature
from course.widgets.token_paths import TokenPath, follow_token, token_path

__all__ = [
    "TokenPath",
    "TokenizerPlayground",
    "beam_flipbook",
    "decoding_flipbook",
    "follow_token",
    "masking_rolls",
    "merge_race",
    "merge_stepper",
    "parameter_calculator",
    "position_explorer",
    "softmax_scaling",
    "softmax_temperature",
    "token_path",
    "tokenizer_playground",
]
