"""Whole texts: modules, imports, decorators, generations, and texts that are none."""

import gc
import inspect
import sys

import pytest
from readings import shown

from refmlc.diag import RefmlcError, Source
from refmlc.lang.ir import tir
from refmlc.lang.script import read, read_file
from refmlc.lang.script.reader.evidence import generation_of
from refmlc.lang.script.reader.syntax import LIMIT, Spans, parsed
from refmlc.lang.script.spellings import (
    ATTRIBUTES,
    CONSTRUCTS,
    GENERATIONS,
    KEYWORDS,
    canonical,
    canonical_attribute,
    canonical_keyword,
    spelled,
)

F = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((4,))):\n    A[0] = 1.0\n"
CLASS = "@I.ir_module\nclass Net:\n    @T.prim_func(s_tir=True)\n    def f(A: T.Buffer((4,))):\n        A[0] = 1.0\n"


def code_of(text):
    with pytest.raises(RefmlcError) as caught:
        read(text, "t.py")
    return caught.value.code.id


# ---------------------------------------------------------------------------------------------------- modules


@pytest.mark.parametrize(
    "head",
    [
        "",
        "import tvm\nfrom tvm.script import ir as I, tirx as T\n",
        "from __future__ import annotations\nimport numpy as np\nfrom tvm.script import tir as T\nfrom tvm.script import ir as I\n",  # noqa: E501 - one text
        "import tvm.script\nfrom tvm import tir, relax\nimport tvm.script.tirx as T\n",
        "'''A text about it.'''\n# from tvm.script import ir as I\npass\n",
    ],
)
def test_heads(head):
    module = read(head + CLASS)
    assert module.name == "Net"
    assert list(module.functions) == ["f"]


@pytest.mark.parametrize(
    "decorators",
    [
        ("@tvm.script.ir_module", "@T.prim_func"),
        ("@I.ir_module", "@tvm.script.tir.prim_func"),
        ("@tvm.script.ir_module()", "@T.prim_func()"),
        ("@I.ir_module(s_tir=True)", "@tirx.prim_func(s_tir=True)"),
    ],
)
def test_decorators(decorators):
    outer, inner = decorators
    assert read(CLASS.replace("@I.ir_module", outer).replace("@T.prim_func(s_tir=True)", inner))["f"]


def test_other_names_for_namespaces():
    assert read("from tvm.script import tirx as X\n" + F.replace("T.", "X."))["f"]


def test_bare_functions_are_a_module():
    module = read(F + F.replace("def f", "def g"))
    assert list(module.functions) == ["f", "g"]
    assert module.name == "Module"
    assert module["g"].span.line == 5


def test_module_attributes():
    module = read(
        "@I.ir_module\nclass M:\n    '''doc'''\n    I.module_attrs({'a': 1, 'b': [T.int8, 'x']})\n"
        "    I.module_global_infos({'v': [1, 2], 'w': 3})\n    pass\n" + CLASS.split("class Net:\n")[1]
    )
    assert module.attrs["a"] == 1
    assert str(module.attrs["b"][0]) == "int8"
    assert module.global_infos == {"v": (1, 2), "w": (3,)}


def test_calls_between_functions():
    text = (
        "@I.ir_module\nclass M:\n    @T.prim_func(s_tir=True)\n    def f(n: T.int32) -> T.int64:\n        return T.int64(n)\n"  # noqa: E501 - one text
        "    @T.prim_func(s_tir=True)\n    def g(n: T.int32):\n        cls = M\n        T.evaluate(cls.f(n) + M.f(1))\n"
    )
    assert shown(read(text.replace("        cls = M\n", ""))["g"].body) == (
        "eval add:int64(call f:int64(n:int32), call f:int64(1:int32))"
    )


REFUSED = {
    "": "RM103",
    "x = 3": "RM103",
    "print(3)": "RM103",
    "def helper():\n    pass": "RM103",
    "class Net:\n    pass": "RM103",
    "@dataclass\nclass Net:\n    pass": "RM103",
    "@T.prim_func\nclass Net:\n    pass": "RM103",
    "@I.ir_module\nclass Net(Base):\n    pass": "RM103",
    "@I.ir_module\nclass Net(BasePyModule):\n    def f(self):\n        pass": "RM103",
    "@I.ir_module\nclass Net:\n    x: int = 3": "RM103",
    "@I.ir_module\nclass Net:\n    x = 3": "RM103",
    "@I.ir_module\nclass Net:\n    3": "RM103",
    "@I.ir_module\nclass Net:\n    I.module_attrs(3)": "RM105",
    "@I.ir_module\nclass Net:\n    I.module_attrs({1: 2})": "RM105",
    "@I.ir_module(3)\nclass Net:\n    pass": "RM105",
    "@T.macro\ndef f():\n    pass": "RM103",
    "@R.macro\ndef f():\n    pass": "RM103",
    "@foo\ndef f():\n    pass": "RM103",
    "@foo.bar\ndef f():\n    pass": "RM103",
    "@(lambda f: f)\ndef f():\n    pass": "RM103",
    "@tvm.foo\ndef f():\n    pass": "RM103",
    "@T.prim_func\n@T.prim_func\ndef f():\n    pass": "RM103",
    CLASS + CLASS: "RM103",
    CLASS + F: "RM103",
    F + F: "RM210",
    "n = TypeVar(3)": "RM105",
    "n = TypeVar(3)\n" + F.replace("(4,)", "(n,)"): "RM105",
    "n = TypeVar()\n" + F.replace("(4,)", "(n,)"): "RM105",
    "import numpy as np\n" + F.replace("(4,)", "(np.size,)"): "RM105",
    "T.x = 3": "RM103",
    "async def f():\n    pass": "RM103",
}


@pytest.mark.parametrize(("text", "code"), REFUSED.items(), ids=[text[:50].replace("\n", " ") for text in REFUSED])
def test_refused(text, code):
    assert code_of(text) == code


def test_a_function_defined_twice_names_the_first():
    with pytest.raises(RefmlcError) as caught:
        read("@I.ir_module\nclass M:\n" + "".join(f"    {line}\n" for line in (F + F).splitlines()))
    (related,) = caught.value.diagnostic.related
    assert caught.value.code.id == "RM210"
    assert related.span.line == 4


# ------------------------------------------------------------------------------------------- the syntax, guarded


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("def f(:\n", "RM101", 1),
        ("x = 'a\n", "RM101", 1),
        ("  x = 1\n", "RM101", 1),
        ("if x:\npass", "RM101", 2),
        ("ok = 1\n\0", "RM101", 2),
        ("ok = 1\nx = '\ud800'", "RM102", 2),
        ("x = " + "(" * 300, "RM602", 1),
        ("x = " + "-" * 100_000 + "1", "RM602", 1),
        ("x = " + "1+" * 100_000 + "1", "RM602", 1),
        ("".join(" " * depth + "if x:\n" for depth in range(120)), "RM602", 101),
        ("ok = 1\nx = " + "1" * 5000, "RM107", 2),
    ],
    ids=range(11),
)
def test_syntax(text, code, line):
    with pytest.raises(RefmlcError) as caught:
        read(text, "t.py")
    assert caught.value.code.id == code
    assert caught.value.diagnostic.span.line == line


def test_bytes():
    assert read(F.encode())["f"]
    assert read(b"\xef\xbb\xbf" + F.encode())["f"]
    with pytest.raises(RefmlcError, match="RM102") as caught:
        read("# é\n".encode() + b"x = \xff")
    span = caught.value.diagnostic.span
    assert (span.line, span.column) == (2, 4)


def test_size():
    for text in ("#" * (LIMIT + 1), b"#" * (LIMIT + 1), "é" * (LIMIT // 2 + 1)):
        with pytest.raises(RefmlcError, match="RM604"):
            read(text)


def test_files(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(CLASS, encoding="utf-8")
    assert read_file(path).source.name == str(path)
    with pytest.raises(RefmlcError, match="RM109"):
        read_file(tmp_path / "none.py")
    with pytest.raises(RefmlcError, match="RM109"):
        read_file(tmp_path)


def test_warnings_of_python_are_no_findings():
    assert read(F.replace("1.0", "1.0 if 1is 1 else 2").replace("1is 1", "1==1") + "'\\d'\n")["f"]


def test_places_of_a_dedented_piece():
    whole = Source("live.py", "x = 1\n    é = T.foo\n")
    tree = parsed(Source("live.py", "é = T.foo\n"))
    span = Spans(whole, first_line=2, indent=4).of(tree.body[0].value)
    assert (span.line, span.column, span.end_column) == (2, 8, 13)
    assert Spans(whole).of(tree).line == 1
    assert Spans(whole, first_line=99).of(tree.body[0]).line == 99


def test_a_depth_that_only_statements_reach():
    text = "@T.prim_func\ndef f(n: T.int32):\n"
    for depth in range(90):
        text += "    " * (depth + 1) + "if n > 0:\n"
    text += "    " * 91 + "T.evaluate(0)\n"
    node = read(text)["f"].body
    depth = 0
    while isinstance(node, tir.IfThenElse):
        node, depth = node.then_case, depth + 1
    assert depth == 90


# ------------------------------------------------------------------------------------- generations and spellings


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        ("from tvm.script import tirx as T", "0.27"),
        ("import tvm.tirx", "0.27"),
        ("from typing import TypeVar", "0.27"),
        ("T.sblock('x')", "0.27"),
        ("f(s_tir=True)", "0.27"),
        ("R.call_tir(f, out_ty=x)", "0.27"),
        ("x: T.let = 3", "0.27"),
        ("x: T.let[T.int32] = 3", "0.27"),
        ("tvm.tirx.exp(x)", "0.27"),
        ("T.block('x')\nT.sblock('y')", "0.27"),
        ("from tvm.script import tir as T", "2023"),
        ("T.block('x')", "2023"),
        ("T.let(x, 3)", "2023"),
        ("x: T.Buffer[4]", "2023"),
        ("R.call_tir(f, out_sinfo=x)", "2023"),
        ("T.evaluate(0)", None),
    ],
)
def test_evidence(text, generation):
    assert generation_of(parsed(Source("t", text)), text) == generation


def test_a_function_follows_its_own_evidence():
    text = (
        "from tvm.script import tirx as T\n@T.prim_func\ndef old(n: T.int32):\n    x = n\n    with T.block('b'):\n        T.evaluate(x)\n"  # noqa: E501 - one text
        "@T.prim_func(s_tir=True)\ndef new(n: T.int32):\n    x = n\n    T.evaluate(x)\n"
        "@T.prim_func\ndef bare(n: T.int32):\n    x = n\n    T.evaluate(x)\n"
    )
    module = read(text)
    assert isinstance(module["old"].body.seq[0], tir.Bind)
    assert isinstance(module["new"].body.seq[0], tir.AllocBuffer)
    assert isinstance(module["bare"].body.seq[0], tir.AllocBuffer)
    module = read(text.replace("tirx", "tir").replace("s_tir=True", ""))
    assert isinstance(module["bare"].body.seq[0], tir.Bind)


def test_spellings():
    assert canonical("T.block") == "T.sblock"
    assert canonical("T.alloc_buffer") == "T.alloc_buffer"
    assert canonical("tvm.script.tir") == "T"
    assert canonical("tvm.script.tir.prim_func") == canonical("tvm.script.tirx.prim_func") == "T.prim_func"
    assert canonical("R.Object") == "R.Any"
    assert canonical_keyword("out_sinfo") == "out_ty"
    assert canonical_keyword("dtype") == "dtype"
    assert canonical_attribute("tir.noalias") == "tirx.noalias"
    assert canonical_attribute("k") == "k"
    assert [spelled("T.sblock", generation) for generation in GENERATIONS] == ["T.block", "T.block", "T.sblock"]
    assert spelled("T.grid", "2022") == "T.grid"


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.name)
def test_every_spelling_leads_back(row):
    for generation in GENERATIONS:
        if row.of(generation) != "T.alloc_buffer":
            assert canonical(row.of(generation)) == row.name


def test_spellings_are_not_shared():
    for rows in (CONSTRUCTS, KEYWORDS, ATTRIBUTES):
        names = [name for row in rows for name in {row.y2022, row.y2023, row.v027, *row.also} if name]
        assert len(names) == len(set(names))


def test_too_deep_for_python_is_a_finding():
    limit = sys.getrecursionlimit()
    text = F.replace("1.0", "T.exp(" * 100 + "A[0]" + ")" * 100)
    assert read(text)["f"]
    depth = len(inspect.stack())
    sys.setrecursionlimit(depth + 200)
    try:
        with pytest.raises(RefmlcError, match="RM602"):
            read(text)
    finally:
        sys.setrecursionlimit(limit)


def test_the_collector_is_as_before():
    for switch in (gc.disable, gc.enable):
        switch()
        before = gc.isenabled()
        read(F)
        assert gc.isenabled() == before
