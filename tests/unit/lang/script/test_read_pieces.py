"""Large texts are parsed in pieces: the tree, the module and the problems are those of the whole text."""

import ast
from pathlib import Path

import pytest

from refmlc.diag import RefmlcError, Source, render
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script.printer import show
from refmlc.lang.script.reader import pieces, syntax
from refmlc.lang.script.reader.pieces import DeferredFunction, DeferredSuite, IrregularText, in_pieces
from refmlc.lang.script.reader.syntax import every_node, every_statement
from refmlc.lang.script.reader.text import read

PROGRAMS = sorted((Path(__file__).parents[3] / "programs").glob("*.py"))
HEAD = "@I.ir_module\nclass Module:\n"
LOOP = """\
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        n = T.int32()
        for i in range(8):
            with T.sblock("b"):
                v = T.axis.spatial(8, i)
                B[v] = A[v] + T.float32(1)
        B[0] = T.float32(2)
        for i in range(8):
            B[i] = T.float32(3)
"""
GRAPH = """\
    @R.function
    def g(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        cls = Module
        with R.dataflow():
            y = R.add(x, x)
            y = R.add(y, x)
            z = R.call_tir(cls.f, (y,), out_ty=R.Tensor((8,), "float32"))
            R.output(z)
        return z
"""
TEXTS = {
    "a module": HEAD + LOOP + "\n" + GRAPH,
    "functions alone": "\n".join(line[4:] for line in LOOP.splitlines()) + "\n\nx = 3\n",
    "strings that look like code": f'x = """\ndef f():\n    pass\n@T.prim_func\n"""\n{HEAD}{LOOP}'
    '    """\n    def h(\n    """\n',
    "a comment at each indentation": HEAD + LOOP.replace("        n =", "# a\n    # b\n        # c\n        n ="),
    "a header of two lines": HEAD + LOOP.replace("B: T", "\n        B: T"),
    "a header that a bracket ends": HEAD + LOOP.replace('"float32")):', '"float32"),\n    ):'),
    "tabs": (HEAD + LOOP).replace("    ", "\t"),
    "form feeds": HEAD + LOOP.replace("        B[0]", "\f\n        \f\n        B[0]"),
    "a continued line": HEAD + LOOP.replace("B[0] =", "B[0] = \\\n"),
    "a loop with another end": HEAD
    + LOOP
    + "        for i in range(2):\n            pass\n        else:\n            pass\n",
    "branches": HEAD
    + LOOP
    + "        if n:\n            pass\n        elif n:\n            pass\n        else:\n            pass\n",
    "several statements in a line": HEAD + LOOP + "        B[1] = 1; B[2] = 2\n",
    "decorators of two lines": HEAD + LOOP.replace("(s_tir=True)", "(\n        s_tir=True\n    )"),
    "lines of Windows": (HEAD + LOOP).replace("\n", "\r\n"),
    "letters": HEAD + LOOP.replace('"b"', '"ß é"').replace("n =", "ﬁ ="),
    "no end of the last line": (HEAD + LOOP).rstrip(),
    "other definitions": "def make(n):\n    x = 1\n    @T.prim_func\n    def f():\n        pass\n    return f\n"
    f"{HEAD}{LOOP}",
}
HOSTILE = {
    "a bracket that stays open": HEAD + LOOP + "    x = (\n" + GRAPH,
    "a string that stays open": HEAD + LOOP + '    """\n' + GRAPH,
    "a continuation at the end": HEAD + LOOP + "        B[1] = \\",
    "an indentation that fits nothing": HEAD + LOOP + "      B[1] = 1\n" + GRAPH,
    "an indentation of the first line": "  x = 1\n" + HEAD + LOOP,
    "a decorator alone": HEAD + LOOP + "    @T.prim_func\n",
    "an else alone": HEAD + LOOP + "        else:\n            pass\n",
    "tabs among spaces": HEAD + LOOP + "\tx = 1\n",
    "deep": HEAD + LOOP + "        B[1] = " + "(" * 300 + "1" + ")" * 300 + "\n",
    "two problems": HEAD + LOOP.replace("A[v]", "q[v]") + GRAPH.replace("R.add(y, x)", "R.add(y, p)"),
    "a name from outside": "import os\nx = os.environ\n" + HEAD + LOOP.replace("T.float32(1)", "x"),
    "a class with bases": HEAD.replace("Module:", "Module(Base):") + LOOP,
}


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every text be large, and the pieces small."""
    monkeypatch.setattr(syntax, "LARGE", 0)
    monkeypatch.setattr(pieces, "PIECE", 40)


def tree_of(text: str) -> ast.Module:
    return in_pieces(Source("t", text).lines, ast.parse)


def functions_of(tree: ast.Module) -> list[DeferredFunction]:
    (module,) = tree.body
    assert isinstance(module, ast.ClassDef)
    return [node for node in module.body if isinstance(node, DeferredFunction)]


def dumped(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True).replace("DeferredFunction(", "FunctionDef(")


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_tree_is_that_of_the_whole_text(text: str) -> None:
    assert dumped(tree_of(text)) == dumped(ast.parse(text))


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("path", PROGRAMS, ids=[path.name for path in PROGRAMS])
def test_the_trees_of_programs_are_those_of_the_whole_texts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert dumped(tree_of(text)) == dumped(ast.parse(text))


def test_a_text_of_one_large_module_is_cut(cut: None) -> None:
    f, g = functions_of(tree_of(TEXTS["a module"]))
    block = g.body[1]
    assert isinstance(f.body, DeferredSuite)
    assert isinstance(block, ast.With)
    assert isinstance(block.body, DeferredSuite)
    assert f.args.args[0].arg == "A"
    with pytest.raises(AttributeError, match="missing"):
        f.missing  # noqa: B018 - the access is the test


def test_a_suite_is_a_sequence_of_statements_that_are_parsed_anew(cut: None) -> None:
    suite = functions_of(tree_of(TEXTS["a module"]))[0].body
    lines = [5, 6, 10, 11]
    assert len(suite) == 4
    assert [stmt.lineno for stmt in suite] == lines
    assert [stmt.lineno for stmt in reversed(suite)] == lines[::-1]
    assert [stmt.lineno for stmt in suite[1:3]] == lines[1:3]
    assert suite[0].lineno == lines[0]
    assert suite[-1].lineno == lines[-1]
    assert suite[2].lineno == lines[2]
    assert suite[0] not in suite
    assert next(iter(suite)) is not next(iter(suite))


def test_walks_see_the_statements_of_a_suite(cut: None) -> None:
    tree, whole = tree_of(TEXTS["a module"]), ast.parse(TEXTS["a module"])
    kinds = [type(node).__name__.replace("DeferredFunction", "FunctionDef") for node in every_node(tree)]
    assert kinds == [type(node).__name__ for node in every_node(whole)]
    lines = [stmt.lineno for stmt in every_statement(tree.body)]
    assert lines == [stmt.lineno for stmt in every_statement(whole.body)]


def test_a_function_is_parsed_when_it_is_read_and_not_kept(cut: None) -> None:
    text = HEAD + "\n".join(LOOP.replace("def f", f"def f{number}") for number in range(4))
    parsed: list[str] = []

    def parse(piece: str) -> ast.Module:
        parsed.append(piece)
        return ast.parse(piece)

    functions = functions_of(in_pieces(text.splitlines(), parse))
    before = len(parsed)
    first = functions[0].load()
    assert functions[0].load() is first
    assert len(parsed) == before + 1
    functions[1].load()
    assert functions[0].load() is not first


def test_blank_lines_before_pieces_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 1)
    monkeypatch.setattr(pieces, "_BLANK", 2000)
    calls: list[str] = []

    def parse(piece: str) -> ast.Module:
        calls.append(piece)
        return ast.parse(piece)

    tree = in_pieces(["x = 1"] * 100, parse)
    assert len(tree.body) == 100
    assert sum(call.count("\n") for call in calls) <= 4000


UNCUT = (
    "if x:\n  pass\nelse:\n  pass\ny\n",
    "x\n  y\n",
    "f(\nx\n",
    HEAD
    + LOOP.replace("range(8):\n            B", "range(8):\n            \f            B[1] = x\n            B")
    + "            B[i] = 1\n" * 4,
    HEAD + LOOP + "        B[1] = 2;\n",
    HEAD + LOOP.replace("        B[0]", "    \\\n        # c\n        B[0]"),
)
"""Texts with a form feed before the first statement of a block, a `;` at the end of one, a backslash alone."""
BROKEN = (
    HEAD + LOOP.replace("range(8):\n            B[i]", "range(8): \\\n            B[i]") + "            B[i] = 1\n",
    HEAD + LOOP + "        B[1] = 2 \\\n",
)


@pytest.mark.parametrize("text", UNCUT)
def test_what_has_no_cut_is_irregular_or_does_not_parse(cut: None, text: str) -> None:
    try:
        tree = tree_of(text)
    except (IrregularText, SyntaxError):
        return
    assert dumped(tree) == dumped(ast.parse(text))


@pytest.mark.parametrize("text", BROKEN, ids=["a header that is continued", "a continuation of nothing"])
def test_a_text_that_is_no_python_has_no_cut(cut: None, text: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(text)
    with pytest.raises((IrregularText, SyntaxError)):
        tree_of(text)


def test_a_large_text_of_comments_alone_holds_no_module() -> None:
    with pytest.raises(RefmlcError) as caught:
        read("# c\n" * (pieces.LARGE // 4))
    assert caught.value.code.id == "RM103"


def outcome(text: str) -> str:
    try:
        return show(read(text, "t.py"))
    except RefmlcError as failure:
        return render(failure.diagnostic)


@pytest.mark.parametrize("text", [*TEXTS.values(), *HOSTILE.values()], ids=[*TEXTS, *HOSTILE])
def test_modules_and_problems_are_those_of_the_whole_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = outcome(text)
    monkeypatch.setattr(syntax, "LARGE", 0)
    for size in (1, 40, 400, 4000):
        monkeypatch.setattr(pieces, "PIECE", size)
        assert outcome(text) == whole


def test_a_large_text_is_read_in_pieces_by_itself() -> None:
    text = HEAD + "\n".join(LOOP.replace("def f", f"def f{number}") for number in range(600))
    assert len(text) >= pieces.LARGE
    module = read(text)
    assert len(functions_of(syntax.parsed(Source("t", text)))) == 600
    alone = read(HEAD + LOOP)
    assert len(module.functions) == 600
    assert structural_equal(module["f599"], alone["f"])
    span = module["f599"].span
    assert span is not None
    assert span.line == 2 + 599 * 11 + 2


@pytest.mark.parametrize("call", ["T.int64()", "T.int64( )", "T.int64(# a\n  )", "T.int64(\\\n)", "T\\\n.int64()"])
def test_a_declaration_is_seen_in_every_spelling(call: str) -> None:
    text = HEAD + LOOP.replace("n = T.int32()", f"n = {call}").replace(
        '"float32"), B', '"float32"), x: T.Buffer(("n",), "int8"), B'
    )
    (function,) = read(text).functions.values()
    assert isinstance(function, tir.PrimFunc)
    buffer = function.buffer_map[function.params[1]]
    assert buffer.shape[0].dtype == INT64


def test_comments_in_brackets_take_no_time() -> None:
    text = HEAD + LOOP.replace("B[0] =", "B[0] = (" + "# " * 2000 + "\n" + "# #\n" * 2000 + ") + (").replace(
        "(2)", "(2))"
    )
    with pytest.raises(RefmlcError):
        read(text, max_seconds=2)
