"""The gate: comments, identifiers, lines; and that there is no other way for text to reach C."""

import ast
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from needs import by

from refmlc.diag import RefmlcError
from refmlc.diag.source import Source, Span
from refmlc.native.compile import compiler
from refmlc.native.compile.wall import CALLED, FUNCTION, KEYWORDS, STATUSES
from refmlc.native.text import Names, Text, comment, place

CODEGEN = Path(compiler.__file__).parents[1]
HARMLESS = re.compile(r"/\* [A-Za-z0-9_ .,:()\[\]-]* \*/")
anything = st.text(st.characters()) | st.lists(st.sampled_from(["*", "/", "\\", "\n", "?", "`", "a"])).map("".join)


@given(anything)
def test_a_comment_is_one_comment_whatever_it_says(text):
    assert HARMLESS.fullmatch(comment(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*\\", "/* __ */"),
        ("*/ x(); /*", "/* __ x()_ __ */"),
        ("*`/", "/* __ */"),
        ("axis 0 of `A` is in bounds", "/* axis 0 of A is in bounds */"),
        ("a\nb??/", "/* a_b___ */"),
        ("x" * 999, f"/* {'x' * 240}... */"),
    ],
)
def test_what_comments_show(text, shown):
    assert comment(text) == shown


def test_a_place_is_a_file_without_its_folders():
    source = Source('/a/b/*/ system("x"); \n', "x = 1\n")
    assert HARMLESS.fullmatch(comment(place(Span(source, 1, 0, 1, 1))))


@given(st.lists(anything | st.sampled_from([*KEYWORDS, *CALLED, *STATUSES, "f0_main", "m1_g0_x", "entry_f0_a", "_x"])))
def test_identifiers_are_words_that_nothing_else_uses(wanted):
    names = Names()
    got = [names.new(name) for name in wanted]
    assert len(set(got)) == len(got)
    for name in got:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,260}", name)
        assert name not in (*KEYWORDS, *CALLED, *STATUSES)
        assert not name.startswith(("rm_", "RM_"))
        assert not FUNCTION.search(f"int64_t {name}(void) {{\n}}\n")


def test_names_of_a_scope_are_free_again():
    names = Names(("i",))
    assert names.new("x") == "x"
    with names.scope():
        assert [names.new("x"), names.new("i")] == ["x_1", "i_1"]
    assert [names.new("x"), names.new("y")] == ["x_1", "y"]


@pytest.mark.parametrize("name", by("gcc", "clang", "tcc"))
def test_no_macro_is_an_identifier(name):
    """A variable called as a macro would be what the macro is."""
    headers = sorted(path.name for path in compiler.HEADERS.glob("*.h") if name != "tcc" or path.name != "rm_vector.h")
    text = "".join(f'#include "{header}"\n' for header in headers)
    command = [name, "-std=c11", "-dM", "-E", f"-I{compiler.HEADERS}", "-x", "c", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True)
    macros = re.findall(r"^#define (\w+)(?!\w|\()", done.stdout, re.MULTILINE)
    assert len(macros) > 300
    assert [macro for macro in macros if Names().new(macro) == macro] == []


@pytest.mark.parametrize(
    "code",
    [
        *("x; /* y */", "x; // y", "*/", 'puts("x");', "x = 'a';", "x \\", "x\ny", "x\ry", "??/"),
        *("%:define X", "a<:0:>"),
        *("<% %>", "#define X", "x = é;", "\0", "x\t", "$x", "x@y", "`x`", "\u2028"),
    ],
)
def test_code_with_what_is_made_by_the_gate_only_is_refused(code):
    text = Text()
    with pytest.raises(RefmlcError) as caught:
        text.line(code)
    assert caught.value.code.id == "RM902"
    with pytest.raises(RefmlcError), text.block(code):
        pass
    assert text.lines == []


@pytest.mark.parametrize("name", ["x.h", "rm_guard.h\n", 'rm_a.h"', "../rm_guard.h", "stdlib.h"])
def test_only_headers_of_ours_are_included(name):
    with pytest.raises(RefmlcError, match="RM902"):
        Text().include(name)


@pytest.mark.parametrize("name", ["X", "RM_USE_a b", "RM_USE_x\n", "RM_USE_a(b)", ""])
def test_only_words_of_ours_are_defined(name):
    with pytest.raises(RefmlcError, match="RM902"):
        Text().define(name)


# ------------------------------------------------------------------------------------------- no other way

SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted(CODEGEN.rglob("*.py"))}
OUTSIDE = [CODEGEN.parent / "cli" / "native.py", CODEGEN.parent / "tools" / "bench" / "peak.py"]
WRITERS = {**SOURCES, **{path: path.read_text(encoding="utf-8") for path in OUTSIDE}}


def by_hand(source):
    """Strings in a module, docstrings aside, that hold what only the gate makes; and lines that it did not make."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]
    made = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) == "Line"]
    return [text for text in texts if re.search(r"/\*|\*/|#include|#define|#pragma|\\", text)] + made


def _name(func):
    return func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")


MAY = {"text.py", "wall.py", "library.py", "array_interface.py", "cache.py", "failures.py", "compiler.py"}
"""The gate, the wall; what takes declarations from a header, and files that write no C."""


def test_no_generator_makes_comments_strings_or_lines_by_hand():
    found = {path.name: by_hand(text) for path, text in WRITERS.items() if path.name not in MAY or "fuse" in path.parts}
    assert {name: texts for name, texts in found.items() if texts} == {}
    assert len(found) > 60


@pytest.mark.parametrize(
    "planted",
    [
        'text.line(f"/* {block.name} */")',
        'x = "/* " + name',
        'lines.append("#include <stdlib.h>")',
        'yield f"#define {name}"',
        "lines.append(Line(name))",
        "lines.append(gate.Line(name))",
        'x = "a \\\\ b"',
    ],
)
def test_a_planted_one_is_found(planted):
    assert by_hand(planted) != []


def test_lines_are_joined_to_texts_where_units_are_made_only():
    """Elsewhere text could get between lines that are whole by themselves."""
    joining = {path.relative_to(CODEGEN).as_posix() for path, text in SOURCES.items() if '"\\n".join' in text}
    assert joining == {
        "emit/module.py",
        "entries.py",
        "fuse/module.py",
        "fuse/text.py",
        *(f"compile/{name}.py" for name in ("pieces", "wall")),
        "tier/array_interface.py",
    }


def test_there_is_one_way_to_the_compiler():
    """The wall stands in it."""
    callers = {path.name for path, text in SOURCES.items() if " Compilation(" in text or "(Compilation(" in text}
    assert callers == {"make.py"}
    body = SOURCES[CODEGEN / "compile" / "compiler.py"].partition("class Compilation")[2]
    assert body.index("check_unit(text)") < body.index("_running(")
