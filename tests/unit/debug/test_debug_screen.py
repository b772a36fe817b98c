"""The full screen at 80 columns and 24 rows, driven by Textual's pilot."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest
from textual.pilot import Pilot
from textual.widgets import Input, RichLog, Static
from warp_specialised import ARRIVE, CONSUMER_WAIT, PRODUCER_WAIT, RING, STORE, SYNC, program

import refmlc
from refmlc.debug import Program, Session
from refmlc.debug.screen import Screen
from refmlc.debug.screen.heat import heat_map
from refmlc.debug.terminal import Shell
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

GEMM = Path(__file__).parents[2] / "golden" / "debug" / "gemm.py"
Drive = Callable[[Screen, "Pilot[None]"], Awaitable[None]]


def driven(drive: Drive, file: Path = GEMM, kernel: Program | None = None) -> None:
    module = refmlc.read_file(file)
    arguments = [np.ones((4, 8), "float32"), np.ones((8, 4), "float32"), Tensor.empty((4, 4), FLOAT32)]
    with Session(kernel or Program(module, "gemm", arguments)) as session:
        screen = Screen(Shell(session))

        async def run() -> None:
            async with screen.run_test(size=(80, 24)) as pilot:
                await settled(screen, pilot)
                await drive(screen, pilot)

        asyncio.run(run())


async def settled(screen: Screen, pilot: "Pilot[None]") -> None:
    await screen.workers.wait_for_complete()
    await pilot.pause()


async def typed(screen: Screen, pilot: "Pilot[None]", line: str) -> None:
    screen.query_one("#prompt", Input).value = line
    await pilot.press("enter")
    await settled(screen, pilot)


def text(screen: Screen, part: str) -> str:
    return str(screen.query_one(f"#{part}", Static).render())


def test_nothing_in_the_text_is_obeyed(tmp_path: Path) -> None:
    hostile = tmp_path / "gemm.py"
    hostile.write_text(f"# \u202e\x1b]0;pwn\x07\x9b2J\n{GEMM.read_text()}")

    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        assert "# \ufffd\ufffd]0;pwn\ufffd2J" in text(screen, "source")
        await typed(screen, pilot, "print \x1b]0;pwn\x07")
        said = "".join(strip.text for strip in screen.query_one("#said", RichLog).lines)
        assert "print \ufffd]0;pwn" in said
        assert "\x1b" not in said

    driven(drive, hostile)


def test_the_source_and_its_current_line_are_shown() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        assert "▶     for i, j, k in T.grid(4, 4, 8):" in text(screen, "source")
        for _ in range(5):
            await pilot.press("f11")
            await settled(screen, pilot)
        assert "▶             C[vi, vj] += A[vi, vk] * B[vk, vj]" in text(screen, "source")
        assert "moment 1.6" in text(screen, "status")
        assert "block C (vi = 0, vj = 0, vk = 0)" in text(screen, "frames")
        assert "vk = 0 of 0..8" in text(screen, "variables")

    driven(drive)


def test_commands_are_typed_and_keys_move_both_ways() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        await typed(screen, pilot, "b 11 if i == 2 and k == 7")
        await pilot.press("f5")
        await settled(screen, pilot)
        assert "moment 1.166" in text(screen, "status")
        assert "●" in text(screen, "source")
        await pilot.press("f7")
        await settled(screen, pilot)
        assert "moment 1.165" in text(screen, "status")
        await pilot.press("f8")
        await settled(screen, pilot)
        assert "moment 1.1," in text(screen, "status")

    driven(drive)


def test_the_heat_map_shows_what_is_written() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        await typed(screen, pilot, "heat C")
        assert text(screen, "heat").count("?") == 16
        await typed(screen, pilot, "s")
        await typed(screen, pilot, "it i")
        assert text(screen, "heat").count("?") == 12
        await typed(screen, pilot, "heat nothing")
        assert "no tensor here" in text(screen, "heat")

    driven(drive)


def test_f9_sets_a_breakpoint_and_takes_it_away() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        session = screen.shell.state.session
        await pilot.press("f9")
        await settled(screen, pilot)
        assert [one.line for one in session.breakpoints] == [6]
        await pilot.press("f9")
        await settled(screen, pilot)
        assert not session.breakpoints

    driven(drive)


def test_quit_ends_the_screen() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        await typed(screen, pilot, "c")
        assert "ended" in text(screen, "status")
        await typed(screen, pilot, "q")
        assert screen.shell.over

    driven(drive)


def test_every_part_has_its_room_at_80_by_24() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        del pilot
        parts = {
            name: screen.query_one(f"#{name}").region for name in ("source", "frames", "variables", "heat", "prompt")
        }
        assert all(part.width >= 25 for part in parts.values())
        assert all(part.height >= 4 for name, part in parts.items() if name != "prompt")
        assert max(part.bottom for part in parts.values()) <= 24
        assert max(part.right for part in parts.values()) <= 80

    driven(drive)


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ([[0, 9], [4.5, 9]], (" @", "+@")),
        ([[np.nan, np.inf], [1, 2]], ("NI", " @")),
        ([[3, 3]], ("++",)),
    ],
)
def test_heat_maps(values: list[list[float]], rows: tuple[str, ...]) -> None:
    assert heat_map(Tensor.from_numpy(np.array(values, "float32")), 10, 10).rows == rows


def test_a_heat_map_says_where_there_is_more() -> None:
    made = heat_map(Tensor.from_numpy(np.zeros((5, 9), "float32")), 3, 4)
    assert made.rows == ("+++…", "+++…", "…………")


def test_what_to_stop_at_first_may_be_wrong() -> None:
    module = refmlc.read_file(GEMM)
    arguments = [np.ones((4, 8), "float32"), np.ones((8, 4), "float32"), Tensor.empty((4, 4), FLOAT32)]
    with Session(Program(module, "gemm", arguments)) as session:
        screen = Screen(Shell(session, ("nowhere",)))

        async def run() -> None:
            async with screen.run_test(size=(80, 24)):
                while screen.problem is None:  # noqa: ASYNC110 - it ends by itself, and has no event for that
                    await asyncio.sleep(0.01)

        asyncio.run(run())
        assert screen.problem is not None
        assert "no function, block or binding is named `nowhere`" in screen.problem.diagnostic.message


def test_a_condition_without_a_value_is_told_in_the_log() -> None:
    async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
        await typed(screen, pilot, "b 11 if A[vi + 4, 0] > T.float32(0)")
        await typed(screen, pilot, "c")
        said = "\n".join(line.text for line in screen.query_one("#said", RichLog).lines)
        assert "has no value here" in said.replace("\n", " ")

    driven(drive)


class TestThreads:
    """The ring of `warp_specialised`, with 64 threads."""

    def test_threads_that_take_turns_have_a_pane(self) -> None:
        async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
            pane = screen.query_one("#threads", Static)
            assert not pane.display
            await typed(screen, pilot, f"b {STORE} thread 37")
            await typed(screen, pilot, "c")
            assert pane.display
            assert pane.region.height >= 3
            assert f"37 ring.py:{STORE} runs" in text(screen, "threads")
            assert f"38-63 ring.py:{SYNC} continues" in text(screen, "threads")
            await typed(screen, pilot, "thread 0")
            assert text(screen, "threads").splitlines()[0].startswith(f"0 ring.py:{PRODUCER_WAIT} waits")
            assert "tx = 0" in text(screen, "variables")
            await typed(screen, pilot, "delete 1")
            await typed(screen, pilot, "c")
            assert not pane.display  # the program has ended

        driven(drive, kernel=program())

    def test_keys_step_the_thread_and_show_who_waits_for_whom(self) -> None:
        async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
            await typed(screen, pilot, f"b {STORE} thread 63")
            await typed(screen, pilot, "c")
            await pilot.press("f3")
            await settled(screen, pilot)
            assert f"63 ring.py:{ARRIVE} runs" in text(screen, "threads")
            await pilot.press("f3")
            await settled(screen, pilot)
            await pilot.press("f2")
            await settled(screen, pilot)
            said = "\n".join(strip.text for strip in screen.query_one("#said", RichLog).lines)
            assert f"ring.py:{CONSUMER_WAIT}" in said
            assert "threads 32-62" in said

        driven(drive, kernel=program())

    def test_a_thousand_threads_in_as_many_states_fit(self) -> None:
        kernel = """from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([1024])
    if t % 2 == 0:
        B[0, t // 32] = 1
    T.cuda.cta_sync()
    B[1, t // 32] = 1
"""

        async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
            await typed(screen, pilot, "b 11 thread 500")
            await typed(screen, pilot, "c")
            shown = text(screen, "threads")
            assert len(shown.splitlines()) <= screen.query_one("#threads", Static).content_size.height
            assert "500 ring.py:11 runs" in shown
            assert all(len(line) <= 40 for line in shown.splitlines())

        driven(drive, kernel=program(kernel))

    def test_names_in_a_wait_are_not_obeyed(self) -> None:
        hostile = program()
        source = "\x1b]0;pwn\x07.py"
        kernel = Program(refmlc.read(RING, source), "ring", hostile.args)

        async def drive(screen: Screen, pilot: "Pilot[None]") -> None:
            await typed(screen, pilot, f"b {STORE}")
            await typed(screen, pilot, "c")
            assert "]0;pwn" in text(screen, "threads")
            assert "\x1b" not in text(screen, "threads")
            await typed(screen, pilot, "threads")
            assert "\x1b" not in "".join(strip.text for strip in screen.query_one("#said", RichLog).lines)

        driven(drive, kernel=kernel)
