"""The text of tiled nests: the same each time, readable, no name in its way; and the reasons why there is none."""

from dataclasses import replace

import nest_kinds as kinds
import pytest
from nest_kit import Making, buffer, const, form_of, op, options, pair, var

from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import tir
from refmlc.native.nest import Affine
from refmlc.native.tile import emit_nest

MATMUL = """\
{
  {
    rm_float32x4 C_0_0 = (rm_float32x4){0};
    rm_float32x4 C_0_1 = (rm_float32x4){0};
    rm_float32x4 C_1_0 = (rm_float32x4){0};
    rm_float32x4 C_1_1 = (rm_float32x4){0};
    for (int64_t k = 0; k < 4; ++k) {
      const rm_float32x4 B_0 = RM_LOAD(float32x4, B + (8 * k));
      const rm_float32x4 B_1 = RM_LOAD(float32x4, B + (8 * k + 4));
      C_0_0 = C_0_0 + RM_TIMES_CELL(float32x4, B_0, A + k);
      C_0_1 = C_0_1 + RM_TIMES_CELL(float32x4, B_1, A + k);
      C_1_0 = C_1_0 + RM_TIMES_CELL(float32x4, B_0, A + (k + 4));
      C_1_1 = C_1_1 + RM_TIMES_CELL(float32x4, B_1, A + (k + 4));
    }
    RM_STORE(float32x4, C, C_0_0);
    RM_STORE(float32x4, C + 4, C_0_1);
    RM_STORE(float32x4, C + 8, C_1_0);
    RM_STORE(float32x4, C + 12, C_1_1);
  }
}"""


def reason(nest, isa="avx2"):
    found = emit_nest(nest, options(isa), lambda b: b.name)
    assert isinstance(found, str), found
    return found


def test_equal_nests_have_equal_text():
    for make in (lambda: kinds.matmul(50, 70, 30), lambda: kinds.normalised(9, 50), lambda: kinds.greatest(40, 50)):
        first, second = (form_of(make()[0], "avx512") for _ in range(2))
        assert first == second


def test_a_matmul_in_sse2_as_people_read_it():
    assert "\n".join(form_of(kinds.matmul(2, 8, 4)[0], "sse2").lines) == MATMUL


@pytest.mark.parametrize(
    ("nest", "isa", "words"),
    [
        (kinds.matmul(512, 512, 512), "avx512", ("tiles of 6 of i x 4 vectors of 16 of j", "`B` packed 512 x 64")),
        (kinds.matmul(512, 512, 512), "avx2", ("tiles of 6 of i x 2 vectors of 8 of j", "`B` packed 512 x 16")),
        (kinds.matmul(512, 512, 512, "float16"), "avx512", ("tiles of 5 of i x 2 vectors of 16 of j",)),
        (kinds.matmul(1, 128, 784, transposed=True), "avx512", ("`B` transposed in registers",)),
        (kinds.matmul(99, 99, 99, transposed=True), "avx2", ("`B` packed 99 x 16, transposed in registers",)),
        (kinds.conv2d(64, 64, 56, 56, 3), "avx512", ("tiles of 6 of f x 4 vectors of 16 of y_x",)),
        (kinds.row_reduction(64, 64), "avx512", ("tiles of 1 vectors of 16 of i", "`A` transposed in registers")),
        (kinds.chain(4096), "none", ("tiles of 2 of i",)),
        (kinds.transpose(64, 64), "avx2", ("`A` transposed in registers",)),
    ],
)
def test_the_plan_says_what_is_done(nest, isa, words):
    said = form_of(nest[0], isa).plan
    assert [word for word in words if word not in said] == []


def test_loops_side_by_side_in_memory_are_one():
    """Batches of a shared matrix are rows of one matmul; rows and columns of an image are one line."""
    assert "b_i" in "\n".join(form_of(kinds.batched(4, 6, 32, 8, shared=True)[0], "avx2").lines)
    assert "y_x < 192" in "\n".join(form_of(kinds.depthwise(4, 6, 32, 1)[0], "avx2").lines)


@pytest.mark.needs("compiler")
def test_names_of_c_and_of_the_cells_are_kept_clear_of():
    made, i, r = Making(), var("double"), var("k")
    a, y = buffer("k"), buffer("panels")
    made.start(y, {i: 1}, const("float32", 0))
    made.store(y, {i: 1}, op("add", made.load(y, {i: 1}), made.load(a, {i: 30, r: 1})))
    assert pair(made.nest([(i, 40)], [(r, 30)]), "avx2").form.plan


def test_every_element_in_order_has_no_tiles():
    made, r, a, y = Making(), var("k"), buffer("A"), buffer("Y")
    made.store(y, {}, op("add", made.load(y, {}), made.load(a, {r: 1})))
    assert reason(made.nest([], [(r, 30)])) == "there is one result only: its reduction is in order"


def test_dtypes_without_vectors():
    nest, _ = kinds.chain(64, "int4")
    assert reason(nest) == "there are no vectors of int4"


def test_a_condition_on_two_loops_at_once_stays_where_it_guards_a_load():
    made, (i, j), a, y = Making(), (var("i"), var("j")), buffer("A"), buffer("Y")
    load = made.load(a, {i: 8, j: 1}, guarded=True)
    made.store(y, {i: 8, j: 1}, tir.IfThenElseExpr(op("lt", j, i), load, const("float32", 0)))
    assert reason(made.nest([(i, 8), (j, 8)])) == "an element is read under a condition that is not on one loop"


def test_a_guarded_load_in_a_reduction():
    made, (i, r), a, y = Making(), (var("i"), var("k")), buffer("A"), buffer("Y")
    load = tir.IfThenElseExpr(
        op("lt", r, const("int32", 3)), made.load(a, {i: 3, r: 1}, guarded=True), const("float32", 0)
    )
    made.store(y, {i: 1}, op("add", made.load(y, {i: 1}), load))
    assert reason(made.nest([(i, 64)], [(r, 8)])) == "an element is read under a condition in a reduction"


def test_what_has_no_form_is_said():
    made, i, y = Making(), var("i"), buffer("Y")
    made.store(y, {i: 1}, tir.Call("tirx.something", (), dtype("float32")))
    assert reason(made.nest([(i, 64)])) == "`Call` has no form in a tile"
    made, i, y = Making(), var("i"), buffer("Y")
    made.store(y, {i: 1}, op("no_such_operator", const("float32", 1)))
    assert reason(made.nest([(i, 64)])) == "`no_such_operator` of float32 has no form in a tile"


def cut(conditions):
    """A nest in one part more than there are conditions."""
    made, i, a, y = Making(), var("i"), buffer("A"), buffer("Y")
    value = made.load(a, {}, guarded=True)
    for at in range(1, conditions + 1):
        load = made.load(a, {}, at, guarded=True)
        value = tir.IfThenElseExpr(op("lt", i, const("int32", 3 * at)), load, value)
    made.store(y, {i: 1}, value)
    return made.nest([(i, 200)])


def test_too_many_boxes():
    assert "".join(form_of(cut(31), "avx2").lines).count("A[31]") == 31  # all parts below 93
    assert reason(cut(32)) == "its conditions cut the domain into too many parts"


def test_a_buffer_stored_to_in_two_places():
    made, i, y = Making(), var("i"), buffer("Y")
    made.store(y, {i: 2}, const("float32", 0))
    made.stores.append(replace(made.stores[0], offset=Affine({i: 2}, 1)))
    assert reason(made.nest([(i, 64)])) == "a buffer is stored to in two places"
