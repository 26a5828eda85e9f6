"""The parameter calculator: its formula against the models themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.model import BertConfig, count_parameters
from course.widgets import parameter_calculator
from course.widgets.parameter_calculators import INPUTS, PARTS, count
from tests.course.widgets.conftest import soup


def sizes_of(config):
    return {name: getattr(config, name) for name in (*INPUTS, "n_segments")}


def rows_of(shown):
    """Component -> (formula, parameters, width of the bar in percent) as the page shows them."""
    return {
        row["data-part"]: (
            row.find("td", class_="formula").get_text(),
            int(row.find("td", class_="number").get_text().replace(",", "")),
            float(re.search(r"width:([\d.]+)%", str(row))[1]),
        )
        for row in soup(shown).find_all("tr", attrs={"data-part": True})
    }


@pytest.mark.slow
@given(
    vocab_size=st.integers(1, 200),
    max_length=st.integers(1, 50),
    d_head=st.integers(1, 5),
    n_layers=st.integers(1, 4),
    n_heads=st.integers(1, 4),
    d_ff=st.integers(1, 40),
    n_segments=st.integers(1, 3),
)
def test_the_formula_counts_any_size(d_head, n_heads, **sizes):
    config = BertConfig(d_model=d_head * n_heads, n_heads=n_heads, **sizes)
    counted = {part.name: part.parameters for part in count_parameters(config).components}
    assert count(sizes_of(config)) == counted


def test_the_first_state_is_bert_base_with_the_numbers_of_the_lecture():
    shown = parameter_calculator()
    summary = soup(shown).find(class_="summary").get_text()
    assert summary == (
        "109,482,240 parameters in the encoder, 110,106,428 with both heads; "
        "440 MB in 32-bit floats"
    )
    assert summary in shown.alt
    rows = rows_of(shown)
    assert rows["bert.embeddings.token"][:2] == ("30,522 × 768", 23_440_896)
    projections = ("12 × (3 × 768 × 768 + 3 × 768)", 21_261_312)
    assert rows["bert.layers.attention.query_key_value"][:2] == projections
    assert rows["bert.layers.attention_norm"][:2] == ("12 × 2 × 768", 18_432)
    (selected,) = soup(shown).find_all("option", selected=True)
    assert selected.get_text() == "base"


def test_every_formula_on_the_page_gives_the_number_beside_it_and_the_bar_its_share():
    rows = rows_of(parameter_calculator())
    total = count_parameters(BertConfig.base()).total
    assert len(rows) == len(PARTS)
    for formula, number, width in rows.values():
        assert eval(formula.replace("×", "*").replace(",", "")) == number
        assert width == pytest.approx(100 * number / total, abs=0.051)
    assert sum(number for _, number, _ in rows.values()) == total


def test_each_input_has_a_label():
    page = soup(parameter_calculator())
    for name in INPUTS:
        assert page.find("input", id=name).parent.name == "label"
