"""The benchmark of views reports its results; Chromium and JupyterLab are not needed here."""

import pytest

from benchmarks.bench_views import TARGETS, Turn, table, weights

pytestmark = pytest.mark.slow


def test_the_table_compares_medians_with_the_goals():
    taken = {contestant: [Turn(2.0, 0.1), Turn(4.0, 0.3), Turn(2.5, 0.2)] for contestant in TARGETS}
    taken["model_view", "ours"] = [Turn(3.5, 0.1)] * 3
    megabytes = dict.fromkeys(TARGETS, 1.5) | {("model_view", "stock"): 26.0}
    head, model = table(taken, megabytes).splitlines()[-2:]
    assert head.startswith("| head_view | 2.50 (2.00–4.00) | 2.50 (2.00–4.00) | met | 1.50 | 1.5 |")
    assert model.startswith("| model_view | 3.50 (3.50–3.50) | 2.50 (2.00–4.00) | not met | 1.50 |")
    assert "| 26.0 | met |" in model


def test_our_views_weigh_less_than_3_megabytes_and_less_than_a_tenth_of_bertviz():
    megabytes = weights()
    for view in ("head_view", "model_view"):
        assert megabytes[view, "ours"] < 3
        assert megabytes[view, "ours"] < megabytes[view, "stock"] / 10
