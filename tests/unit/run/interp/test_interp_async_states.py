"""States that arrivals give, questions whether a phase is complete, and counts, worked out by hand (TIA-024)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.orders import explore
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def f(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([{threads}])
    S = T.alloc_shared((64,), "int32")
    bar = T.alloc_shared((2,), "uint64")
    state = T.alloc_local((2,), "uint64")
    done = T.alloc_local((2,), "uint32")
    done[0] = T.uint32(7)
"""
BAR = "T.address_of(bar[0])"
WAIT = f"T.cuda.mbarrier_wait({BAR}, 0)"
SHOWN = "B[t] = T.Cast('int32', done[0])"


def arrive(*operands, words="arrive", keywords=""):
    return f"T.ptx.mbarrier.{words}.shared.b64({', '.join(operands)}{keywords})"


def ask(state, words="try_wait", place=BAR):
    return f"T.ptx.mbarrier.{words}.shared.b64(done[0], {place}, {state})"


COUNT = "T.ptx.mbarrier.pending_count.b64(done[0], state[0])"


def init(count):
    other = "T.ptx.mbarrier.init.shared.b64(T.address_of(bar[1]), T.uint32(1))"
    begin = f"T.ptx.mbarrier.init.shared.b64({BAR}, T.uint32({count}))"
    return f"if t == 0:\n    {begin}\n    {other}\nT.cuda.cta_sync()"


def when(condition, *statements):
    return f"if {condition}:\n" + "\n".join(f"    {line}" for text in statements for line in text.split("\n"))


def run(*statements, threads=2, **options):
    lines = [line for statement in statements for line in statement.split("\n")]
    text = HEAD.format(threads=threads) + "".join(f"    {line}\n" for line in lines)
    module = read(text, "f.py")
    a, b = np.arange(64, dtype="int32"), np.full(64, -1, "int32")
    hooks = Sanitizer(module) if options.pop("watched", False) else None
    Machine(module, hooks=hooks, **options).call("f", [a, b])
    return b.tolist()


def failure(*statements, threads=2, **options):
    with pytest.raises(RefmlcError) as caught:
        run(*statements, threads=threads, **options)
    return caught.value.diagnostic


# -------------------------------------------------------------------------------------------------------- states


def test_a_wait_with_a_state_ends_with_the_phase_of_the_arrival():
    lines = (when("t == 0", arrive("state[0]", BAR), ask("state[0]"), "B[0] = S[0]"), when("t == 1", "S[0] = 9"))
    late = when("t == 1", arrive(BAR, "T.uint32(1)"))
    assert run(init(2), *lines, late, watched=True)[0] == 9
    caught = failure(init(2), *lines)
    assert caught.code.id == "RM343"
    assert any("phase 0 of `bar[0]` lacks 1 of 2 arrivals" in note for note in caught.notes)


def test_a_state_is_no_parity():
    """The state of phase 1: a wait for the parity that its number may be would pass at once, or never."""
    lines = when("t == 0", WAIT, arrive("state[0]", BAR, "T.uint32(1)"), ask("state[0]"), "B[0] = S[1]")
    other = when("t == 1", arrive(BAR, "T.uint32(2)"), WAIT, "S[1] = 5", arrive(BAR, "T.uint32(1)"))
    assert run(init(2), lines, other, watched=True)[0] == 5


@pytest.mark.parametrize("words", ["arrive", "arrive_drop", "arrive.expect_tx", "arrive_drop.expect_tx"])
def test_each_arrival_gives_a_state(words):
    number = "T.uint32(0)" if "expect" in words else "T.uint32(1)"
    lines = (arrive("state[0]", BAR, number, words=words), ask("state[0]"), SHOWN)
    assert run(init(2), *lines)[:2] == [1, 1]


def test_a_state_may_be_moved_and_used_once_more():
    lines = (arrive("state[0]", BAR), "state[1] = state[0]", ask("state[1]"), ask("state[0]", "test_wait"), SHOWN)
    assert run(init(2), *lines)[:2] == [1, 1]


def test_an_arrival_may_give_its_state_to_nobody():
    lines = (arrive("T.ptx.SINK", BAR, "T.uint32(1)"), WAIT, "B[t] = 1")
    assert run(init(2), *lines)[:2] == [1, 1]


@pytest.mark.parametrize("fast", [True, False])
def test_a_state_is_no_number(fast):
    for use in ("B[t] = T.Cast('int32', state[0])", "T.ptx.mov.b64(state[1], state[0])"):
        caught = failure(init(2), arrive("state[0]", BAR), use, fast=fast)
        assert caught.code.id == "RM504"
        assert "`state[0]` holds the state of a barrier" in caught.message


def test_what_is_written_to_a_register_takes_the_place_of_a_state():
    lines = (arrive("state[0]", BAR), "state[0] = T.uint64(3)")
    assert failure(init(2), *lines, ask("state[0]")).message == "3 is no state that an arrival has given"
    assert run(init(2), *lines, "B[t] = T.Cast('int32', state[0])")[:2] == [3, 3]


def test_a_register_that_is_cleared_holds_no_state():
    cleared = arrive("state[0]", BAR), "state[0] = T.undef()", ask("state[0]")
    assert failure(init(2), *cleared).code.id == "RM305"


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ((arrive("state[0]", BAR), ask("state[0]", place="T.address_of(bar[1])")), "a state of another barrier"),
        (
            (
                when("t == 0", arrive("state[0]", BAR, "T.uint32(2)"), arrive(BAR, "T.uint32(2)")),
                when("t == 0", ask("state[0]")),
            ),
            "phases 0 and 1 of `bar[0]` are complete before",
        ),
        ((arrive("state[0]", BAR), COUNT), "not one with noComplete"),
    ],
)
def test_a_state_of_another_phase_or_barrier_is_undefined(lines, part):
    caught = failure(init(2), *lines)
    assert caught.code.id == "RM342"
    assert part in caught.message


# ----------------------------------------------------------------------------------------- counts, without completion


def test_pending_count_tells_what_was_awaited_before_the_arrival():
    two = arrive("state[0]", BAR, "T.uint32(2)", words="arrive.noComplete")
    assert run(init(5), when("t == 0", two, COUNT, SHOWN), when("t == 1", two, COUNT, SHOWN))[:2] == [5, 3]
    drop = arrive("state[0]", BAR, "T.uint32(1)", words="arrive_drop.noComplete")
    assert run(init(3), when("t == 0", drop, COUNT, SHOWN))[0] == 3


def test_an_arrival_without_completion_leaves_the_phase_open():
    last = arrive(BAR, "T.uint32(1)", words="arrive.noComplete")
    assert run(init(2), when("t == 0", last), arrive(BAR, "T.uint32(1)", keywords=", pred=t == 1"), WAIT, "B[t] = 1")
    caught = failure(init(2), last)
    assert (caught.code.id, "completes phase 0" in caught.message) == ("RM342", True)
    more = when("t == 0", f"T.ptx.mbarrier.expect_tx.shared.b64({BAR}, T.uint32(4))", last, "B[0] = 3")
    assert run(init(1), more)[0] == 3


# ------------------------------------------------------------------------------------------------------- questions


def test_a_question_does_not_wait():
    for state in (arrive("state[0]", BAR), ""):
        question = ask("state[0]", "test_wait") if state else ask("T.uint32(0)", "test_wait.parity")
        lines = tuple(filter(None, (state, question, SHOWN)))
        assert run(init(2 + 2 * bool(state)), *lines)[:2] == [0, 0]
    assert run(init(2), arrive(BAR, "T.uint32(1)"), ask("T.uint32(0)", "test_wait.parity"), SHOWN)[:2] == [1, 1]
    assert run(init(2), ask("T.uint32(1)", "test_wait.parity"), SHOWN)[:2] == [1, 1]


def test_who_asks_in_a_loop_lets_others_run():
    loop = f"done[0] = T.uint32(0)\nwhile done[0] == T.uint32(0):\n    {ask('T.uint32(0)', 'test_wait.parity')}"
    body = (when("t == 0", loop, "B[0] = S[0]"), when("t == 1", "S[0] = 4", arrive(BAR, "T.uint32(1)")))
    assert run(init(1), *body, watched=True)[0] == 4
    loose = (text.replace("test_wait.parity", "test_wait.parity.relaxed.cta") for text in body)
    assert failure(init(1), *loose, watched=True).code.id == "RM321"


def test_a_predicate_that_is_false_asks_nothing():
    question = ask("T.uint32(0)", "test_wait.parity").replace("T.uint32(0))", "T.uint32(0), pred=t > 1)")
    assert run(init(1), question, SHOWN)[:2] == [7, 7]


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        (ask("T.uint32(0), T.uint32(5)", "test_wait.parity"), "refmlc does not define it yet"),
        (ask("T.uint32(0)", "try_wait.parity.phase_type__primary"), "refmlc does not define it yet"),
        (ask("S[0]"), "a state of it is no register of 64 bits"),
        (arrive("S[0]", BAR, "T.uint32(1)"), "a state of it is no register of 64 bits"),
        (arrive("state[0]", BAR, words="arrive.expect_tx"), "it has 2 operands"),
        (arrive("state[0]", "done[0]"), "which of its registers is the address"),
        (arrive("state[0]", BAR, "T.uint32(1)", "T.uint32(1)"), "it has 4 operands"),
        (COUNT.replace("done[0], ", ""), "operands"),
        (COUNT.replace("done[0]", "T.float32(1)"), "a register of an integer"),
        ("T.ptx.mbarrier.pending_count.layout__v0.b64(done[0], state[0])", "refmlc does not define it yet"),
        ("T.ptx.mbarrier.init.noComplete.shared.b64(T.address_of(bar[0]), T.uint32(1))", "does not define it yet"),
    ],
)
def test_other_forms_are_refused_by_name(statement, part):
    caught = failure(init(1), statement)
    assert caught.code.id == "RM502"
    assert part in caught.message


# -------------------------------------------------------------------------------------------------- orders of threads


def explored(*statements):
    """In how many ways the program may end; the search is complete."""
    lines = [line for statement in statements for line in statement.split("\n")]
    module = read(HEAD.format(threads=2) + "".join(f"    {line}\n" for line in lines), "f.py")
    arguments = [np.arange(64, dtype="int32"), np.full(64, -1, "int32")]
    tried = explore(module, "f", lambda: [each.copy() for each in arguments], Interp(), orders=200)
    assert tried.complete
    return tried.results


def test_the_order_of_arrivals_and_questions_matters():
    first = when("t == 0", arrive("state[0]", BAR, "T.uint32(1)", words="arrive.noComplete"), COUNT, SHOWN)
    assert explored(init(3), first, when("t == 1", arrive(BAR, "T.uint32(1)"))) == 2
    asked = when("t == 0", ask("T.uint32(0)", "test_wait.parity"), SHOWN)
    assert explored(init(1), asked, when("t == 1", arrive(BAR, "T.uint32(1)"))) == 2
    waited = when("t == 0", arrive("state[0]", BAR), ask("state[0]"), SHOWN)
    assert explored(init(2), waited, when("t == 1", arrive(BAR, "T.uint32(1)"))) == 1
