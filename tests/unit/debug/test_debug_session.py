"""The session: motions forwards and backwards, breakpoints, watches, edits. Expected moments are worked by hand.

`scale` has for each i of 3 one block and one store: statement 1 is the loop, 2i + 2 the block, 2i + 3 the store.
"""

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import refmlc
from refmlc.debug import FrameKind, Moment, Program, Reason, Session, call_exit
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

TEXT = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scale(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        y = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((3,), "float32"))
        z = R.call_tir(cls.scale, (y,), out_ty=R.Tensor((3,), "float32"))
        R.print(z, format="{}")
        return z
"""
LOOP, BLOCK, STORE = 10, 11, 13


def given() -> np.ndarray:
    return np.array([1, 2, 3], "float32")


@pytest.fixture
def scale() -> Iterator[Session]:
    module = refmlc.read(TEXT, "scale.py")
    with Session(Program(module, "scale", [given(), Tensor.empty((3,), FLOAT32)])) as session:
        yield session


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def main(said: list[str]) -> Iterator[Session]:
    module = refmlc.read(TEXT, "scale.py")
    with Session(Program(module, "main", [given()], output=said.append)) as session:
        yield session


def at(session: Session) -> tuple[Reason, Moment]:
    assert session.stop is not None
    return session.stop.reason, session.stop.moment


def line(session: Session) -> int:
    assert session.stop is not None
    assert session.stop.span is not None
    return session.stop.span.line


class TestForwards:
    def test_a_program_begins_at_its_first_statement(self, scale: Session) -> None:
        scale.start()
        assert at(scale) == (Reason.ENTRY, Moment(1, 1))
        assert line(scale) == LOOP

    def test_step_in_goes_from_statement_to_statement(self, scale: Session) -> None:
        scale.start()
        lines = [scale.step_in().span.line for _ in range(6)]  # type: ignore[union-attr]
        assert lines == [BLOCK, STORE] * 3
        assert scale.step_in().reason is Reason.ENDED

    def test_step_over_executes_a_loop(self, scale: Session) -> None:
        scale.start()
        assert scale.step_over().reason is Reason.ENDED
        assert np.array_equal(scale.visible()[1].tensor.numpy(), [2, 4, 6])  # type: ignore[union-attr]

    def test_step_out_leaves_what_is_around(self, scale: Session) -> None:
        scale.start()
        scale.step_in(2)
        assert [frame.kind for frame in scale.frames()] == [FrameKind.BLOCK, FrameKind.LOOP, FrameKind.PRIM_FUNC]
        assert scale.step_out(0).moment == Moment(1, 4)
        assert scale.step_out(1).reason is Reason.ENDED

    def test_next_iteration_and_next_block(self, scale: Session) -> None:
        scale.start()
        scale.step_in(2)
        assert scale.next_iteration().moment == Moment(1, 4)
        assert scale.next_iteration("i").moment == Moment(1, 6)
        scale.goto(Moment(1, 3))
        assert scale.next_block().moment == Moment(1, 4)

    def test_until_goes_to_a_later_line(self, scale: Session) -> None:
        scale.start()
        scale.step_in()
        assert scale.until().span.line == STORE  # type: ignore[union-attr]

    def test_a_binding_is_stepped_over_and_into(self, main: Session) -> None:
        assert main.start().moment == Moment(2, 0)
        assert main.step_over().moment == Moment(5, 0)
        assert main.step_in().moment == Moment(6, 1)
        assert [frame.name for frame in main.frames()] == ["scale", "main"]
        assert main.step_out(0).moment == Moment(8, 0)

    def test_what_is_left_of_a_long_call_is_executed_as_a_whole(
        self, main: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(call_exit, "LONG", 3)
        main.break_name("main.z")
        main.start()
        main.step_in(3)
        assert main.resume().hits == (1,)
        assert at(main) == (Reason.BREAKPOINT, Moment(5, 0))
        main.step_in(2)
        assert main.step_out(len(main.frames()) - 2).moment == Moment(8, 0)
        assert main.step_back_over().moment == Moment(5, 0)
        assert main.resume().reason is Reason.ENDED
        assert np.array_equal(main.result.numpy(), [4, 8, 12])  # type: ignore[attr-defined]

    def test_a_breakpoint_in_what_is_left_is_met(self, main: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(call_exit, "LONG", 3)
        main.break_line(STORE, condition="vi == 2")
        main.start()
        main.step_in(3)
        assert main.resume().moment == Moment(3, 7)
        main.set("B[0]", "7")
        main.remove(1)
        main.resume()
        assert np.array_equal(main.result.numpy(), [14, 8, 12])  # type: ignore[attr-defined]

    def test_output_is_written_once(self, main: Session, said: list[str]) -> None:
        main.start()
        main.resume()
        main.goto(Moment(2, 0))
        main.resume()
        assert said == ["[ 4.  8. 12.]"]

    def test_results_are_there_after_the_end(self, main: Session) -> None:
        main.start()
        assert main.resume().reason is Reason.ENDED
        assert np.array_equal(main.result.numpy(), [4, 8, 12])  # type: ignore[attr-defined]


class TestBackwards:
    def test_step_back_takes_a_step_back(self, scale: Session) -> None:
        scale.start()
        scale.step_in(4)
        assert scale.step_back().moment == Moment(1, 4)
        assert scale.step_back(3).moment == Moment(1, 1)
        assert scale.step_back().reason is Reason.BEGINNING

    def test_step_back_from_the_end_is_the_last_statement(self, scale: Session) -> None:
        scale.start()
        scale.resume()
        assert scale.step_back().moment == Moment(1, 7)

    def test_step_back_over_skips_what_is_deeper(self, scale: Session, main: Session) -> None:
        scale.start()
        scale.step_in(3)
        assert scale.step_back_over().moment == Moment(1, 2)
        main.start()
        main.step_over()
        assert main.step_back_over().moment == Moment(2, 0)

    def test_step_back_goes_into_the_call_before(self, main: Session) -> None:
        main.start()
        main.step_in(7)
        assert main.step_in().moment == Moment(5, 0)
        assert main.step_back().moment == Moment(3, 7)

    def test_reverse_resume_is_at_the_last_hit(self, scale: Session) -> None:
        scale.break_line(STORE, condition="vi < 2")
        scale.start()
        scale.resume()
        scale.resume()
        assert scale.resume().reason is Reason.ENDED
        assert scale.reverse_resume().moment == Moment(1, 5)
        assert scale.reverse_resume().moment == Moment(1, 3)
        assert scale.reverse_resume().reason is Reason.BEGINNING

    def test_reverse_to_the_last_write(self, scale: Session) -> None:
        scale.start()
        scale.resume()
        assert scale.reverse_to_write("B[1]").moment == Moment(1, 5)
        assert scale.evaluate("vi") == 1
        assert scale.reverse_to_write("B[2]").reason is Reason.BEGINNING

    def test_a_variable_of_relax_is_written_in_the_call_that_makes_it(self, main: Session) -> None:
        main.start()
        main.step_over(2)
        assert main.reverse_to_write("y[1]").moment == Moment(3, 5)
        assert main.frames()[-1].detail == "binding y"
        main.resume()
        assert main.reverse_to_write("result[2]").moment == Moment(6, 7)
        main.resume()
        assert main.reverse_to_write("x[0]").reason is Reason.BEGINNING

    def test_restart_frame_is_where_it_was_entered(self, scale: Session) -> None:
        scale.start()
        scale.step_in(4)
        assert scale.restart_frame(0).moment == Moment(1, 4)
        assert scale.restart_frame(0).moment == Moment(1, 1)


class TestBreakpoints:
    def test_a_line_without_statements_moves(self, scale: Session) -> None:
        assert scale.break_line(12).line == STORE
        assert not scale.break_line(99).verified

    def test_names_are_functions_blocks_bindings(self, main: Session) -> None:
        kinds = [main.break_name(name).kind.value for name in ("scale", "B", "z", "main.z")]
        assert kinds == ["function", "block", "binding", "binding"]
        assert not main.break_name("nothing").verified
        main.start()
        main.remove(1)
        main.remove(2)
        assert main.resume().hits == (3, 4)

    def test_ignore_counts_hits(self, scale: Session) -> None:
        scale.break_name("B", ignore=2)
        scale.start()
        assert scale.resume().moment == Moment(1, 6)

    def test_once_is_once(self, scale: Session) -> None:
        scale.break_name("B", once=True)
        scale.start()
        scale.resume()
        assert scale.resume().reason is Reason.ENDED

    def test_exactly_is_one_time_in_every_run(self, scale: Session) -> None:
        scale.break_name("B", ignore=1, exactly=True)
        scale.start()
        for _ in range(3):
            assert scale.resume().moment == Moment(1, 4)
            assert scale.resume().reason is Reason.ENDED
            scale.restart()

    def test_going_back_takes_hits_back(self, scale: Session) -> None:
        scale.break_name("B", ignore=1, exactly=True)
        scale.start()
        assert scale.resume().moment == Moment(1, 4)
        assert scale.breakpoints[0].count == 2
        scale.goto(Moment(1, 1))
        assert scale.resume().moment == Moment(1, 4)
        scale.goto(Moment(1, 3))
        assert scale.resume().moment == Moment(1, 4)

    def test_to_pass_a_breakpoint_counts_from_now_on(self, scale: Session) -> None:
        scale.break_name("B")
        scale.start()
        assert scale.resume().moment == Moment(1, 2)
        scale.ignore(1, 1)
        assert scale.resume().moment == Moment(1, 6)
        scale.restart()
        assert scale.resume().moment == Moment(1, 4)
        with pytest.raises(RefmlcError, match="there is no breakpoint 7"):
            scale.ignore(7, 1)

    def test_a_condition_without_a_value_stops_and_says_so(self, scale: Session) -> None:
        scale.break_line(STORE, condition="A[vi + 2] > T.float32(9)")  # A has 3 elements, none above 9
        scale.start()
        assert scale.resume().moment == Moment(1, 5)
        assert scale.stop is not None
        assert scale.stop.note.startswith("the condition `A[vi + 2] > T.float32(9)` has no value here: load from `A`")
        assert scale.reverse_resume().reason is Reason.BEGINNING
        scale.goto(Moment(1, 7))
        assert "load from `A` is out of bounds" in scale.reverse_resume().note
        scale.condition(1, "vi == 2")
        stop = scale.resume()
        assert (stop.moment, stop.note) == (Moment(1, 7), "")

    def test_a_log_point_says_once_that_its_condition_has_no_value(self, scale: Session) -> None:
        scale.break_line(STORE, condition="1 // (vi - vi) == 0", log="here")
        scale.start()
        (said,) = scale.resume().logs
        assert said.startswith("the condition `1 // (vi - vi) == 0` has no value here: ")

    @pytest.mark.parametrize("text", ["'yes'", "None", "A", "b'1'", "..."])
    def test_what_is_no_truth_value_is_no_condition(self, scale: Session, text: str) -> None:
        with pytest.raises(RefmlcError):
            scale.break_line(STORE, condition=text)

    def test_a_condition_at_a_binding_that_is_no_truth_value_stops_there(self, main: Session) -> None:
        main.break_name("main.z", condition="y")
        main.start()
        stop = main.resume()
        assert (stop.moment, stop.hits) == (Moment(5, 0), (1,))
        assert stop.note.startswith("the condition `y` has no value here: ")

    def test_log_points_speak_and_do_not_stop(self, scale: Session) -> None:
        scale.break_line(STORE, log="vi is {vi}, A {A[vi]}, {nonsense}")
        scale.start()
        logs = scale.resume().logs
        assert logs[:2] == (
            "vi is 0, A 1.0, <`nonsense` is not defined>",
            "vi is 1, A 2.0, <`nonsense` is not defined>",
        )
        assert len(logs) == 3

    @pytest.mark.parametrize("condition", ["nonsense > 1", "vi <", "B"])
    def test_a_condition_that_cannot_be_read_is_refused(self, scale: Session, condition: str) -> None:
        with pytest.raises(RefmlcError):
            scale.break_line(STORE, condition=condition)

    def test_writes_changes_and_reads_are_watched(self, scale: Session) -> None:
        scale.start()
        scale.watch("B[1:3]")
        stop = scale.resume()
        assert (stop.reason, stop.element, stop.text) == (Reason.DATA, "B[1]", "B[1] = 4.0 is about to be stored")
        scale.remove(1)
        scale.watch("A[2]", "read")
        assert scale.resume().element == "A[2]"
        assert scale.resume().reason is Reason.ENDED

    def test_storing_the_same_is_no_change(self, scale: Session) -> None:
        scale.start()
        scale.set("B[0]", "2.0")
        scale.watch("B", "change")
        assert scale.resume().element == "B[1]"

    def test_a_difference_from_a_reference(self, scale: Session) -> None:
        scale.compare("B", np.array([2, 5, 6], "float32"))
        scale.start()
        stop = scale.resume()
        assert stop.reason is Reason.DIFFERENCE
        assert stop.text == "B[1] = 4.0 is about to be stored, not 5.0"

    @pytest.mark.parametrize(("value", "what"), [(np.inf, "inf"), (np.nan, "nan")])
    def test_numbers_that_are_none_are_caught(self, value: float, what: str) -> None:
        module = refmlc.read(TEXT)
        arguments = [np.array([1, value, 3], "float32"), Tensor.empty((3,), FLOAT32)]
        with Session(Program(module, "scale", arguments)) as session:
            session.catch("nan")
            session.start()
            stop = session.resume()
            assert (stop.reason, stop.element, what in stop.text) == (Reason.NUMBER, "B[1]", True)

    def test_what_cannot_be_caught_is_refused(self, scale: Session) -> None:
        with pytest.raises(RefmlcError, match="cannot be caught"):
            scale.catch("fire")


class TestEdits:
    def test_an_element_is_set_and_stays_set(self, main: Session) -> None:
        main.start()
        main.step_over()
        main.set("y[0]", "10")
        assert main.evaluate("y[0]") == 10.0
        main.resume()
        assert np.array_equal(main.result.numpy(), [20, 8, 12])  # type: ignore[attr-defined]
        main.goto(Moment(2, 0))
        main.resume()
        assert np.array_equal(main.result.numpy(), [20, 8, 12])  # type: ignore[attr-defined]

    def test_restart_forgets_edits(self, scale: Session) -> None:
        scale.start()
        scale.set("A[0]", "10")
        scale.restart()
        scale.resume()
        assert np.array_equal(scale.visible()[1].tensor.numpy(), [2, 4, 6])  # type: ignore[union-attr]

    def test_a_variable_is_set(self, scale: Session) -> None:
        scale.start()
        scale.step_in(2)
        assert scale.set("vi", "2").edited
        scale.step_in()
        assert scale.evaluate("B[2]") == 6.0

    def test_an_edit_before_a_store_that_stopped_is_seen_by_it(self, scale: Session) -> None:
        scale.start()
        scale.watch("B[1]")
        scale.resume()
        scale.set("A[1]", "50")
        scale.step_in()
        assert scale.evaluate("B[1]") == 100.0

    @pytest.mark.parametrize(
        ("target", "value"), [("A", "1"), ("A[9]", "1"), ("i", "1"), ("A[0]", "A"), ("nothing", "1"), ("A[0:2]", "1")]
    )
    def test_what_cannot_be_set_is_refused(self, scale: Session, target: str, value: str) -> None:
        scale.start()
        with pytest.raises(RefmlcError):
            scale.set(target, value)

    def test_the_arguments_given_are_never_written_to(self) -> None:
        mine = given()
        out = np.zeros(3, "float32")
        with Session(Program(refmlc.read(TEXT), "scale", [mine, out])) as session:
            session.start()
            session.set("A[0]", "9")
            session.resume()
        assert np.array_equal(mine, [1, 2, 3])
        assert not out.any()


class TestStates:
    def test_nothing_moves_before_the_start_or_after_the_end(self, scale: Session) -> None:
        with pytest.raises(RefmlcError, match="not been started"):
            scale.step_in()
        scale.start()
        with pytest.raises(RefmlcError, match="has already been started"):
            scale.start()
        scale.resume()
        with pytest.raises(RefmlcError, match="has ended"):
            scale.step_in()

    def test_close_ends_it_in_every_state(self, scale: Session) -> None:
        scale.start()
        scale.step_in()
        scale.close()
        scale.close()
        with pytest.raises(RefmlcError, match="closed"):
            scale.step_in()

    def test_pause_stops_at_the_next_place(self) -> None:
        module = refmlc.read(TEXT.replace("        z = ", '        R.print(y, format="{}")\n        z = '), "scale.py")
        with Session(Program(module, "main", [given()], output=lambda _line: session.pause())) as session:
            session.start()
            stop = session.resume()
            assert stop.reason is Reason.PAUSE
            assert [one.name for one in session.variables()][:2] == ["x", "y"]
            assert session.resume().reason is Reason.ENDED

    def test_no_thread_is_left_behind(self, scale: Session) -> None:
        scale.start()
        scale.step_in(3)
        scale.step_back()
        scale.close()
        assert not [thread for thread in threading.enumerate() if thread.name == "refmlc-debuggee"]

    def test_variables_have_extents(self, scale: Session) -> None:
        scale.start()
        scale.step_in(2)
        (axis,) = scale.variables(0)
        assert (axis.name, axis.value, axis.extent, axis.kind) == ("vi", 0, (0, 3), "axis")
        assert [one.name for one in scale.visible()] == ["vi", "i", "A", "B"]

    def test_why_is_asked_of_this_moment(self, scale: Session) -> None:
        scale.start()
        scale.watch("B[1]")
        scale.resume()
        assert scale.why().value == 4.0
        assert scale.why("B[0]").value == 2.0
        assert scale.why("B[2]").value is None

    def test_why_knows_the_binding_that_is_being_computed(self, main: Session) -> None:
        main.start()
        main.break_line(STORE, condition="A[vi] == 4.0")
        stop = main.resume()
        assert stop.moment.event > 1
        assert main.why("z[0]").value == 4.0
        assert main.why("z[1]").value is None
        assert main.why("y[1]").value == 4.0

    def test_why_says_nothing_of_what_follows_from_a_value_that_was_set(self, scale: Session) -> None:
        scale.start()
        scale.step_in(2)
        scale.set("A[0]", "T.float32(7)")
        scale.step_over()
        with pytest.raises(RefmlcError, match="values were set before"):
            scale.why("B[0]")
        scale.restart()
        assert scale.why("B[0]").value is None


MEETINGS = """
@T.prim_func
def f(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
    T.device_entry()
    t = T.thread_id([32])
    Tx.cta.copy(B, A)
    T.cuda.cta_sync()
    B[t] = B[t] + 1
"""


def test_each_thread_is_seen_where_threads_of_a_kernel_meet() -> None:
    arguments = [np.arange(32, dtype="int32"), np.zeros(32, "int32")]
    with Session(Program(refmlc.read(MEETINGS, "f.py"), "f", arguments)) as session:
        session.break_line(6)
        session.break_line(7)
        session.start()
        seen: list[object] = []
        while (span := session.resume().span) is not None:
            seen.append((span.line, session.evaluate("thread")))
        assert seen == [(line, thread) for line in (6, 7) for thread in range(32)]
