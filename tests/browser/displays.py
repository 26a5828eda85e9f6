"""The displays of the course in the sizes of the lectures: frames, and HTML in the page itself."""

from functools import cache

from bertlab import viz
from bertlab.interpretability.traces import trace
from bertlab.model import BertForPreTraining
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.pretraining.masking import Masking, mask_tokens
from bertlab.tokenizers.files import load_tokenizer
from course import widgets
from course.feedback.checks import Passed
from course.feedback.progress import BEFORE, Progress, Task
from course.widgets.fill_masks import guess_bars
from tests.course.widgets.test_decodings import decoded
from tests.small_models import generator, random_attention

TEXT = "the king gave his daughter a white horse, but she went to the forest ."


@cache
def displays():
    """Name -> what a cell of a notebook would show."""
    model = load_pretrained(BERTLAB_MINI, BertForPreTraining)
    tokenizer = load_tokenizer(BERTLAB_MINI)
    read = trace(model, tokenizer, TEXT)
    many = random_attention(6, 12, len(read.tokens), len(read.tokens))
    a_row = [["horse", 12, "It is cut into pieces."]]
    words = {"lowest": 5, "newest": 3, "widest": 2, "cost": 2, "menu": 1}
    rolls = {"15 %": [mask_tokens(read.ids[None], Masking.of(tokenizer), generator())]}
    tasks = [Task("ex01", name, number) for number, name in enumerate(("cut", "merge", "train"), 1)]
    progress = Progress(tuple(tasks), (True, False, False), (1, 2, 0), ("", BEFORE, ""))
    picture = viz.bars({"king": 3, "horse": 4}, "letters by word", title="Letters")
    return {
        "head view": viz.head_view(list(many), read.tokens),
        "model view": viz.model_view(list(many), read.tokens),
        "neuron view": viz.neuron_view(read),
        "head maps": viz.head_maps(list(many), read.tokens),
        "head gallery": widgets.head_gallery(list(many), read.tokens, by="previous"),
        "picture flipbook": widgets.flipbook([picture, picture], ["one", "two"], title="Pictures"),
        "merge stepper": widgets.merge_stepper(words, [("e", "s"), ("es", "t")]),
        "merge race": widgets.merge_race(words, 3),
        "masking": widgets.masking_rolls(read.ids, rolls, tokenizer),
        "scaling": widgets.softmax_scaling(),
        "temperature": widgets.softmax_temperature(),
        "positions": widgets.position_explorer(),
        "parameters": widgets.parameter_calculator(),
        "emblem": widgets.emblem(
            "attention", read.tokens[:4], [0.5, 0.1, 0.1, 0.3], note="It looks."
        ),
        "drawn BERT": widgets.drawn_bert("attention"),
        "drawn Transformer": widgets.drawn_transformer(),
        "token path": widgets.token_path(model, tokenizer, TEXT, "horse"),
        "decoding": decoded(),
        "blank": widgets.blank("million parameters", 109.5),
        "table": viz.table(["word", "count", "what happens to it then"], a_row),
        "wide table": viz.table([f"column {n}" for n in range(14)], [["512 × 768"] * 14] * 3),
        "token boxes": viz.token_boxes(read.tokens, read.ids),
        "playground": widgets.tokenizer_playground({"WordPiece": tokenizer}, TEXT).show(TEXT),
        "guesses": guess_bars(model, tokenizer, "The [MASK] sat on the [MASK]."),
        "passed": Passed("merge", ["on three examples"], progress),
        "progress": progress,
        "picture": picture,
    }
