"""Each pass yields the edits that its table says; what they give is written out by hand."""

import pytest

import refmlc
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.lang.wellformed.module import check_module
from refmlc.oracle.reduce.passes.buffers import drop_buffers, lower_ranks, open_views, usual_layouts
from refmlc.oracle.reduce.passes.dtypes import simpler_dtypes
from refmlc.oracle.reduce.passes.expressions import simpler_expressions, smaller_extents, smaller_places
from refmlc.oracle.reduce.passes.functions import (
    constant_dimensions,
    drop_calls,
    drop_functions,
    drop_parameters,
    plain_functions,
    plain_module,
    simpler_arguments,
)
from refmlc.oracle.reduce.passes.names import short_names
from refmlc.oracle.reduce.passes.statements import drop_axes, drop_statements, plain_nests, unwrap_statements
from refmlc.oracle.reduce.subject import Subject, spans_of
from refmlc.oracle.reduce.tidy import tidied
from refmlc.strategies.arguments import Array, Number, Same

HEAD = "@T.prim_func\ndef main({}):\n"


def func(params, *lines):
    return HEAD.format(params) + "".join(f"    {line}\n" for line in lines)


def bodies(text, one, calls=()):
    """What the valid edits of a pass give: the lines of each body, without indentation of the function."""
    subject = Subject(refmlc.read(text), "main" if calls else "", calls)
    found = []
    for edit in one(subject):
        module = tidied(edit().module)
        if not check_module(module):
            found.append(body(refmlc.show(module)))
    return found


def body(text):
    lines = [line.strip() for line in text.splitlines() if not line.strip().startswith(("#", "@"))]
    return [line for line in lines if line and not line.startswith("class")]


def test_pieces_go_from_all_to_single_ones_and_later_ones_come_first():
    assert [(one.start, one.stop) for one in spans_of(4)] == [
        *[(0, 4), (2, 4), (0, 2)],
        *[(3, 4), (2, 3), (1, 2), (0, 1)],
    ]
    assert list(spans_of(0)) == []


STORES = func('A: T.Buffer((4,), "int32")', "A[0] = 1", "for i in range(2, 4):", "    A[i] = i")


def test_statements_are_dropped_all_then_halves_then_one_by_one():
    head = 'def main(A: T.Buffer((4,), "int32")):'
    found = bodies(STORES, drop_statements)
    assert found[0] == [head, "T.evaluate(0)"]
    assert [head, "A[0] = 1"] in found
    assert [head, "for i in range(2, 4):", "A[i] = i"] in found


def test_a_loop_becomes_its_body_at_its_start():
    assert ["A[0] = 1", "A[2] = 2"] in [one[1:] for one in bodies(STORES, unwrap_statements)]


BLOCK = func(
    'A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32")',
    'for k in T.parallel(4, annotations={"a": 1}):',
    '    with T.sblock("sum"):',
    "        vk = T.axis.reduce(4, k)",
    "        T.where(k < 3)",
    "        T.reads(A[vk])",
    "        T.writes(B[()])",
    '        T.sblock_attr({"b": 2})',
    "        with T.init():",
    "            B[()] = T.float32(0)",
    "        B[()] = B[()] + A[vk]",
)


def test_a_block_becomes_its_body_with_and_without_init_and_predicate():
    loop = next(line for line in body(refmlc.show(refmlc.read(BLOCK))) if line.startswith("for"))
    found = [one[1:] for one in bodies(BLOCK, unwrap_statements)]
    assert [loop, "B[()] = B[()] + A[k]"] in found
    assert [loop, "B[()] = T.float32(0.0)", "B[()] = B[()] + A[k]"] in found
    assert [loop, "if k < 3:", "B[()] = B[()] + A[k]"] in found


@pytest.mark.parametrize(
    ("gone", "instead"),
    [
        ("T.parallel", "for k in range(4):"),
        ("T.where", None),
        ("T.reads", None),
        ("T.sblock_attr", None),
        ("T.init", None),
        ("T.axis.reduce", "vk = T.axis.spatial(4, k)"),
    ],
)
def test_a_nest_becomes_plain_in_one_matter(gone, instead):
    before = body(refmlc.show(refmlc.read(BLOCK)))
    assert any(
        not any(gone in line for line in one)
        and sum(line in one for line in before) >= len(before) - 2 - (gone in ("T.init", "T.reads"))
        and (instead is None or instead in one)
        for one in bodies(BLOCK, plain_nests)
    )


def test_an_axis_becomes_what_it_is_bound_to():
    (found,) = bodies(BLOCK, drop_axes)
    assert "B[()] = B[()] + A[k]" in found
    assert not any("T.axis" in line for line in found)


def test_a_buffer_that_goes_takes_its_stores_and_leaves_constants():
    text = func('A: T.Buffer((4,), "int32")', "P = T.alloc_buffer((4,), 'int32')", "P[0] = 3", "A[1] = P[0] + 2")
    found = [one[1:] for one in bodies(text, drop_buffers)]
    assert ["A[1] = T.Add(0, 2)"] in found
    assert ["A[1] = T.Add(1, 2)"] in found


def test_a_lower_rank_takes_the_index_away_everywhere_and_the_size_of_the_argument():
    text = func('A: T.Buffer((4, 2), "int32")', "A[3, 1] = A[2, 0]")
    calls = ((Array(INT32, (4, 2)),),)
    edits = [edit() for edit in lower_ranks(Subject(refmlc.read(text), "main", calls))]
    shown = [(body(refmlc.show(one.module)), one.calls[0][0].shape) for one in edits]
    assert shown == [
        (['def main(A: T.Buffer((4,), "int32")):', "A[3] = A[2]"], (4,)),
        (['def main(A: T.Buffer((2,), "int32")):', "A[1] = A[0]"], (2,)),
    ]


def test_a_view_of_a_region_becomes_the_buffer():
    text = func(
        'A: T.Buffer((4, 2), "int32")',
        "for i in range(4):",
        '    with T.sblock("b"):',
        "        vi = T.axis.spatial(4, i)",
        '        V = T.match_buffer(A[vi, 0:2], (2,), "int32", offset_factor=1)',
        "        V[1] = 5",
    )
    (found,) = bodies(text, open_views)
    assert found[-1] == "A[vi, 1] = 5"


def test_layouts_become_the_usual_one():
    text = func("a: T.handle", 'A = T.match_buffer(a, (4,), "int32", strides=(2,), offset_factor=4)', "A[0] = 1")
    assert bodies(text, usual_layouts)[0] == ['def main(A: T.Buffer((4,), "int32")):', "A[0] = 1"]


def test_parameters_go_with_their_arguments_and_what_refers_to_them():
    text = func('A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")', "B[0] = A[0] + n")
    calls = ((Array(INT32, (4,), seed=7), Number(INT32, 3), Same(0)),)
    found = [edit() for edit in drop_parameters(Subject(refmlc.read(text), "main", calls))]
    shown = {(body(refmlc.show(tidied(one.module)))[-1], one.calls[0]) for one in found}
    assert ("B[0] = A[0] + 3", (Array(INT32, (4,), seed=7), Same(0))) in shown
    assert ("B[0] = 1 + n", (Number(INT32, 3), Array(INT32, (4,), seed=7))) in shown


def test_parameters_go_at_the_calls_of_a_graph():
    text = """
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        for i in range(4):
            C[i] = A[i]
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        z = R.call_tir(Module.f, (x, y), out_sinfo=R.Tensor((4,), "float32"))
        return z
"""
    found = [one for one in bodies(text, drop_parameters) if any("call_tir(cls.f, (x,)" in line for line in one)]
    assert found
    assert 'def f(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):' in found[0]


EXTENTS = func('A: T.Buffer((8, 16), "int32")', "for i, j in T.grid(8, 16):", "    A[i, j] = i * 16 + j")


def test_extents_shrink_everywhere_at_once():
    found = bodies(EXTENTS, smaller_extents)
    assert found[0] == ['def main(A: T.Buffer((1, 1), "int32")):', "for i, j in T.grid(1, 1):", "A[i, j] = i * 16 + j"]
    head = 'def main(A: T.Buffer((8, 2), "int32")):'
    assert [head, "for i, j in T.grid(8, 2):", "A[i, j] = i * 16 + j"] in found
    assert [head, "for i, j in T.grid(8, 2):", "A[i, j] = i * 2 + j"] in found
    multiples = ['def main(A: T.Buffer((1, 2), "int32")):', "for i, j in T.grid(1, 2):", "A[i, j] = i * 16 + j"]
    assert multiples in found


def test_extents_shrink_the_arguments_too():
    calls = ((Array(INT32, (8, 16)),),)
    found = [edit() for edit in smaller_extents(Subject(refmlc.read(EXTENTS), "main", calls))]
    shapes = {(body(refmlc.show(one.module))[0], one.calls[0][0].shape) for one in found}
    assert ('def main(A: T.Buffer((3, 3), "int32")):', (3, 3)) in shapes


def test_one_loop_shrinks_alone():
    found = bodies(EXTENTS, smaller_places)
    assert ['def main(A: T.Buffer((8, 16), "int32")):', "for i, j in T.grid(8, 3):", "A[i, j] = i * 16 + j"] in found


def test_expressions_become_their_parts_and_small_constants():
    text = func('A: T.Buffer((4,), "int32")', "A[1] = T.max(A[2] + 100, 7)")
    found = [one[-1] for one in bodies(text, simpler_expressions)]
    for wanted in ("0", "1", "A[2] + 100", "7", "T.max(A[2], 7)", "T.max(A[2] + 50, 7)", "T.max(A[0] + 100, 7)"):
        assert f"A[1] = {wanted}" in found


def test_a_use_of_a_variable_becomes_a_constant_and_its_loop_stays():
    text = func('A: T.Buffer((4,), "int32")', "for i in range(4):", "    A[i] = i")
    found = bodies(text, simpler_expressions)
    head = ['def main(A: T.Buffer((4,), "int32")):', "for i in range(4):"]
    assert [*head, "A[0] = i"] in found
    assert [*head, "A[i] = 0"] in found


def test_dtypes_become_simpler_in_the_program_and_the_arguments():
    text = func('A: T.Buffer((4,), "float16"), n: T.int64', 'A[0] = A[1] + T.Cast("float16", n)')
    calls = ((Array(refmlc.lang.dtypes.dtype("float16"), (4,)), Number(refmlc.lang.dtypes.dtype("int64"), 5)),)
    first = next(simpler_dtypes(Subject(refmlc.read(text), "main", calls)))()
    assert body(refmlc.show(first.module)) == [
        'def main(A: T.Buffer((4,), "float32"), n: T.int32):',
        'A[0] = A[1] + T.Cast("float32", n)',
    ]
    assert [one.dtype for one in first.calls[0]] == [FLOAT32, INT32]


def test_vectors_become_scalars():
    text = func('A: T.Buffer((8,), "float32")', "A[0:4] = A[4:8] + T.Broadcast(T.float32(1), 4)")
    assert bodies(text, simpler_dtypes)[-1][-1] == "A[0] = A[4] + T.float32(1.0)"


def test_symbolic_sizes_become_constants():
    text = func("a: T.handle", "n = T.int32()", 'A = T.match_buffer(a, (n,), "int32")', "A[0] = n")
    found = [edit() for edit in constant_dimensions(Subject(refmlc.read(text), "main", ((Array(INT32, (7,)),),)))]
    assert body(refmlc.show(found[0].module)) == ['def main(A: T.Buffer((7,), "int32")):', "A[0] = 7"]


def test_attributes_go_all_and_one_by_one():
    text = func('A: T.Buffer((4,), "int32")', 'T.func_attr({"a": 1, "b": 2})', "A[0] = 0")
    found = bodies(text, plain_functions)
    assert [any("func_attr" in line for line in one) for one in found].count(False) >= 1
    assert any('T.func_attr({"b": 2})' in one for one in found)


TWO = """
@I.ir_module
class Net:
    I.module_attrs({"a": 1})
    @T.prim_func(private=True)
    def f(A: T.Buffer((4,), "int32")):
        A[0] = 0
    @T.prim_func
    def g(A: T.Buffer((4,), "int32")):
        A[0] = 1
"""


def test_functions_go_but_not_all_and_not_the_one_that_is_called():
    module = refmlc.read(TWO)
    assert [list(edit().module.functions) for edit in drop_functions(Subject(module))] == [["f"], ["g"]]
    assert [list(edit().module.functions) for edit in drop_functions(Subject(module, "f"))] == [["f"]]


def test_a_module_becomes_plain():
    found = [edit().module for edit in plain_module(Subject(refmlc.read(TWO)))]
    assert ({}, "Net") in [(dict(one.attrs), one.name) for one in found]
    assert found[-1].name == "Module"


def test_names_become_short():
    text = func(
        'data: T.Buffer((4,), "int32"), count: T.int32',
        "for ax0 in range(4):",
        '    with T.sblock("compute"):',
        "        v_ax0 = T.axis.spatial(4, ax0)",
        "        data[v_ax0] = count",
    )
    assert bodies(text, short_names)[0] == [
        'def main(A: T.Buffer((4,), "int32"), n: T.int32):',
        "for i in range(4):",
        'with T.sblock("b"):',
        "vi = T.axis.spatial(4, i)",
        "A[vi] = n",
    ]


def test_calls_go_but_not_all():
    calls = ((Number(INT32, 1),), (Number(INT32, 2),))
    found = [edit().calls for edit in drop_calls(Subject(refmlc.read(STORES), "main", calls))]
    assert found == [calls[:1], calls[1:]]


def test_arguments_become_simple():
    calls = ((Array(INT32, (4,), "any", 900, -5, 5, "strided"), Number(INT32, -40), Same(0)),)
    found = {edit().calls[0] for edit in simpler_arguments(Subject(refmlc.read(STORES), "main", calls))}
    array, number, same = calls[0]
    assert (Array(INT32, (4,), "steps", 0, -5, 5, "compact"), number, same) in found
    assert (Array(INT32, (4,), "any", 900, -5, 5, "compact"), number, same) in found
    assert (Array(INT32, (4,), "any", 450, -5, 5, "strided"), number, same) in found
    assert (array, Number(INT32, 0), same) in found
    assert (array, Number(INT32, -20), same) in found
    assert (array, number, array) in found


def test_what_an_edit_leaves_behind_is_swept_up():
    text = func(
        'A: T.Buffer((4,), "int32")',
        "P = T.alloc_buffer((4,), 'int32')",
        "for i in range(4):",
        "    if i < 2:",
        "        T.evaluate(0)",
        "A[0] = T.Cast('int32', 1)",
    )
    assert body(refmlc.show(tidied(refmlc.read(text))))[1:] == ["A[0] = 1"]
    tidy = refmlc.read(STORES)
    assert tidied(tidy) is tidy


def test_arguments_stay_within_their_dtype():
    text = func('A: T.Buffer((4,), "int64"), n: T.int64', "A[0] = n")
    wide = refmlc.lang.dtypes.dtype("int64")
    calls = ((Array(wide, (4,), low=-(2**60), high=2**60), Number(wide, 2**40)),)
    (array, number) = next(simpler_dtypes(Subject(refmlc.read(text), "main", calls)))().calls[0]
    assert (array.low, array.high, number.value) == (-(2**31), 2**31 - 1, 2**31 - 1)


def test_an_argument_of_a_lower_rank_is_compact():
    text = func("a: T.handle", 'A = T.match_buffer(a, (4,), "int32", strides=(1,))', "A[0] = 1")
    calls = ((Array(INT32, (4,), form="strided"),),)
    (found,) = [edit() for edit in lower_ranks(Subject(refmlc.read(text), "main", calls))]
    assert found.calls == ((Array(INT32, ()),),)
    assert found.calls[0][0].tensor().shape == ()
