"""Which calls are made: what refmlc chose without a reason is never the fault of the program."""

import refmlc
from refmlc.oracle.arguments import CallLimits, CallMaker, tried
from refmlc.oracle.arguments.maker import MOST_ITERATIONS
from refmlc.oracle.arguments.trial import SWITCHING, TOO_LONG, steps_per_second
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.strategies.arguments import arguments

HEAD = """
@T.prim_func
def f(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        C[i] = VALUE
"""
TAKEN = """
@T.prim_func
def f(x: T.Buffer((5,), "float32"), I: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        C[i] = x[I[i]]
"""
ROUNDED = """
@T.prim_func
def f(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        C[i] = T.Cast("int32", A[i])
"""


def trial_of(text, **limits):
    module = refmlc.read(text)
    maker = CallMaker(module, "f")
    limits = CallLimits(**limits)
    return module, tried(maker, module, "f", lambda call: arguments(call.recipes), Interp(), limits)


def undefined(text):
    """The codes of the calls that are undefined."""
    module, trial = trial_of(text)
    answers = [Interpreted(module, Interp()).run("f", arguments(call.recipes)) for call in trial.calls]
    return {answer.diagnostic.code.id for answer in answers if not isinstance(answer, Ended)}


def test_an_overflow_of_extremes_is_halved_until_it_is_defined():
    _, trial = trial_of(HEAD.replace("VALUE", "A[i] * 2"))
    ends = [call for call in trial.calls if call.purpose.startswith("ends")]
    assert max(abs(int(value)) for call in ends for value in call.recipes[0].values()) == 2**30 - 1
    assert any(note.startswith("ends") and "RM306" in note for note in trial.notes)
    assert undefined(HEAD.replace("VALUE", "A[i] * 2")) == set()


def test_where_nothing_overflows_the_extremes_stay():
    _, trial = trial_of(HEAD.replace("VALUE", "T.max(A[i], 0)"))
    ends = [call for call in trial.calls if call.purpose.startswith("ends")]
    assert {-(2**31), 2**31 - 1} <= {int(value) for call in ends for value in call.recipes[0].values()}
    assert trial.notes == []


QUOTIENT = """
@T.prim_func
def f(A: T.Buffer((4,), "int32"), C: T.Buffer((1,), "int32")):
    C[0] = T.truncdiv(A[0], A[0] + A[1] + A[2] + A[3])
"""
LONG = """
@T.prim_func
def f(a: T.handle, c: T.handle):
    n, m = T.int32(), T.int32()
    A = T.match_buffer(a, (n, m), "int32")
    C = T.match_buffer(c, (n, m), "int32")
    for i, k, j in T.grid(n, EXTENT, m):
        C[i, j] = T.max(A[i, j], k)
"""


def test_a_divisor_that_happens_to_be_0_below_an_overflow_is_not_the_programs():
    assert undefined(QUOTIENT) == set()


def test_sizes_are_smaller_where_loops_are_long():
    _, trial = trial_of(LONG.replace("EXTENT", "8"))
    assert trial.calls[0].sizes == {"n": 3, "m": 4}
    _, trial = trial_of(LONG.replace("EXTENT", str(MOST_ITERATIONS // 4)))
    assert trial.calls[0].sizes == {"n": 1, "m": 4}
    maker = CallMaker(refmlc.read(LONG.replace("EXTENT", str(MOST_ITERATIONS))), "f", sizes={"m": 9})
    assert maker.ordinary().sizes == {"n": 1, "m": 9}


def test_a_call_whose_loops_alone_exceed_the_budget_is_not_begun():
    _, trial = trial_of(LONG.replace("EXTENT", str(MOST_ITERATIONS // 4)), budget=0.05)
    assert any("n = 1, m = 1" in note and note.endswith(TOO_LONG) for note in trial.notes)
    assert {"n": 0, "m": 2} in [call.sizes for call in trial.calls]


BARRIER = """
@T.prim_func
def f(A: T.Buffer((64,), "int32"), C: T.Buffer((64,), "int32")):
    S = T.alloc_buffer((64,), "int32", scope="shared")
    for t in T.thread_binding(64, thread="threadIdx.x"):
        S[t] = A[t]
        T.tvm_storage_sync("shared")
        C[t] = S[63 - t]
"""


def test_threads_that_wait_for_each_other_take_more_of_the_budget():
    waiting, apart = refmlc.read(BARRIER), refmlc.read(HEAD.replace("VALUE", "0"))
    assert steps_per_second(waiting, "f") * SWITCHING == steps_per_second(apart, "f")
    _, many = trial_of(BARRIER, budget=0.2)
    _, few = trial_of(BARRIER, budget=0.02)
    assert len(many.calls) > len(few.calls)


def test_calls_end_as_they_were_tried():
    module, trial = trial_of(HEAD.replace("VALUE", "T.max(A[i], 0)"))
    assert trial.ends.keys() == set(range(len(trial.calls)))
    for number, end in trial.ends.items():
        answer = Interpreted(module, Interp()).run("f", arguments(trial.calls[number].recipes))
        assert [each.array.tolist() for each in answer.args] == [each.array.tolist() for each in end.args]


def test_an_overflow_of_plausible_values_is_the_programs():
    assert undefined(HEAD.replace("VALUE", "A[i] + 2147483600")) == {"RM306"}


def test_a_float_without_an_integer_is_not_held_against_the_program():
    assert undefined(ROUNDED) == set()
    _, trial = trial_of(ROUNDED)
    assert any("RM309" in note for note in trial.notes)
    assert max(call.recipes[0].values().max() for call in trial.calls) == 2.0**30
    assert min(call.recipes[0].values().min() for call in trial.calls) == -(2.0**31)


def test_a_random_float_without_an_integer_is_left_out_too():
    module, trial = trial_of(ROUNDED.replace("int32", "uint8"), most=40)
    answers = [Interpreted(module, Interp()).run("f", arguments(call.recipes)) for call in trial.calls]
    assert all(isinstance(answer, Ended) for answer in answers)


def test_a_divisor_of_zero_is_tried_and_left_out():
    assert undefined(HEAD.replace("VALUE", "100 // A[i]")) == set()
    assert any("RM307" in note for note in trial_of(HEAD.replace("VALUE", "100 // A[i]"))[1].notes)
    guarded = HEAD.replace("VALUE", "T.if_then_else(A[i] == 0, 0, 100 // A[i])")
    _, trial = trial_of(guarded)
    assert any(0 in call.recipes[0].values() for call in trial.calls if call.purpose.startswith("outside"))


def test_an_index_that_leaves_its_axis_at_the_end_is_a_finding():
    plus_one = TAKEN.replace("I[i]", "I[i] + T.if_then_else(I[i] == 4, 1, 0)")
    assert undefined(TAKEN) == set()
    assert undefined(plus_one) == {"RM304"}


def test_the_number_of_calls_is_a_limit_and_random_ones_fill_it():
    _, few = trial_of(ROUNDED, most=4)
    _, all_calls = trial_of(ROUNDED)
    _, many = trial_of(ROUNDED, most=40)
    assert len(few.calls) == 4
    assert len(many.calls) == 40
    assert many.calls[: len(all_calls.calls)] == all_calls.calls


def test_block_instances_are_counted():
    text = HEAD.replace(
        "        C[i] = VALUE",
        "        with T.block('C'):\n            v = T.axis.spatial(8, i)\n            T.where(i < 6)"
        "\n            C[v] = A[v]",
    )
    _, trial = trial_of(text, most=1)
    assert (trial.reach.visited, trial.reach.instances, trial.reach.unused) == (8, 6, ())
    assert str(trial.reach) == "reached 6 of 8 block instances"


def test_two_conditions_that_must_hold_together_are_solved():
    text = """
@T.prim_func
def f(a: T.int32, b: T.int32, C: T.Buffer((1,), "int32")):
    C[0] = 0
    if a == 1234:
        if b == 4321:
            C[0] = 1
"""
    _, trial = trial_of(text)
    assert trial.reach.missed == ()
    assert any(call.purpose == "branches" for call in trial.calls)
