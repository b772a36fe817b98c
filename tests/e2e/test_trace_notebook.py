"""A trace in a notebook that Jupyter itself executes. Needs `nbclient` and `ipykernel`."""

from html import unescape

import pytest
from needs import imported

nbformat, nbclient = imported("jupyter", "nbformat"), imported("jupyter", "nbclient")

CELL = '''
import numpy as np, refmlc
from refmlc.debug import Program
from refmlc.debug.trace import record
text = """
from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def halves(A: T.Buffer((3,), "float32")):
    for i in range(3):
        A[i] = A[i] / T.float32(2)
"""
record(Program(refmlc.read(text), "halves", [np.array([1, 2, 3], np.float32)]))
'''


@pytest.mark.filterwarnings("ignore")  # of Jupyter's own parts
def test_the_last_line_of_a_cell_is_shown_as_the_page():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    (shown,) = [one for one in notebook.cells[0].outputs if one.output_type == "execute_result"]
    assert shown.data["text/plain"] == "<trace of halves: 11 events>"
    frame = shown.data["text/html"]
    assert frame.startswith('<iframe sandbox="allow-scripts"')
    assert frame.count("<") == 2  # the frame's two tags: what is in it is escaped
    assert "Trace of <code>halves</code>" in unescape(frame)
