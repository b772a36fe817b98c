"""The wall: what generators write passes, nothing else does, and what does not pass is not compiled."""

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from seven import SEVEN, left_in

from refmlc.diag import RefmlcError
from refmlc.native.compile import build, make, wall
from refmlc.native.compile.compiler import Compilation, find_compiler
from refmlc.native.compile.wall import check_unit
from refmlc.native.options import ISAS

NONE = ISAS["none"]
GOLDEN = sorted((Path(__file__).parents[3] / "golden" / "native").glob("*.c"))
GEMM = next(path.read_text(encoding="utf-8") for path in GOLDEN if path.name == "gemm.c")
STATEMENTS = (
    *('system("id");', "system(0);", "system (0);", "abort();", "(system)(0);", "(*system)(0);", "A(1);", "A[0](1);"),
    *("(*A)(1);", "(A)(1);", "(A + 1)(2);", "(0 ? A : A)(1);", "{0}(1);", "run->fuel(1);", "C.x(1);", "goto *A;"),
    *("extern int64_t system(void);", "int64_t f9_x(void);", "asm(1);", "__asm__(1);"),
    *("static int64_t x;", "sizeof(A);"),
    *("typedef int64_t x;", "struct x;", "union x;", "while (1);", "do A;", "switch (1) {}", "register int64_t x;"),
    *("int64_t (*p)(void);", "void (*p)(void) = A;", "((void (*)(void))A)(1);", "*(int64_t *)8 = 1;", "x = y;"),
    *("int64_t x __attribute__((cleanup(f0_gemm)));", "__attribute__((constructor)) x;"),
    *("__builtin_trap();", "exit(1);"),
    *("rm_evil(1);", "rm_run_evil(1);", "RM_EVIL(1);", "dlopen(A);", "A = 0b11;", "A = 0x41414141;", "A = 1ull;"),
    *("leave2: ;", "fma;system;", "int64_t system_ = system;", "&abort;", "errno;", "stdin;", "environ;", "_start;"),
)
LINES = (
    *("#include <stdlib.h>", '#include "stdlib.h"', '#include "../x.h"', '#include "rm_guard.h" x'),
    "#define RM_DONE 1",
    *("#define RM_USE_float32 1", "#undef RM_DONE", "#pragma GCC optimize 3", "# 1 2", "#line 3", "#error x", "#if 1"),
    *("  #include <stdlib.h>", "%:include <stdlib.h>", "??=include <stdlib.h>", "#", '_Pragma("x")'),
    *("/* a", "a */", "/*a*/", "/* a\n b */", "// a", "/* a \\\n*/", "/* ? */", "/* ; */", '/* " */'),
    *("/* a *//", "/**/"),
    *("\\", "A\\\nB", "??/", "'a'", '"a"', "\0", "\r", "\t", "\x1b", "é", "\u2028", "$", "@", "`", "<:", "%>", "\x7f"),
)
OUTSIDE = (
    *("int64_t f1_x;", "extern int x;", "int64_t main(void) {\n}", "int f1_x(void) {\n}", "int64_t system(void) {\n}"),
    *("RM_DEFINE_CAST(int8, system)", "RM_DEFINE_CAST(int8, int8) x", "RM_FN void", "RM_SELDOM", "__attribute__((x))"),
    *("int64_t f1_x(void) { return system(0); }", "int64_t f1_x(int64_t (*p)(void)) {\n}", "}", "{", "f0_gemm(1)"),
)


def refused(text):
    with pytest.raises(RefmlcError) as caught:
        check_unit(text)
    assert caught.value.code.id == "RM902"
    assert not re.search(r"[^\n -~]", str(caught.value))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_what_generators_write_passes(path):
    check_unit(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("planted", STATEMENTS)
def test_a_planted_statement_is_refused(planted):
    for before in ("  return status;", "  int64_t status", "    for (int64_t j"):
        assert before in GEMM
        refused(GEMM.replace(before, f"  {planted}\n{before}", 1))


@pytest.mark.parametrize("planted", LINES)
def test_a_planted_line_is_refused(planted):
    lines = GEMM.split("\n")
    for at in range(len(lines)):
        refused("\n".join([*lines[:at], planted, *lines[at:]]))


@pytest.mark.parametrize("planted", OUTSIDE)
def test_a_planted_declaration_is_refused(planted):
    refused(GEMM + planted)
    refused(GEMM.replace("int64_t f0_gemm", f"{planted}\nint64_t f0_gemm", 1))


def test_the_attacks_that_were_found_are_refused():
    refused(GEMM.replace("/* block C */", '/* block */ { extern int system(const char *); system("id"); } /* */'))
    refused(GEMM.replace("/* block C */", "/* lv*\\\n/ f9_x(); // */"))


@given(st.text(st.sampled_from("/*\\\n?\"'#%:<>(){};a "), min_size=1, max_size=6), st.integers(0, len(GEMM)))
def test_a_comment_never_hides_or_shows_code(piece, at):
    """What passes has no comment but those of one line, so that a compiler sees the same comments."""
    text = GEMM[:at] + piece + GEMM[at:]
    try:
        check_unit(text)
    except RefmlcError:
        return
    assert not re.search(r"\\|\?\?|//|'", text)
    assert all(
        re.fullmatch(r"/\* [A-Za-z0-9_ .,:()\[\]-]* \*/", one) for one in re.findall(r"/\*.*?\*/", text, re.DOTALL)
    )
    assert text.count('"') == GEMM.count('"')


def test_what_is_refused_is_not_compiled(cache, script, tmp_path):
    script(f'touch "{tmp_path}/ran"')
    for kept in (cache, None):
        with pytest.raises(RefmlcError, match="RM902"):
            build(SEVEN + "int x;\n", NONE, cache=kept)
    with pytest.raises(RefmlcError, match="RM902"):
        Compilation(find_compiler(), SEVEN + "int x;\n", NONE, tmp_path)
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "unit.c").exists()
    assert left_in(cache.folder) == []


def test_libraries_that_another_wall_let_through_have_other_names(compiler, monkeypatch):
    before = make.key_of(SEVEN, compiler, NONE, b"")
    monkeypatch.setattr(wall, "CALLED", (*wall.CALLED, "system"))
    wall.rules.cache_clear()
    make._surroundings.cache_clear()
    try:
        assert make.key_of(SEVEN, compiler, NONE, b"") != before
    finally:
        monkeypatch.undo()
        wall.rules.cache_clear()
        make._surroundings.cache_clear()
    assert make.key_of(SEVEN, compiler, NONE, b"") == before
