"""The pattern of a step: what is unusual in its block and its arguments, by hand."""

import pytest

from refmlc.diag.source import Source, Span
from refmlc.lang.script import read
from refmlc.oracle.fuzz.subjects.primitives.recorded_traces import is_like
from refmlc.oracle.fuzz.subjects.primitives.step_pattern import (
    LOOKED_AT,
    MOST,
    TRAITS,
    parsed,
    pattern_of,
    place_of,
    site_of,
)

HEAD = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 4), "int32"), R: T.Buffer((4,), "int32"), S: T.Buffer((4,), "int32")):
"""
COPY = """    for i in range(4):
        with T.sblock("R"):
            v = T.axis.spatial(4, i)
            R[v] = A[v, 0]
"""
SUM = """    for i, k in T.grid(4, 4):
        with T.sblock("R"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                R[vi] = 0
            R[vi] = R[vi] + A[vi, vk]
"""
USE = """    for i in range(4):
        with T.sblock("S"):
            v = T.axis.spatial(4, i)
            S[v] = R[v]
"""
WHERE = "v = T.axis.spatial(4, i)\n            T.where(i < 3)"


@pytest.mark.parametrize(
    ("body", "step", "pattern"),
    [
        (COPY, "reorder('R', (1, 0))", ""),
        (COPY.replace("v = T.axis.spatial(4, i)", WHERE), "blockize('R', 0)", "guarded"),
        (COPY.replace("v = T.axis.spatial(4, i)", WHERE.replace("i <", "2 <")), "blockize('R', 0)", ""),
        (COPY.replace("range(4)", "range(1, 4)"), "loop_partition('R', 0, (2, None))", "begin"),
        (COPY.replace("range(4)", "range(1, 4)"), "cache_write('R', 0, 'shared')", ""),
        (COPY, "set_scope('R', 0, 'shared')", "a scope"),
        (
            COPY.replace("    for", '    V = T.decl_buffer((16,), "int32", data=A.data)\n    for').replace(
                "A[v, 0]", "V[v]"
            ),
            "cache_read('R', 0, 'global')",
            "view",
        ),
        (COPY.replace("4, i)", "4, 3)"), "blockize('R', 0)", "constant"),
        (COPY.replace("R[v] = A[v, 0]", "R[v] = R[v] + 1"), "reindex('R', ('read', 0))", "in place, a read"),
        (COPY.replace("A[v, 0]", "T.if_then_else(v < 2, A[v, 0], 0)"), "cache_read('R', 0, 'global')", "condition"),
        (COPY.replace("A[v, 0]", "T.Select(v < 2, A[v, 0], 0)"), "cache_read('R', 0, 'global')", ""),  # both are loaded
        (COPY.replace("A[v, 0]", "A[v, v]"), "cache_read('R', 0, 'global')", "diagonal"),
        (SUM, "loop_partition('R', 1, (2, None))", "reduction"),
        (SUM.replace("i, k in T.grid(", "t, i, k in T.grid(2, "), "blockize('R', 0)", "repeated"),
        (SUM.replace("i, k in T.grid(", "t, i, k in T.grid(1, "), "blockize('R', 0)", ""),
        (SUM, "blockize('R', 0)", ""),
        (SUM.replace("R[vi] + A[vi, vk]", "T.max(R[vi], A[vi, vk])"), "pad_einsum('R', (1, 4))", "by max"),
        (SUM.replace("A[vi, vk]", "A[vi, 0]"), "pad_einsum('R', (1, 5))", "unread"),
        (SUM.replace("A[vi, vk]", "A[vi, 0]"), "blockize('R', 0)", ""),
        (SUM.replace("            with T.init():\n                R[vi] = 0\n", ""), "rfactor('R', 1, 0)", "updating"),
        (COPY + "    return 0\n", "cache_write('R', 0, 'global')", "return"),
        (COPY + "    return 0\n", "cache_read('R', 0, 'global')", ""),  # its copy stands before the block
        (SUM + USE, "reverse_compute_at('S', 'R', 0, False, -1)", ""),
        (SUM + USE.replace("4", "3"), "reverse_compute_at('S', 'R', 0, False, -1)", "domain"),
        (SUM + USE + USE.replace('"S"', '"again"'), "reverse_compute_inline('S')", "rewritten, shared"),
        (SUM + USE.replace("R[v]", "R[v * 3 // 2]"), "reverse_compute_at('S', 'R', 0, False, -1)", "fraction"),
        (SUM.replace("A[vi, vk]", "A[vk, vi]"), "rolling_buffer('R', 0)", ""),
        (SUM.replace("R[vi] = R", "R[vk * 0 + vi] = R"), "rolling_buffer('R', 0)", "turned"),
        (COPY + USE, "compute_inline('R')", "interface"),
        (COPY + USE + USE.replace('"S"', '"again"'), "compute_inline('R')", "several, interface"),
        (COPY + COPY.replace('"R"', '"again"') + USE, "cache_read('S', 0, 'global')", "parts"),
        (COPY, "transform_layout('R', 'write', 0, 'halves', 0)", "a write, padded"),
        (COPY, "transform_layout('R', 'write', 0, 'halves', None)", "a write"),
        (COPY, "reorder('nobody', (1, 0))", ""),
        (COPY, "reorder(__import__('os'))", ""),
        ("    while", "reorder('R', (1, 0))", ""),
    ],
)
def test_what_is_unusual(body, step, pattern):
    assert pattern_of(HEAD + body, step) == pattern


def test_a_cause_has_few_traits_in_the_order_of_the_table():
    body = COPY.replace("v = T.axis.spatial(4, i)", WHERE).replace("R[v] = A[v, 0]", "R[v] = R[v] + A[v, v]")
    site = site_of(read(HEAD + body), "R")
    assert {name for name, holds in TRAITS.items() if holds(site)} == {"guarded", "in place", "diagonal"}
    assert MOST == 2
    assert pattern_of(HEAD + body, "cache_read('R', 0, 'global')") == "guarded, in place"


def test_every_trait_is_looked_at():
    looked_at = {name for names in LOOKED_AT.values() for name in names}
    others = {"scalar", "allocated", "matched", "condition", "outputs", "indirect"}  # of buffers, and `symbolic`
    assert {*TRAITS} - looked_at <= others | {"symbolic"}


def test_a_step_is_read_without_being_executed():
    assert parsed("split('C', 0, (None, 3))") == ("split", ("C", 0, (None, 3)))
    assert parsed("split(open('x'))") == ("split", ())
    assert parsed("split('C'") == ("split", ("C",))


MERGED = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.sblock("one"):
            v = T.axis.spatial(3, i)
            A[v] = T.float32(1)
        with T.sblock("two"):
            v = T.axis.spatial(3, i)
            B[v] = B[v] + T.float32(1)
    for i in range(3):
        with T.sblock("three"):
            v = T.axis.spatial(3, i)
            B[v] = B[v] + T.float32(2)
"""


@pytest.mark.parametrize(
    ("first", "second", "is_one"), [("one", "one", True), ("two", "one", True), ("two", "three", False)]
)
def test_a_loop_that_is_merged_with_itself_is_all_that_matters(first, second, is_one):
    assert (pattern_of(MERGED, f"merge({first!r}, 0, {second!r}, 0)") == "itself") == is_one
    assert pattern_of(MERGED, f"merge({first!r}, 1, {second!r}, 1)") != "itself"  # there is no second loop


@pytest.mark.parametrize(
    ("step", "pattern"),
    [
        ("blockize('two', ('three', 'two'))", "order"),
        ("blockize('two', ('two', 'three'))", "in place, rewritten, a list"),
        ("blockize('two', 0)", "in place"),
        ("merge('two', 0, 'three', 0)", "in place"),
    ],
)
def test_blocks_that_are_named_in_another_order_are_all_that_matters(step, pattern):
    assert pattern_of(MERGED, step).startswith(pattern)


INDEXED = """@T.prim_func(s_tir=True)
def main(B: T.Buffer((2,), "int32"), X: T.Buffer((), "int32")):
    for i in range(4):
        with T.sblock("map"):
            T.where(i < 3)
            X[()] = B[T.min(B[1], 1)]
"""


def test_of_a_cache_read_a_load_in_an_index_comes_first():
    assert pattern_of(INDEXED, "cache_read('map', 0, 'local')") == "indirect, scalar"
    assert pattern_of(INDEXED, "reindex('map', ('read', 0))") == "scalar, guarded, a read"


PLAIN = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((3,), "float32"), R: T.Buffer((3,), "float32")):
    {outside}
    for i in range(3):
        with T.sblock("R"):
            v = T.axis.spatial(3, i)
            R[v] = A[v]
"""


@pytest.mark.parametrize(
    ("outside", "plain"),
    [("R[0] = T.float32(1)", True), ("T.evaluate(A[0])", True), ("T.evaluate(0)", False)],
)
def test_a_buffer_that_a_statement_outside_of_all_blocks_uses_is_a_trait_of_a_copy(outside, plain):
    text = PLAIN.format(outside=outside)
    assert ("plain" in pattern_of(text, "cache_read('R', 0, 'global')").split(", ")) == plain
    assert "plain" not in pattern_of(text, "split('R', 0, (2, 2))")


def test_what_a_plain_statement_breaks_is_one_cause_whatever_the_code_is():
    recorded = ("reindex", "compiler error", "", "plain, a read")
    assert is_like(recorded, ("reindex", "ill-formed", "RM203", "plain, condition, a read"))
    assert not is_like(recorded, ("reindex", "ill-formed", "RM203", "condition, a read"))
    assert not is_like(recorded, ("cache_read", "ill-formed", "RM203", "plain, a read"))


def test_a_dead_process_is_no_program_of_another_step_of_the_family():
    recorded = ("cache_read", "undefined", "RM305", "plain, in a new block")
    assert is_like(recorded, ("reindex_cache_read", "ill-formed", "RM203", "scalar, plain"))
    assert not is_like(recorded, ("reindex_cache_read", "compiler error", "", "scalar, plain, in place"))


def test_a_copy_that_leaves_its_buffer_or_its_domain_is_one_cause():
    recorded = ("reindex_cache_write", "undefined", "RM312", "guarded, in a new block")
    assert is_like(recorded, ("reindex_cache_read", "undefined", "RM304", "guarded, in a new block"))
    assert not is_like(recorded, ("reindex_cache_read", "undefined", "RM305", "guarded, in a new block"))


def test_the_side_of_a_copy_does_not_matter_where_another_trait_tells_more():
    recorded = ("reindex", "compiler error", "RM708", "scalar, a write")
    assert is_like(recorded, ("reindex", "compiler error", "RM708", "scalar, a read"))
    assert not is_like(recorded, ("reindex", "compiler error", "RM708", "a read"))


def test_a_block_that_is_the_whole_body_is_no_plain_statement():
    alone = """    with T.sblock("R"):
        v = T.axis.spatial(1, 0)
        S[v] = R[R[v]]
"""
    assert "plain" not in pattern_of(HEAD + alone, "cache_read('R', 0, 'global')")
    assert "plain" in pattern_of(f"{HEAD}{alone}    S[0] = R[0]\n", "cache_write('R', 0, 'global')")


@pytest.mark.parametrize(
    ("after", "part", "place"),
    [
        (COPY, "A[v, 0]", ""),
        (COPY.replace('"R"', '"R_copy"'), "A[v, 0]", "in a new block"),
        (COPY + "    S[0] = A[0, 1]\n", "A[0, 1]", "in no block"),
        (COPY + "    S[0] = A[0, 1]\n", "A[v, 0]", ""),
        (COPY + "    S[0] = (\n", "A[v, 0]", ""),  # it is not read
    ],
)
def test_where_the_program_after_a_step_fails(after, part, place):
    text = HEAD + after
    line = next(number for number, each in enumerate(text.splitlines(), 1) if part in each)
    column = text.splitlines()[line - 1].index(part)
    span = Span(Source("after.py", text), line, column, line, column + len(part))
    assert place_of(HEAD + COPY, text, span) == place


@pytest.mark.parametrize("step", ["reindex", "cache_read"])
@pytest.mark.parametrize("what", ["variable", "buffer"])
def test_where_a_variable_is_left_behind_tells_causes_apart(step, what):
    """What uses a buffer that nothing defines says nothing: its allocation is gone."""

    def cause(name, pattern):
        return name, "ill-formed", f"RM203 {what}", pattern

    row = cause("cache_write" if step == "cache_read" else step, "a write, in a new block")
    assert is_like(row, cause(step, "plain, a read, in a new block"))
    assert is_like(row, cause(step, "affine, a read, in no block")) == (what == "buffer")


SHIFTED = COPY.replace("range(4)", "range(1, 4)").replace("T.axis.spatial(4, i)", "T.axis.spatial((1, 4), i)")


@pytest.mark.parametrize(
    ("body", "step", "pattern"),
    [
        (SHIFTED, "reindex_cache_read('R', 0, 'shared', 'same')", "shifted"),
        (COPY, "reindex_cache_read('R', 0, 'shared', 'same')", ""),
        (SHIFTED, "blockize('R', 0)", "begin"),  # the loop says it
    ],
)
def test_an_axis_that_begins_elsewhere_is_a_trait_of_a_copy(body, step, pattern):
    assert pattern_of(HEAD + body, step) == pattern


def test_a_pattern_has_the_first_traits_and_rows_are_compared_with_all():
    bare = SUM.replace("            with T.init():\n                R[vi] = 0\n", "")
    body = "    R[0] = 1\n" + bare + COPY.replace('"R"', '"other"')
    assert pattern_of(HEAD + body, "cache_write('R', 0, 'shared')") == "plain, updating"
    assert pattern_of(HEAD + body, "cache_write('R', 0, 'shared')", len(TRAITS)) == "plain, updating, rewritten"
