"""Blocks and outputs of the three formats, and which blocks are excerpts."""

import json

import pytest

from refmlc.diag import RefmlcError
from refmlc.tools.course import markdown, notebook, restructured_text
from refmlc.tools.course.document import Block, Document
from refmlc.tools.course.excerpt import excerpt_of
from refmlc.tools.course.run import read_document

MARKDOWN = """# A chapter

```{.python .input n=1}
x = 1
```

```python
def f(a, ..., b):
    # left out
```

 ```
 print(x)
 ```
output:

```
1
```

```
x + 1
```

![](picture.png)

```
Class: Bag
```

```bash
ls
```

```
no Python at all
```
"""

REST = """
Title
=====

.. raw:: latex

   \\inputcell

.. code:: python

    x = 1

    print(x)


.. parsed-literal::
    :class: output

    1

Text.

.. code:: python

   y = 2

.. figure:: output_1.png

.. figure:: ../img/other.png

.. raw:: html

    <style>pre { }</style><div><pre><span>a</span> &lt; b
      c
    </pre></div>
"""


def test_markdown():
    found = list(markdown.blocks(MARKDOWN))
    assert [(one.number, one.line, one.text, one.marked) for one in found] == [
        (1, 4, "x = 1\n", True),
        (2, 8, "def f(a, ..., b):\n    # left out\n", False),
        (3, 13, "print(x)\n", False),
        (4, 22, "x + 1\n", False),
    ]
    assert [[output.text for output in one.outputs] for one in found] == [
        [],
        [],
        ["1\n"],
        ["Class: Bag\n", "no Python at all\n"],
    ]


def test_rest():
    first, second = restructured_text.blocks(REST)
    assert (first.line, first.text) == (11, "x = 1\n\nprint(x)\n")
    assert [(one.kind, one.text) for one in first.outputs] == [("text", "1\n")]
    assert second.text == "y = 2\n"
    assert [(one.kind, one.text) for one in second.outputs] == [
        ("image", "output_1.png"),
        ("html", "a < b\n  c\n"),
    ]


def test_a_notebook():
    outputs = [
        {"output_type": "stream", "text": ["a\n", "b\n"]},
        {"output_type": "display_data", "data": {"image/png": "…", "text/plain": ["<Figure>"]}},
        {"output_type": "execute_result", "data": {"text/plain": ["3"]}},
    ]
    cells = [{"cell_type": "markdown", "source": "x"}, {"cell_type": "code", "source": ["1 + 2"], "outputs": outputs}]
    (block,) = notebook.blocks(json.dumps({"cells": cells}))
    assert (block.number, block.text, block.marked) == (2, "1 + 2", True)
    assert [(one.kind, one.text) for one in block.outputs] == [("text", "a\nb\n"), ("image", ""), ("text", "3")]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"cells": [{}]}', '{"cells": 3}'])
def test_what_is_no_notebook(text):
    with pytest.raises(RefmlcError) as raised:
        list(notebook.blocks(text))
    assert raised.value.code.id == "RM109"


def test_formats_by_name_and_by_content(tmp_path):
    for name, text, count in (("a.md", MARKDOWN, 4), ("a.txt", MARKDOWN, 4), ("b.txt", REST, 2), ("b.rst", REST, 2)):
        (tmp_path / name).write_text(text)
        assert len(read_document(tmp_path / name).blocks) == count
    with pytest.raises(RefmlcError):
        read_document(tmp_path / "none.md")


@pytest.mark.parametrize(
    ("code", "generation"),
    [
        ('X: T.Buffer[(1,), "float32"]', "2022"),
        ("relax.vm.build(M)", "2022"),
        ("tvm.nd.array(x)", "2023"),
        ("relax.build(M)", "2023"),
        ("from tvm.script import tirx as T", "0.27"),
    ],
)
def test_the_generation(code, generation):
    assert Document("d", (Block(1, 1, code),)).generation == generation


MODULE = Block(
    1,
    1,
    """@tvm.script.ir_module
class M:
    @T.prim_func
    def f(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x
""",
)
ALONE = """@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.call_tir(f, (x,), R.Tensor((2,), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("text", "before", "reason", "read"),
    [
        ("x = 1", (), None, ""),
        ("def f(a, ..., b):\n    # no", (), "not complete Python", ""),
        ("with a:\n    ...\n    b()", (), "`...`", ""),
        ('R.call_dps_packed("f", (x, y), R.Tensor((1, n), "float32"))', (), "the body", "read as TVMScript"),
        ("with R.dataflow():\n    y = R.add(x, x)\n    R.output(y)", (), "the body", "read as TVMScript"),
        (ALONE, (MODULE,), "a function of a module", "read as TVMScript"),
        (ALONE, (), None, ""),
        (ALONE.replace("f, (x", '"f", (x'), (MODULE,), None, ""),
    ],
)
def test_excerpts(text, before, reason, read):
    found = excerpt_of(Block(2, 10, text), before)
    if reason is None:
        assert found is None
    else:
        assert found.reason.startswith(reason)
        assert found.read == read


def test_a_marked_block_is_a_program():
    assert excerpt_of(Block(1, 1, "not Python at all", marked=True), ()) is None


def test_comments_of_html_in_code_are_comments():
    text = "```\n<!-- todo -->\nx = 1\n```\n\n```\n<!-- For CI, do not run this part -->\ny = 2\n```\n\n```\n<b>\n```\n"
    first, second = markdown.blocks(text)
    assert first.text == "# <!-- todo -->\nx = 1\n"
    assert excerpt_of(first, ()) is None
    excerpt = excerpt_of(second, (first,))
    assert excerpt is not None
    assert excerpt.reason == "the document says: For CI, do not run this part"
    assert [one.text for one in second.outputs] == ["<b>\n"]
