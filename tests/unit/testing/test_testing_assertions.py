"""The assertions: what holds, what does not, and what is told; arguments are given."""

import numpy as np
import pytest

from refmlc.diag import Exhausted, Internal, Malformed, Trap, Undefined, Unsupported
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.implementations.implementation import Limits
from refmlc.prove import compared as prove
from refmlc.run.memory.tensor import Tensor
from refmlc.testing import Inequivalent, NotDefined, assert_defined, assert_equivalent

HEAD = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "DTYPE"), B: T.Buffer((4,), "DTYPE")):
"""


def program(body, dtype="float32"):
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"{HEAD.replace('DTYPE', dtype)}{lines}\n"


COPY = program("for i in range(4):\n    B[i] = A[i]")
REVERSED = program("for i in range(4):\n    B[3 - i] = A[i]")
BACKWARDS = program("for i in range(4):\n    B[3 - i] = A[3 - i]")
BEYOND = program("for i in range(4):\n    B[i] = A[i + 1]")
HALF = program("for i in range(2):\n    B[i] = A[i]")
ASSERTS = program('assert A[0] > T.float32(0), "positive"\nfor i in range(4):\n    B[i] = A[i]')


def call(*values, dtype="float32"):
    return [np.array(values, dtype), np.zeros(4, dtype)]


ONE = [call(1, 2, 3, 4)]


@pytest.mark.parametrize("after", [COPY, BACKWARDS])
def test_the_same_meaning_holds(after):
    assert_equivalent(COPY, after, inputs=ONE)


def test_programs_may_be_modules_functions_and_texts():
    module = read(COPY)
    assert_equivalent(module, module.functions["main"], inputs=ONE)
    assert_equivalent(COPY, read(BACKWARDS), inputs=ONE, func="main")


def test_the_first_element_that_differs_is_told_and_the_arguments():
    with pytest.raises(Inequivalent) as caught:
        assert_equivalent(COPY, REVERSED, inputs=ONE)
    assert isinstance(caught.value, AssertionError)
    assert caught.value.code.id == "RM705"
    text = str(caught.value)
    assert text.startswith("error[RM705]: the program after gives another `B`: [0] is 4.0, expected 1.0")
    assert "  = note: `A` is float32[4] [1., 2., 3., 4.]" in text


def test_the_first_of_the_given_calls_that_fails_is_told():
    palindrome, other = call(1, 2, 2, 1), call(5, 0, 0, 7)
    assert_equivalent(COPY, REVERSED, inputs=[palindrome])
    with pytest.raises(Inequivalent, match=r"\[5., 0., 0., 7.\]"):
        assert_equivalent(COPY, REVERSED, inputs=[palindrome, other])


def test_a_program_may_become_more_defined():
    with pytest.raises(Undefined, match=r"RM304.*") as caught:
        assert_equivalent(BEYOND, COPY, inputs=ONE)
    assert "nothing was compared" in caught.value.diagnostic.notes[-1]
    # Defined where the first is positive, and there the same.
    assert_equivalent(ASSERTS, COPY, inputs=[call(-1, 0, 0, 0), call(1, 0, 0, 0)])


def test_a_program_must_not_become_less_defined():
    with pytest.raises(Inequivalent, match="the program before is defined, the program after is not: RM304"):
        assert_equivalent(COPY, BEYOND, inputs=ONE)
    with pytest.raises(Inequivalent, match="the program after is not: RM4"):
        assert_equivalent(COPY, ASSERTS, inputs=[call(-1, 0, 0, 0)])


def test_what_before_leaves_unwritten_after_may_write():
    unwritten = Tensor.empty((4,), FLOAT32)
    assert_equivalent(HALF, COPY, inputs=[[np.arange(4, dtype="float32"), unwritten]])
    with pytest.raises(Inequivalent):
        assert_equivalent(COPY, HALF, inputs=[[np.arange(4, dtype="float32"), unwritten]])


def test_sums_in_another_order_are_permitted_and_others_are_not():
    before = program("B[0] = T.float32(0)\nfor i in range(4):\n    with T.sblock('s'):\n"
                     "        k = T.axis.reduce(4, i)\n        B[0] = B[0] + A[k]", "float32")  # fmt: skip
    after = before.replace("A[k]", "A[3 - k]")
    wrong = before.replace("A[k]", "A[3 - k] * T.float32(1.001)")
    given = [call(1e8, 1, -1e8, 1)]
    assert_equivalent(before, after, inputs=given)
    with pytest.raises(Inequivalent, match="bound"):
        assert_equivalent(before, wrong, inputs=ONE)


def test_arguments_are_not_changed_and_each_program_has_its_own():
    given = call(1, 2, 3, 4)
    assert_equivalent(COPY, BACKWARDS, inputs=[given])
    assert given[1].tolist() == [0, 0, 0, 0]


@pytest.mark.needs("compiler")
def test_an_implementation_that_runs_the_program_after_is_judged_too():
    assert_equivalent(COPY, BACKWARDS, inputs=ONE, implementations=["interp", "native"])


def test_what_cannot_be_told_is_no_agreement():
    with pytest.raises(Exhausted):
        assert_equivalent(COPY, COPY, inputs=ONE, limits=Limits(steps=2))
    other = program("for i in range(4):\n    B[i] = T.call_extern('float32', 'f', A[i])")
    with pytest.raises((Trap, Unsupported)):
        assert_equivalent(other, COPY, inputs=ONE)


def test_functions_that_are_not_there():
    with pytest.raises(Malformed, match="no function `other`"):
        assert_equivalent(COPY, COPY, func="other", inputs=ONE)


def test_parameters_that_do_not_fit_are_less_defined():
    with pytest.raises(Inequivalent, match="RM111"):
        assert_equivalent(COPY, COPY.replace("(4,)", "(5,)"), inputs=ONE)


def test_defined_programs():
    assert_defined(COPY, inputs=ONE)
    with pytest.raises(NotDefined, match=r"error\[RM304\]") as caught:
        assert_defined(BEYOND, inputs=ONE)
    assert isinstance(caught.value, AssertionError)


@pytest.mark.parametrize("extent", ["4 + T.truncmod(n - 5, 3)", "4 + T.truncdiv(n - 9, 4)", "8 // (n + 1) + 1"])
def test_extents_that_are_divisions(extent):
    text = f"""
@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, ({extent},), "float32")
    for i in range({extent}):
        B[i] = T.float32(1)
"""
    assert_defined(text)


def test_the_sanitizer_is_on():
    race = program("for i in T.parallel(4):\n    B[0] = A[i]")
    with pytest.raises(NotDefined, match="RM321"):
        assert_defined(race, inputs=ONE)
    assert_defined(race, inputs=ONE, kinds=[])


def test_a_program_that_always_traps_was_not_tried():
    assert_defined(ASSERTS, inputs=[call(-1, 0, 0, 0), call(1, 0, 0, 0)])
    with pytest.raises(Trap) as caught:
        assert_defined(ASSERTS, inputs=[call(-1, 0, 0, 0)])
    assert caught.value.diagnostic.notes[-1].startswith("no result")


def test_the_environment_says_how_many(monkeypatch):
    monkeypatch.setenv("REFMLC_CALLS", "many")
    with pytest.raises(Malformed, match="REFMLC_CALLS is `many`"):
        assert_defined(COPY, inputs=ONE)


GATHER = """
@T.prim_func(s_tir=True)
def main(n: T.int32, A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = VALUE
"""
HALVED = GATHER.replace("VALUE", "A[i] * T.float32(2)")
LIMITED = GATHER.replace("VALUE", "T.if_then_else(n >= 5, A[i] * T.float32(3), A[i] * T.float32(2))")
"""The two differ where n is 5 or more."""


UNGUARDED = """
@T.prim_func
def main(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
    n = T.int32()
    for i in range((n + 3) // 4):
        for j in range(4):
            B[i * 4 + j] = A[i * 4 + j]
"""


def test_assumed_contracts_bound_the_calls_and_the_small_counterexample():
    with pytest.raises(Inequivalent):
        assert_equivalent(HALVED, LIMITED)
    assert_equivalent(HALVED, LIMITED, assume="n < 5")
    assert_equivalent(HALVED, LIMITED, assume=["n < 5", "n >= 0"])
    with pytest.raises(Inequivalent) as caught:
        assert_equivalent(HALVED, LIMITED, assume="4 <= n < 9")
    (note,) = [note for note in caught.value.diagnostic.notes if note.startswith("`n` is")]
    assert 5 <= int(note.removeprefix("`n` is ")) < 9


def test_a_given_call_that_violates_a_contract_is_the_callers_fault():
    inputs = [[7, *call(1, 2, 3, 4)]]
    with pytest.raises(Malformed, match="violate `n < 5`") as caught:
        assert_equivalent(HALVED, LIMITED, inputs=inputs, assume="n < 5")
    assert caught.value.code.id == "RM115"
    with pytest.raises(Malformed, match="no function has"):
        assert_equivalent(HALVED, LIMITED, assume="m < 5")


def test_a_program_is_defined_within_a_contract():
    with pytest.raises(NotDefined):
        assert_defined(UNGUARDED)
    assert_defined(UNGUARDED, assume="n % 4 == 0")


# -------------------------------------------------------------------------------------------- proofs


def known(caplog, *programs, **options):
    """The words that an assertion logs."""
    caplog.clear()
    caplog.set_level("INFO", "refmlc.proofs")
    assert_equivalent(*programs, prove=True, **options)
    return [(record.word, record.reason) for record in caplog.records]


def test_an_equivalence_is_proved_beside_its_calls(caplog):
    assert known(caplog, COPY, BACKWARDS, inputs=ONE) == [("proved", "")]
    assert "`main`: proved; tensors of the arguments do not overlap" in caplog.text
    caplog.clear()
    assert_equivalent(COPY, BACKWARDS, inputs=ONE)
    assert caplog.records == []


def test_an_equivalence_that_is_not_proved_holds_by_its_calls(caplog):
    guarded = program(
        "for i in range(4):\n    B[i] = T.if_then_else(A[i] > A[0], A[i], A[i] * T.float32(1) - T.float32(0))"
    )
    ((word, reason),) = known(caplog, COPY, guarded, inputs=ONE)
    assert word == "tested"
    assert reason == "the terms differ, the first in `B[0]`"


def test_a_difference_stays_a_difference():
    with pytest.raises(Inequivalent):
        assert_equivalent(COPY, REVERSED, inputs=ONE, prove=True)


def test_a_call_that_contradicts_a_proof_is_a_bug_of_refmlc(monkeypatch):
    def wrong(before, _after, func, fixed):
        return prove(before, before, func, fixed)

    monkeypatch.setattr("refmlc.oracle.refine.proved.decided", wrong)
    with pytest.raises(Internal, match="RM903"):
        assert_equivalent(COPY, REVERSED, inputs=ONE, prove=True)
