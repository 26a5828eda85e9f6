"""The parameter calculator in a browser: its script against the models themselves."""

import pytest

from bertlab.model import BertConfig, count_parameters
from course.widgets import parameter_calculator
from course.widgets.parameter_calculators import INPUTS, PRESETS

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tab, tmp_path):
    """The calculator, opened as a separate file."""
    path = parameter_calculator().save(tmp_path / "calculator.html")
    tab.page.goto(path.as_uri())
    return tab.page


def numbers_on(page):
    return {
        row.get_attribute("data-part"): int(row.locator(".number").inner_text().replace(",", ""))
        for row in page.locator("tr[data-part]").all()
    }


def expected(config):
    return {part.name: part.parameters for part in count_parameters(config).components}


def says(config):
    counted = count_parameters(config)
    return f"{counted.part('bert'):,} parameters in the encoder, {counted.total:,} with both heads"


@pytest.mark.parametrize("name", PRESETS)
def test_a_published_size_shows_the_parameters_of_the_model(page, name):
    page.select_option("#preset", name)
    config = getattr(BertConfig, name)()
    assert numbers_on(page) == expected(config)
    assert page.locator(".summary").inner_text().startswith(says(config))
    assert {key: int(page.input_value(f"#{key}")) for key in INPUTS} == {
        key: getattr(config, key) for key in INPUTS
    }


def test_custom_sizes_are_counted(page):
    sizes = {"vocab_size": 1_000, "max_length": 60, "d_model": 84}
    sizes |= {"n_layers": 5, "n_heads": 7, "d_ff": 100}
    for name, size in sizes.items():
        page.fill(f"#{name}", str(size))
    config = BertConfig(**sizes)
    assert numbers_on(page) == expected(config)
    assert page.locator(".summary").inner_text().startswith(says(config))
    assert page.input_value("#preset") == ""
    row = page.locator('[data-part="bert.layers.feed_forward.expand"]')
    assert row.locator(".formula").inner_text() == "5 × (84 × 100 + 100)"
    share = expected(config)["bert.layers.feed_forward.expand"] / count_parameters(config).total
    width = row.locator(".bar span").evaluate("bar => parseFloat(bar.style.width)")
    assert width == pytest.approx(100 * share, abs=1e-3)


def test_the_first_state_does_not_change_when_the_script_starts(page):
    assert numbers_on(page) == expected(BertConfig.base())
    assert page.input_value("#preset") == "base"
    assert page.locator(".problem").is_hidden()


def test_invalid_numbers_of_heads_are_explained_until_corrected(page):
    page.fill("#n_heads", "7")
    problem = page.locator(".problem")
    assert "768 cannot be divided by 7. Try d_model = 763 or 770" in problem.inner_text()
    assert page.locator(".summary").inner_text() == "No such BERT."
    page.fill("#d_model", "770")
    assert problem.is_hidden()
    assert numbers_on(page) == expected(BertConfig(d_model=770, n_heads=7))


@pytest.mark.parametrize("size", ["", "0", "-3", "2.5", "99999999"])
def test_an_invalid_size_is_explained(page, size):
    page.fill("#n_layers", size)
    assert page.locator(".problem").inner_text() == (
        "layers (L): please enter a whole number from 1 to 1,000,000."
    )
