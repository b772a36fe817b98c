"""`Schedule`: handles through steps, the trace, steps that running refuses with the call on which they change bits."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite.schedule import Schedule, TensorIntrin
from refmlc.run.memory.tensor import Tensor
from refmlc.testing import InvalidStep, Validation
from refmlc.vm import VirtualMachine, build

TEXT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((6, 4), "float32"), B: T.Buffer((4, 5), "float32"), X: T.Buffer((6, 5), "float32")):
        P = T.sblock_alloc_buffer((4, 5), "float32")
        Q = T.sblock_alloc_buffer((6, 5), "float32")
        for i, j in T.grid(4, 5):
            with T.sblock("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = B[vi, vj] * T.float32(3)
        for i, j, k in T.grid(6, 5, 4):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Q[vi, vj] = T.float32(0)
                Q[vi, vj] = Q[vi, vj] + A[vi, vk] * P[vk, vj]
        for i, j in T.grid(6, 5):
            with T.sblock("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = T.max(Q[vi, vj], T.float32(0))
"""
QUICK = Validation(calls=4)


@pytest.fixture
def module():
    return read(TEXT, "m.py")


def result(module):
    random = np.random.default_rng(3)
    a, b = random.standard_normal((6, 4), np.float32), random.standard_normal((4, 5), np.float32)
    target = Tensor.empty((6, 5), FLOAT32)
    VirtualMachine(build(module, tier="interp"))["main"](a, b, target)
    return target.numpy().tobytes()


def expected():
    random = np.random.default_rng(3)
    a, b = random.standard_normal((6, 4), np.float32), random.standard_normal((4, 5), np.float32)
    scaled, found = b * np.float32(3), np.zeros((6, 5), np.float32)
    for k in range(4):
        found = found + a[:, k, None] * scaled[None, k, :]
    return np.maximum(found, np.float32(0)).tobytes()


def test_a_schedule_as_people_write_it_keeps_the_bits(module):
    sch = Schedule(module, validate=QUICK)
    block = sch.get_block("product")
    i, j, k = sch.get_loops(block)
    outer, inner = sch.split(i, factors=[None, 2])
    sch.reorder(outer, j, inner, k)
    sch.reverse_compute_at("relu", outer)
    sch.compute_at("scale", outer)
    init = sch.decompose_reduction(block, k)
    sch.annotate(outer, "pragma_auto_unroll_max_step", 16)
    sch.unannotate(outer, "pragma_auto_unroll_max_step")
    sch.vectorize(sch.get_loops("relu")[-1])
    assert [one.name for one in (init, block)] == ["product_init", "product_update"]
    assert [one.name for one in sch.get_child_blocks(outer)] == ["scale", "product_init", "product_update", "relu"]
    assert result(sch.mod) == expected()


def test_handles_hold_what_they_held(module):
    sch = Schedule(module)
    block = sch.get_block("product")
    i, j, k = sch.get_loops(block)
    sch.reorder(k, i)
    assert [one.var.name for one in sch.get_loops(block)] == ["k", "j", "i"]
    assert sch.get(i).extent.value == 6
    assert sch.get_block("product") is block
    fused = sch.fuse(k, j)
    assert sch.get(fused).extent.value == 20
    with pytest.raises(RefmlcError, match="no loop over the variable `k`"):
        sch.split(k, [None, 2])


def test_the_trace_says_the_steps(module):
    sch = Schedule(module)
    block = sch.get_block("product")
    loops = sch.get_loops(block)
    sch.split(loops[0], factors=[None, 3])
    sch.bind(loops[1], "threadIdx.x")
    assert str(sch.trace).splitlines() == [
        "b0 = sch.get_block('product')",
        "l1, l2, l3 = sch.get_loops(b0)",
        "l4, l5 = sch.split(l1, factors=[None, 3])",
        "sch.bind(l2, 'threadIdx.x')",
    ]
    assert [step.name for step in sch.trace] == ["get_block", "get_loops", "split", "bind"]


def test_what_fails_changes_nothing(module):
    sch = Schedule(module)
    (*_, k) = sch.get_loops("product")
    before, steps = sch.mod, len(sch.trace)
    with pytest.raises(RefmlcError) as refusal:
        sch.parallel(k)
    assert refusal.value.code.id == "RM504"
    assert sch.mod is before
    assert len(sch.trace) == steps


def planted(module, step):
    """The message of a step that legality would refuse, and running does."""
    sch = Schedule(module, validate=QUICK, check_legality=False)
    with pytest.raises(InvalidStep) as refusal:
        step(sch)
    assert refusal.value.code.id == "RM705"
    assert sch.mod is module
    with pytest.raises(RefmlcError) as legality:
        step(Schedule(module))
    assert legality.value.code.id == "RM504"
    return str(refusal.value)


def test_a_parallel_sum_is_a_race(module):
    text = planted(module, lambda sch: sch.parallel(sch.get_loops("product")[2]))
    assert "changes what `main` means" in text
    assert "race" in text
    assert "`A` is float32[6, 4]" in text


def test_a_vectorized_sum_is_a_race(module):
    assert "race" in planted(module, lambda sch: sch.vectorize(sch.get_loops("product")[2]))


def test_a_sum_bound_to_blocks_of_threads_is_a_race(module):
    assert "race" in planted(module, lambda sch: sch.bind(sch.get_loops("product")[2], "blockIdx.x"))


DOUBLE = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 4, 4), "float32"), X: T.Buffer((4,), "float32")):
    for i, k, m in T.grid(4, 4, 4):
        with T.sblock("sum"):
            vi, vk, vm = T.axis.remap("SRR", [i, k, m])
            with T.init():
                X[vi] = T.float32(0)
            X[vi] = X[vi] + A[vi, vk, vm]
"""


def test_another_order_of_terms_gives_other_bits():
    module = read(DOUBLE, "d.py")

    def swapped(sch):
        _, k, m = sch.get_loops("sum")
        sch.reorder(m, k)

    text = planted(module, swapped)
    assert "sch.reorder(" in text
    assert "`X`" in text


READ_BEFORE = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    P = T.sblock_alloc_buffer((4,), "int32")
    for i in range(4):
        with T.sblock("make"):
            vi = T.axis.spatial(4, i)
            P[vi] = A[vi] // 2
    for i in range(4):
        with T.sblock("use"):
            vi = T.axis.spatial(4, i)
            X[vi] = P[vi]
    for i in range(4):
        with T.sblock("again"):
            vi = T.axis.spatial(4, i)
            Y[vi] = P[3 - vi]
"""


def test_a_producer_moved_behind_a_reader_is_read_before():
    module = read(READ_BEFORE, "r.py")
    text = planted(module, lambda sch: sch.compute_at("make", sch.get_loops("again")[0]))
    assert "not initialised" in text or "uninitialised" in text


def test_a_consumer_moved_before_its_producer_is_done_is_read_before():
    backwards = read(READ_BEFORE, "r.py")
    text = planted(backwards, lambda sch: sch.reverse_compute_at("again", sch.get_loops("make")[0]))
    assert "changes what" in text


def test_relations(module):
    sch = Schedule(module)
    assert [one.name for one in sch.get_producers("product")] == ["scale"]
    assert [one.name for one in sch.get_consumers("product")] == ["relu"]
    assert [one.name for one in sch.get_output_blocks("root")] == ["relu"]
    assert [one.name for one in sch.get_child_blocks(sch.get_block("root"))] == ["scale", "product", "relu"]


def test_caches_scopes_and_alignment(module):
    sch = Schedule(module, validate=Validation(calls=2))
    copy = sch.cache_read("scale", 0, "local")
    back = sch.cache_write("product", 0, "global")
    sch.set_scope("scale", 0, "shared")
    sch.storage_align("scale", 0, axis=-1, factor=32, offset=8)
    assert [copy.name, back.name] == ["B_local", "Q_global"]  # as TVM calls them
    assert sch.get(sch.get_block("scale")).annotations == {"buffer_dim_align": ((0, 1, 32, 8),)}
    buffers = sch.mod["main"].body.block.alloc_buffers
    assert {one.name: one.scope for one in buffers}["P"] == "shared"
    assert result(sch.mod) == expected()


def test_an_integer_reduction_in_parts():
    text = DOUBLE.replace("float32", "int16")
    sch = Schedule(read(text, "d.py"), validate=QUICK)
    _, k, _ = sch.get_loops("sum")
    parts = sch.rfactor(k, factor_axis=1)
    assert parts.name == "sum_rf"
    assert [len(sch.get_loops(one)) for one in (parts, "sum")] == [3, 2]
    floats = Schedule(read(DOUBLE, "d.py"))
    with pytest.raises(RefmlcError, match="depends on the order of its terms"):
        floats.rfactor(floats.get_loops("sum")[1])


def test_a_copy_goes_its_own_way(module):
    sch = Schedule(module)
    other = sch.copy()
    other.parallel(other.get_loops("relu")[0])
    assert structural_equal(sch.mod, module)
    assert not structural_equal(other.mod, module)
    assert isinstance(other.get(other.get_loops("relu")[0]), tir.For)


TILED = """
@T.prim_func(s_tir=True)
def desc(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.sblock("relu"):
            vi = T.axis.spatial(2, i)
            B[vi] = T.max(A[vi], T.float32(0))
"""


def relu_of_two(change=("", "")):
    desc = read(TILED, "desc.py")["desc"]
    return TensorIntrin(desc, read(TILED.replace("in range(2)", "in T.vectorized(2)").replace(*change), "i.py")["desc"])


def test_an_intrinsic_in_a_schedule(module):
    sch = Schedule(module, validate=QUICK)
    i, j = sch.get_loops("relu")
    outer, inner = sch.split(i, factors=[None, 2])
    sch.reorder(outer, j, inner)
    block = sch.blockize(inner)
    assert [one.name for one in sch.get_child_blocks(block)] == ["relu"]
    text = TILED.replace("(2,)", "(2, 1)").replace("A[vi]", "A[vi, 0]").replace("B[vi]", "B[vi, 0]")
    column = read(text, "d.py")["desc"]
    sch.tensorize(block, TensorIntrin(column, column))
    assert str(sch.trace).splitlines()[-1] == f"sch.tensorize({block!r}, TensorIntrin(desc, impl))"
    assert result(sch.mod) == expected()


def test_an_intrinsic_that_lies_is_found_by_running():
    """The pair is its author's word: the step believes it, running does not."""
    text = TILED.replace("(2,)", "(8,)").replace("range(2)", "T.grid(4, 2)").replace("for i in", "for o, i in")
    module = read(text.replace("spatial(2, i)", "spatial(8, o * 2 + i)"), "m.py")
    sch = Schedule(module, validate=QUICK)
    sch.work_on("desc")
    _, inner = sch.get_loops("relu")
    with pytest.raises(InvalidStep, match="changes what `desc` means"):
        sch.tensorize(inner, relu_of_two(("T.float32(0)", "T.float32(1)")))
    sch.tensorize(inner, relu_of_two())
    with pytest.raises(RefmlcError, match="no intrinsic called `relu`"):
        sch.tensorize(inner, "relu")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("enter_postproc", "a search here has no postprocessors"),
        ("transform_layout", "no step here changes what is stored where"),
        ("unsafe_set_dtype", "it may change what the function means"),
        ("loop_partition", "this step is not built"),
    ],
)
def test_other_methods_of_tvm_are_refused_by_name(module, name, why):
    with pytest.raises(RefmlcError, match=f"`Schedule.{name}` is not supported: {why}") as refusal:
        getattr(Schedule(module), name)("anything", index=1)
    assert refusal.value.code.id == "RM504"


def test_what_no_schedule_has_is_not_there(module):
    assert not hasattr(Schedule(module), "nothing_of_this_name")


def test_options_of_moving(module):
    sch = Schedule(module)
    _, j, _ = sch.get_loops("product")
    with pytest.raises(RefmlcError, match="index 0 is not there"):
        sch.reverse_compute_at("relu", j, index=0)
    sch.reverse_compute_at("relu", j, preserve_unit_loops=True)
    assert str(sch.trace).endswith("preserve_unit_loops=True)")
    assert len(sch.get_loops("relu")) == 4
