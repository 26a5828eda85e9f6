"""A notebook that has run -> one web page, in which BERT still runs: a format of nbconvert.

It is in JupyterLab's menu "Save and Export Notebook As", and on the command line:
`jupyter nbconvert --to lecture_page lectures/08_pretraining.ipynb`. The page asks the network for
nothing but nbconvert's MathJax, which sets its formulas.
"""

from copy import deepcopy
from typing import Any

from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

from bertlab.viz.frames import script_tag
from course.live.tours import packed_weights

WIDGET = "application/vnd.jupyter.widget-view+json"
PROGRESS_BAR = {WIDGET, "text/plain"}


class LecturePage(HTMLExporter):
    """nbconvert's page, with the model's weights if a box needs them, and without proofs' code."""

    export_from_notebook = "Lecture page (BERT runs in it)"

    @property
    def default_config(self) -> Config:
        """nbconvert's settings and ours: of a proof only the line that it prints is shown."""
        ours = Config()
        ours.TagRemovePreprocessor.enabled = True
        ours.TagRemovePreprocessor.remove_input_tags = {"proof"}
        ours.HTMLExporter.require_js_url = ""  # only widgets need it
        ours.merge(super().default_config)
        return ours

    def from_notebook_node(  # type: ignore[override] # as in HTMLExporter
        self, nb: NotebookNode, resources: Any = None, **more: Any
    ) -> tuple[str, Any]:
        """The page of a notebook, and what nbconvert says of it."""
        page, resources = super().from_notebook_node(
            without_widgets(deepcopy(nb)), resources, **more
        )
        if 'class="bert-tour"' in page:
            head, rest = page.rsplit("</body>", 1)
            page = f"{head}{script_tag(packed_weights())}\n</body>{rest}"
        return page, resources


def without_widgets(page: NotebookNode) -> NotebookNode:
    """Remove text boxes and progress bars, which need a kernel; the words in a box's place stay."""
    page.metadata.pop("widgets", None)
    for cell in page.cells:
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if set(out.get("data", ())) != PROGRESS_BAR]
            for output in cell.outputs:
                output.get("data", {}).pop(WIDGET, None)
    return page
