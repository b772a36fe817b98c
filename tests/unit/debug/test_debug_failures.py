"""A failure stops the program in its statement, with the frame alive; then it may be let go on, or gone back from."""

import numpy as np
import pytest

import refmlc
from refmlc.debug import Moment, Program, Reason, Session
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"
BODY = {
    "RM304": "    for i in range(4):\n        B[i] = A[i + 1]\n",
    "RM305": "    C = T.alloc_buffer((4,))\n    for i in range(4):\n        B[i] = C[i] + A[i]\n",
    "RM401": "    for i in range(4):\n        assert i < 3, 'too far'\n        B[i] = A[i]\n",
    "RM307": "    for i in range(4):\n        B[i] = T.Cast('float32', 6 // (3 - i))\n",
}


def session(code: str) -> Session:
    text = f'{HEAD}def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):\n{BODY[code]}'
    return Session(Program(refmlc.read(text), "f", [np.ones(4, "float32"), Tensor.empty((4,), FLOAT32)]))


@pytest.mark.parametrize(("code", "index"), [("RM304", 3), ("RM305", 0), ("RM401", 3), ("RM307", 3)])
def test_the_frame_of_a_failure_is_alive(code: str, index: int) -> None:
    with session(code) as debugged:
        debugged.start()
        stop = debugged.resume()
        assert stop.reason is Reason.FAILURE
        assert stop.failure is not None
        assert stop.failure.code.id == code
        assert debugged.evaluate("i") == index
        back = debugged.step_back()
        assert back.moment == Moment(stop.moment.event, stop.moment.step - 1)
        assert debugged.step_in().moment == stop.moment
        assert debugged.resume().reason is Reason.FAILURE
        end = debugged.resume()
        assert end.reason is Reason.ENDED
        assert end.failure is not None
        assert end.failure.code.id == code


def test_failures_that_are_not_caught_end_the_program() -> None:
    with session("RM304") as debugged:
        debugged.failures = frozenset({"trap"})
        debugged.start()
        assert debugged.resume().reason is Reason.ENDED
        debugged.failures = frozenset({"RM304"})
        debugged.restart()
        assert debugged.resume().reason is Reason.FAILURE


def test_a_failure_is_found_backwards() -> None:
    with session("RM304") as debugged:
        debugged.start()
        debugged.resume()
        debugged.resume()
        assert debugged.reverse_resume().reason is Reason.FAILURE
        assert debugged.evaluate("i") == 3


def test_a_repair_lets_it_go_on() -> None:
    with session("RM401") as debugged:
        debugged.start()
        debugged.resume()
        debugged.set("i", "2")
        debugged.set("B[3]", "1")
        assert debugged.resume().reason is Reason.ENDED
        assert debugged.stop is not None
        assert debugged.stop.failure is None
