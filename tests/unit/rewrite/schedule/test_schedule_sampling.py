"""Steps that draw: factors, candidates, places; what was drawn is in the trace, and the trace can be taken again."""

from math import prod

import pytest

from refmlc import RefmlcError, read
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule import Schedule

TEXT = """
@T.prim_func
def main(A: T.Buffer((96, 64), "float32"), B: T.Buffer((64, 48), "float32"), C: T.Buffer((96, 48), "float32")):
    D = T.alloc_buffer((96, 64), "float32")
    for i, j in T.grid(96, 64):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j, k in T.grid(96, 48, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + D[vi, vk] * B[vk, vj]
"""


@pytest.fixture
def module():
    return read(TEXT)


@pytest.fixture
def small():
    """The same on matrices that are executed quickly."""
    return read(TEXT.replace("96", "6").replace("64", "4").replace("48", "8"))


def drawn(schedule, handles):
    return [handle.value for handle in handles]


@pytest.mark.parametrize(("n", "most"), [(1, 1), (2, 16), (3, 4), (4, 1), (2, -1)])
def test_perfect_tiles_are_factors_of_the_extent(module, n, most):
    schedule = Schedule(module, seed=7)
    i, _, _ = schedule.get_loops("C")
    seen = set()
    for _ in range(200):
        factors = tuple(drawn(schedule, schedule.sample_perfect_tile(i, n, most if n > 1 else -1)))
        assert len(factors) == n
        assert prod(factors) == 96
        assert n == 1 or most == -1 or factors[-1] <= most
        seen.add(factors)
    if (n, most) == (2, 16):
        assert {last for _, last in seen} == {1, 2, 3, 4, 6, 8, 12, 16}
    if (n, most) == (2, -1):
        assert len(seen) == 12  # the divisors of 96


def test_partitioned_tiles_have_a_multiple_inside(module):
    schedule = Schedule(module, seed=7)
    i, _, _ = schedule.get_loops("C")
    for at in range(4):
        for _ in range(50):
            factors = drawn(schedule, schedule.sample_partitioned_tile(i, 4, at, 12))
            assert prod(factors) == 96
            assert prod(factors[at:]) % 12 == 0


def test_candidates_are_drawn_as_their_probabilities_say(module):
    schedule = Schedule(module, seed=3)
    values = [schedule.sample_categorical([16, 64, 512], [0.5, 0.5, 0.0]).value for _ in range(400)]
    assert set(values) == {16, 64}
    assert 140 < values.count(16) < 260


def test_the_same_seed_draws_the_same(module):
    def draws(seed):
        schedule = Schedule(module, seed=seed)
        i, _, _ = schedule.get_loops("C")
        return [drawn(schedule, schedule.sample_perfect_tile(i, 3)) for _ in range(20)]

    assert draws(5) == draws(5)
    assert draws(5) != draws(6)


def tiled(module, seed):
    schedule = Schedule(module, seed=seed, validate=seed == 0)
    block = schedule.get_block("C")
    i, j, k = schedule.get_loops(block)
    j_0, j_1 = schedule.split(j, schedule.sample_perfect_tile(j, n=2))
    schedule.reorder(i, j_0, k, j_1)
    schedule.decompose_reduction(block, k)
    schedule.compute_at("D", schedule.sample_compute_location("D"))
    schedule.annotate(i, "unroll", schedule.sample_categorical([1, 2], [0.5, 0.5]))
    return schedule


@pytest.mark.parametrize("seed", range(6))
def test_a_trace_gives_the_same_program_again(small, seed):
    first = tiled(small, seed)
    again = Schedule(small)
    first.trace.apply_to_schedule(again)
    assert structural_equal(first.mod, again.mod)
    assert str(again.trace) == str(first.trace)


def test_a_trace_is_taken_with_other_decisions(small):
    trace = tiled(small, 1).trace
    at = next(number for number, step in enumerate(trace.insts) if step.name == "sample_perfect_tile")
    again = Schedule(small)
    trace.with_decisions({at: [2, 4]}).apply_to_schedule(again)
    assert again.trace.decisions[at] == [2, 4]
    extents = [again.get(loop).extent.value for loop in again.get_loops("C_update")]
    assert sorted(extents) == [2, 4, 4, 6]


def test_the_places_of_a_block_are_loops_or_none(small):
    places = set()
    for seed in range(30):
        schedule = Schedule(small, seed=seed)
        loop = schedule.sample_compute_location("D")
        places.add(loop.instead or loop.var.name)
        schedule.compute_at("D", loop)
        blocks = [node.name for node in walk(schedule.mod["main"]) if isinstance(node, tir.SBlock)]
        assert ("D" in blocks) == (loop.instead != -2)
    assert {-1, -2, "i", "j", "k"} <= places


@pytest.mark.parametrize(
    ("take", "why"),
    [
        (lambda schedule, loop: schedule.sample_perfect_tile(loop, 2, decision=[3, 16]), "is not 2 factors of 96"),
        (lambda schedule, loop: schedule.sample_perfect_tile(loop, 2, 4, decision=[12, 8]), "a last factor over 4"),
        (lambda schedule, loop: schedule.sample_perfect_tile(loop, 0), "no constant extent"),
        (lambda schedule, loop: schedule.sample_partitioned_tile(loop, 2, 1, 5), "a multiple of 5"),
        (lambda schedule, loop: schedule.sample_categorical([1], [0.5, 0.5]), "each candidate has a probability"),
        (lambda schedule, loop: schedule.sample_categorical([1], [1.0], 1), "no candidate 1 of 1"),
        (lambda schedule, loop: schedule.sample_compute_location("C", 3), "may not be computed at"),
    ],
)
def test_decisions_that_are_not_possible_are_refused(module, take, why):
    schedule = Schedule(module)
    i, _, _ = schedule.get_loops("C")
    with pytest.raises(RefmlcError, match=why) as refusal:
        take(schedule, i)
    assert refusal.value.code.id == "RM112"


BLOCKS = """
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
"""


def test_the_output_of_a_reduction_with_an_init_is_none_of_its_inputs():
    schedule = Schedule(read(BLOCKS), validate=True)
    assert [schedule.cache_read("C", index, "global").name for index in (0, 1)] == ["A_global", "B_global"]
    with pytest.raises(RefmlcError, match="reads 2 buffers"):
        schedule.cache_read("C", 2, "global")


def test_the_init_of_a_block_of_blocks_is_taken_out():
    schedule = Schedule(read(BLOCKS), validate=True)
    i, j, k = schedule.get_loops("C")
    (i, ii), (j, ji), (k, ki) = (schedule.split(loop, [None, 2]) for loop in (i, j, k))
    schedule.reorder(i, j, k, ii, ji, ki)
    outer = schedule.blockize(ii)
    init = schedule.decompose_reduction(outer, k)
    assert schedule.get(init).init is None
    assert schedule.get(outer).init is None
    assert [loop.var for loop in schedule.get_loops(outer)] == [i.var, j.var, k.var]


def test_threads_that_are_told_apart_by_quotient_and_remainder_in_sums():
    schedule = Schedule(read(BLOCKS), validate=True)
    i, j, k = schedule.get_loops("C")
    (i, ii), (j, ji) = schedule.split(i, [None, 2]), schedule.split(j, [None, 2])
    schedule.reorder(i, j, k, ii, ji)
    fused = schedule.fuse(i, j)
    schedule.bind(fused, "threadIdx.x")
    assert schedule.get(fused).thread.tag == "threadIdx.x"


def test_threads_that_share_elements_of_a_remainder_are_refused():

    schedule = Schedule(read(BLOCKS))
    i, j, k = schedule.get_loops("C")
    schedule.reorder(i, k, j)
    fused = schedule.fuse(i, k)
    with pytest.raises(RefmlcError, match="may touch the same elements of `C`"):
        schedule.bind(fused, "threadIdx.x")
