"""Tables and token boxes."""

from bertlab.viz.text import table, token_boxes
from tests.bertlab.refusals import rejected


def test_a_table_reads_the_same_as_html_and_as_text():
    shown = table(["word", "count"], [["cost", 2], ["camel", 1_000]], caption="Words")
    assert repr(shown).splitlines() == ["Words", "word   count", "cost   2", "camel  1,000"]
    html = shown._repr_html_()
    assert '<th scope="col" style="text-align:left">word</th>' in html
    assert '<th scope="col" style="text-align:right">count</th>' in html
    assert '<td style="text-align:right;white-space:nowrap">1,000</td>' in html
    assert ">15&nbsp;% of a word" in table(["15 % of a word"], [["15 % of a word and more"]]).html


def test_a_row_of_the_wrong_length_and_a_token_without_its_id_are_named():
    rejected(r"must have 2 cells.*row 1 has 1", table, ["a", "b"], [[1, 2], [3]])
    rejected("one for each of the 2 tokens; got 1", token_boxes, ["a", "b"], [1])


def test_token_boxes_show_ids_below_and_what_a_student_types_is_never_markup():
    shown = token_boxes(["st", "##me"], [11, 12])
    assert "##me<br>" in shown.html
    assert ">12</small>" in shown.html
    assert repr(shown) == "st | ##me"
    assert "<script>" not in table(["<script>"], [["<script>"]], caption="<script>").html
    assert "<script>" not in token_boxes(["<script>"]).html
