"""Training curves: the plot, its text, and when a notebook draws."""

import importlib
import math

import IPython
import nbformat
import pytest
import torch
from nbclient import NotebookClient

from course.widgets.training_curves import live_curves, smooth, training_curves

module = importlib.import_module("course.widgets.training_curves")  # its function has the same name


def train(step, loss, words=0.25, pairs=0.75):
    shares = {"mlm_accuracy": words, "nsp_accuracy": pairs}
    return {"step": step, "kind": "train", "mlm_loss": loss, **shares}


def held_out(step, loss, words=0.2, pairs=0.7):
    return {**train(step, loss, words, pairs), "kind": "held-out"}


ROWS = [held_out(0, 9.0), train(1, 8.0), train(2, 6.0), held_out(2, 6.5), train(3, 5.5)]


def drawn(ax):
    """The points of every non-empty line, except horizontal ones."""
    lines = [(line.get_xdata(), line.get_ydata()) for line in ax.lines]
    return [(list(map(float, x)), list(map(float, y))) for x, y in lines if len(x)]


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_smoothed_value_is_the_mean_of_its_neighbours_except_gaps():
    values = torch.arange(36.0) ** 2  # three neighbours on each side
    means = smooth(values)
    assert means[20] == sum(n**2 for n in range(17, 24)) / 7
    assert means[0] == (0 + 1 + 4 + 9) / 4
    assert means[-1] == sum(n**2 for n in range(32, 36)) / 4
    for n, neighbours in ((11, 0), (24, 2), (120, 10), (600, 10), (1200, 20)):
        step = (torch.arange(n) >= n // 2).double()
        assert ((smooth(step) > 0) & (smooth(step) < 1)).sum() == 2 * neighbours
    values = torch.ones(200)
    values[50], values[120] = math.nan, math.inf
    means = smooth(values)
    assert means.isnan().nonzero().flatten().tolist() == [50, 120]
    assert (means[~means.isnan()] == 1).all()


def test_one_run_shows_each_step_its_mean_and_held_out_text():
    picture = training_curves(ROWS)
    left, right = picture.figure.axes
    steps, loss = [1, 2, 3], [8.0, 6.0, 5.5]
    assert drawn(left) == [(steps, loss), (steps, loss), ([0, 2], [9.0, 6.5])]
    assert drawn(right) == [
        (steps, [25.0] * 3),
        ([0, 2], [20.0] * 2),
        (steps, [75.0] * 3),
        ([0, 2], [70.0] * 2),
    ]
    assert (left.get_xlabel(), left.get_ylabel()) == ("step", "loss of masked words (nats)")
    assert (right.get_xlabel(), right.get_ylabel()) == ("step", "guessed right (%)")
    assert labels(left) == ["training", "held-out text"]
    assert labels(right) == ["masked words", "next sentences"]
    assert right.get_ylim() == (0, 100)


def test_the_start_and_the_best_loss_are_drawn_if_known():
    left, _ = training_curves(ROWS, vocab_size=1000, best_loss=2.5, steps=50).figure.axes
    across = [line.get_ydata()[0] for line in left.lines if list(line.get_xdata()) == [0, 1]]
    assert across == [math.log(1000), 2.5]
    assert labels(left)[-2:] == ["guessing, ln 1,000 = 6.91", "best possible, 2.50"]
    assert left.get_xlim() == (0, 50)


def test_several_runs_differ_in_colour_and_marker():
    picture = training_curves({"mini": ROWS, "$iny": ROWS[:3]})
    left, right = picture.figure.axes
    assert labels(left) == ["mini", r"\$iny", "held-out text"]
    with_points = [line for line in left.lines if len(line.get_xdata())]
    assert len({line.get_color() for line in with_points}) == 2
    dots = [line for line in with_points if line.get_marker() not in ("", "None")]
    assert len({line.get_marker() for line in dots}) == 2
    assert len(drawn(left)) == 4
    assert len(drawn(right)) == 8
    assert picture.alt.index("mini: ") < picture.alt.index("$iny: ")


def test_the_text_has_means_of_lines_and_values_of_dots():
    assert training_curves(ROWS, title="Tiny").alt == (
        "Tiny, loss and accuracy. Training text: 8.00 nats at step 1, 5.50 at step 3. At the end "
        "25.0% of masked words right. At the end 75.0% of next sentences right. Held-out text: "
        "9.00 nats at step 0, 6.50 at step 2. At the end 20.0% of masked words right. At the end "
        "70.0% of next sentences right."
    )
    rows = [row(step, float(step)) for step in range(24) for row in (train, held_out)]
    alt = training_curves(rows).alt
    assert "Training text: 1.00 nats at step 0, 22.00 at step 23." in alt
    assert "Held-out text: 0.00 nats at step 0, 23.00 at step 23." in alt


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_run_of_few_steps_is_drawn_without_warning():
    for rows in (ROWS[:1], ROWS[1:2], [{"step": 1, "kind": "train", "loss": 2.0}]):
        assert training_curves(rows, vocab_size=1000).png


@pytest.fixture
def screen(monkeypatch):
    """A notebook that stores its displays, with a clock that the test sets."""

    class Screen:
        now, shown, cost = 100.0, [], 0.0

        def display(self, picture, display_id):
            assert display_id is True
            self.update(picture)
            return self

        def update(self, picture):
            self.shown.append(picture.alt)
            self.now += self.cost

    screen = Screen()
    screen.shown = []
    monkeypatch.setattr(module, "in_notebook", lambda: True)
    monkeypatch.setattr(module, "monotonic", lambda: screen.now)
    monkeypatch.setattr("IPython.display.display", screen.display)
    return screen


def feed(screen, live, rows, seconds):
    """How many pictures have been shown after each row."""
    counts = []
    for row in rows:
        live.update(row)
        counts.append(len(screen.shown))
        screen.now += seconds
    return counts


def test_a_notebook_draws_every_two_seconds_and_at_the_last_step(screen):
    rows = [train(step, 9.0 - step) for step in range(1, 7)]
    live = live_curves(6)
    assert feed(screen, live, [*rows, held_out(6, 3.5)], 0.8) == [1, 1, 1, 2, 2, 3, 4]
    assert "3.00 at step 6" in screen.shown[-1]
    assert "3.50 at step 6" in screen.shown[-1]
    assert live.picture().alt == screen.shown[-1]


def test_slow_pictures_are_drawn_less_often(screen):
    screen.cost = 1.0  # one per 20 seconds, if they may take a twentieth of the time
    rows = [train(step, 9.0) for step in range(1, 9)]
    assert feed(screen, live_curves(99), rows, 6.0) == [1, 1, 1, 1, 2, 2, 2, 2]


def test_outside_a_notebook_rows_are_stored_and_nothing_is_shown(monkeypatch):
    def refuse(*shown, **options):
        raise AssertionError(f"shown outside a notebook: {shown}")

    monkeypatch.setattr("IPython.display.display", refuse)
    assert IPython.get_ipython() is None
    live = live_curves(2)
    for row in ROWS:
        live.update(row)
    assert live.rows == ROWS
    assert live.picture().alt == training_curves(ROWS).alt


@pytest.mark.notebooks
def test_a_real_notebook_ends_with_one_picture_and_the_last_words():
    cell = f"""
from course.widgets.training_curves import live_curves

live = live_curves(3, vocab_size=1000)
for row in {ROWS}:
    live.update(row)
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    assert "image/png" in output.data
    assert "5.50 at step 3" in output.data["text/html"]
