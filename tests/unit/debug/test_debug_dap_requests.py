"""Each request of the protocol, asked of a server in this process. Expected lines and values are worked by hand.

`sums` (tests/property/dap_programs.py) writes W = A - A[:, 0], then sums its rows; A[1] is infinite, so W[1] is NaN.
"""

import base64
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import warp_specialised
from dap_client import joined, schema

sys.path.insert(0, str(Path(__file__).parents[2] / "property"))

from dap_programs import launcher

import refmlc
from refmlc.debug import Program
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

LOOP_W, BLOCK_W, STORE_W, BLOCK_S, ADD_S = 7, 8, 10, 12, 16
BIG = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def big(A: T.Buffer((1000, 100), "float32"), n: T.int32):
    for i in range(n):
        A[i % 1000, 0] = T.float32(1)
"""


WATCHED = {"line": 7, "condition": "i < 0"}  # else C would execute the loop, which nothing pauses


def big(given, say):
    args = [np.zeros((1000, 100), "float32"), given.number("n", 1)]
    return Program(refmlc.read(BIG, "big.tvm"), "big", args, output=say)


@pytest.fixture
def opened():
    """What makes clients; they are left at the end."""
    found = []

    def open_(made=launcher):
        client, thread = joined(made)
        found.append((client, thread))
        return client

    yield open_
    for client, thread in found:
        client.close()
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture
def client(opened):
    """One that stands at the entry of `sums`."""
    found = opened()
    found.launch("sums", stopOnEntry=True, stopAtEnd=True)
    found.stopped()
    return found


SOURCE = {"sourceReference": 1, "name": "sums.tvm"}


def at(client, *lines, **more):
    rows = [{"line": line, **more} for line in lines]
    return client.ask("setBreakpoints", source=SOURCE, breakpoints=rows)["breakpoints"]


class TestOrder:
    def test_nothing_is_done_before_initialize(self, opened):
        client = opened()
        assert client.refused("threads") == "`initialize` comes first"
        client.ask("initialize", adapterID="x")
        assert "already" in client.refused("initialize", adapterID="x")
        assert client.refused("continue", threadId=1) == "no program has been launched"
        assert client.refused("setBreakpoints", source=SOURCE, breakpoints=[])
        assert "attach" in client.refused("attach")
        assert client.ask("disconnect") == {}

    def test_what_is_announced_is_answered_and_the_rest_refused(self, client):
        told = {
            "supportsDisassembleRequest": "disassemble", "supportsWriteMemoryRequest": "writeMemory",
            "supportsModulesRequest": "modules", "supportsTerminateThreadsRequest": "terminateThreads",
            "supportsInstructionBreakpoints": "setInstructionBreakpoints",
        }  # fmt: skip
        client.strict = False
        for command in told.values():
            assert client.refused(command) == f"`{command}` is not supported"

    def test_a_launch_that_fails_may_be_tried_again(self, opened):
        client = opened()
        client.ask("initialize", adapterID="x")
        assert client.refused("launch", program="none") == "there is no program `none`"
        client.ask("launch", program="sums")
        assert "already" in client.refused("launch", program="sums")

    def test_without_a_stop_it_ends_and_says_so(self, opened):
        client = opened()
        client.launch("graph")
        assert client.event("output")["output"] == "[ 4.  8. 12.]\n"
        assert client.event("exited")["exitCode"] == 0
        client.event("terminated")
        assert client.refused("stackTrace", threadId=1) == "notStopped"
        client.ask("restart")
        assert client.event("exited", "stopped")["event"] == "exited"

    def test_a_program_that_fails_and_is_not_stopped_ends_with_1(self, opened):
        client = opened()
        client.launch("fault", points=lambda it: it.ask("setExceptionBreakpoints", filters=[]))
        assert client.event("exited")["exitCode"] == 1

    def test_without_debugging_nothing_stops_it(self, opened):
        client = opened()
        client.launch("sums", noDebug=True, points=lambda it: at(it, STORE_W))
        client.event("terminated")

    @pytest.mark.parametrize("stage", range(4))
    @pytest.mark.parametrize("command", ["disconnect", "terminate"])
    def test_it_can_be_ended_in_every_state(self, opened, stage, command):
        client = opened(big)
        if stage >= 1:
            client.ask("initialize", adapterID="x")
        if stage >= 2:
            client.ask("launch", n=1 << 30)
        if stage >= 3:
            client.ask("configurationDone")
        if command == "terminate" and stage >= 2:
            client.ask("terminate")
            client.event("terminated")
        client.ask("disconnect")


class TestBreakpoints:
    def test_lines_move_to_what_is_executed(self, client):
        found = at(client, 6, STORE_W, 99)
        assert [row.get("line") for row in found] == [LOOP_W, STORE_W, None]
        assert [row["verified"] for row in found] == [True, True, False]
        assert found[2]["message"]

    def test_conditions_and_counts(self, client):
        ids = [row["id"] for row in at(client, STORE_W, condition="vi == 2")]
        stop = client.move("continue")
        assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", ids)
        assert client.top()["name"] == "block W (vi = 2, vj = 0)"
        at(client, ADD_S, hitCondition="== 4")
        client.move("continue")
        assert client.top()["name"] == "block S (vi = 1, vj = 1)"
        assert client.move("continue")["reason"] == "ended"

    def test_exactly_the_nth_time_in_every_run(self, client):
        at(client, ADD_S, hitCondition="== 4")
        for _ in range(2):
            client.move("continue")
            assert client.top()["name"] == "block S (vi = 1, vj = 1)"
            assert client.move("continue")["reason"] == "ended"
            client.move("reverseContinue")
            client.move("restart")
        client.move("continue")
        client.move("stepBack", granularity="instruction")
        client.move("continue")
        assert client.top()["name"] == "block S (vi = 1, vj = 1)"

    def test_a_condition_without_a_value_stops_and_is_told(self, client):
        (row,) = at(client, STORE_W, condition="A[vi + 2, 0] == T.float32(3)")  # A has 3 rows
        client.events.clear()
        client.ask("continue", threadId=1)
        why = client.event("stopped")
        assert "text" not in why
        assert client.top()["name"] == "block W (vi = 0, vj = 0)"
        client.move("continue")
        client.ask("continue", threadId=1)
        note = "the condition `A[vi + 2, 0] == T.float32(3)` has no value here: load from `A` is out of bounds"
        assert client.event("output") == {"category": "important", "output": f"{note}\n", "event": "output"}
        changed = client.event("breakpoint")
        assert (changed["reason"], changed["breakpoint"]["id"]) == ("changed", row["id"])
        assert changed["breakpoint"]["message"] == note
        stop = client.stopped()
        assert client.top()["name"] == "block W (vi = 1, vj = 0)"
        assert (stop["reason"], stop["text"], stop["hitBreakpointIds"]) == ("breakpoint", note, [row["id"]])

    def test_what_is_neither_true_nor_false_is_no_condition(self, client):
        assert "neither true nor false" in at(client, STORE_W, condition="'vi'")[0]["message"]

    def test_what_is_no_condition_is_said(self, client):
        assert "hit condition" in at(client, STORE_W, hitCondition="often")[0]["message"]
        assert not at(client, STORE_W, condition="vi ==")[0]["verified"]
        source = {"path": "/nowhere.py"}
        found = client.ask("setBreakpoints", source=source, breakpoints=[{"line": 1}])["breakpoints"]
        assert "this text does not belong to the program" in found[0]["message"]

    def test_log_points_say_and_go_on(self, client):
        at(client, BLOCK_S, logMessage="row {i}")
        client.ask("continue", threadId=1)
        said = [client.event("output")["output"] for _ in range(6)]
        assert said == ["row 0\n", "row 0\n", "row 1\n", "row 1\n", "row 2\n", "row 2\n"]

    def test_functions_and_blocks(self, client):
        rows = [{"name": "S"}, {"name": "nothing"}]
        found = client.ask("setFunctionBreakpoints", breakpoints=rows)["breakpoints"]
        assert [row["verified"] for row in found] == [True, False]
        assert found[0]["line"] == BLOCK_S
        client.move("continue")
        assert client.top()["line"] == BLOCK_S

    def test_exceptions_by_kind(self, client):
        found = client.ask(
            "setExceptionBreakpoints", filters=["RM304", "nothing"],
            filterOptions=[{"filterId": "nan", "condition": "vj == 1"}, {"filterId": "trap", "condition": "i"}],
        )["breakpoints"]  # fmt: skip
        assert [row["verified"] for row in found] == [True, False, True, False]
        stop = client.move("continue")
        assert stop["text"] == "W[1, 1] = nan is about to be stored"
        info = client.ask("exceptionInfo", threadId=1)
        assert (info["exceptionId"], info["breakMode"]) == ("nan", "always")

    def test_undefined_behaviour_stops_where_it_is(self, opened):
        client = opened()
        client.launch("fault", stopAtEnd=True)
        assert client.stopped()["reason"] == "exception"
        assert client.ask("exceptionInfo", threadId=1)["exceptionId"] == "RM304"
        assert client.ask("evaluate", expression="n[0]")["result"] == "4"
        client.ask("setExceptionBreakpoints", filters=["RM305"])
        client.ask("restart")
        assert client.stopped()["reason"] == "ended"
        assert client.ask("exceptionInfo", threadId=1)["exceptionId"] == "RM304"

    def test_data_breakpoints_are_kept_while_they_are_named(self, client):
        client.ask("setBreakpoints", source=SOURCE, breakpoints=[{"line": STORE_W}])
        client.move("continue")
        frame = client.top()["id"]
        info = client.ask("dataBreakpointInfo", name="W[vi + 1, 1]", frameId=frame)
        assert info["description"] == "W[1, 1] in sums"
        assert client.ask("dataBreakpointInfo", name="W[9, 9]", frameId=frame)["dataId"] is None
        at(client)
        row = {"dataId": info["dataId"], "accessType": "readWrite"}
        first = client.ask("setDataBreakpoints", breakpoints=[row])["breakpoints"]
        again = client.ask("setDataBreakpoints", breakpoints=[row])["breakpoints"]
        assert first == again
        stop = client.move("continue")
        assert (stop["reason"], stop["text"]) == ("data breakpoint", "W[1, 1] = nan is about to be stored")
        assert stop["hitBreakpointIds"] == [first[0]["id"]]
        assert "is about to be read: nan" in client.move("continue")["text"]

    def test_locations(self, client):
        found = client.ask("breakpointLocations", source=SOURCE, line=1, endLine=11)["breakpoints"]
        assert {LOOP_W, BLOCK_W, STORE_W} <= {row["line"] for row in found}
        assert all(row["line"] <= 11 for row in found)


class TestLooking:
    def stand(self, client, line=STORE_W, condition="vi == 1"):
        at(client, line, condition=condition)
        client.move("continue")
        at(client)
        return client.ask("stackTrace", threadId=1)["stackFrames"]

    def test_frames_are_paged(self, client):
        frames = self.stand(client)
        assert [one["name"] for one in frames] == ["block W (vi = 1, vj = 0)", "for j (j = 0)", "for i (i = 1)", "sums"]
        page = client.ask("stackTrace", threadId=1, startFrame=1, levels=2)
        assert [one["name"] for one in page["stackFrames"]] == ["for j (j = 0)", "for i (i = 1)"]
        assert page["totalFrames"] == 4
        assert frames[0]["source"]["sourceReference"] == 1

    def test_scopes_and_statistics(self, client):
        frame = self.stand(client)[0]["id"]
        assert [row["value"] for row in client.variables(frame).values()] == ["1", "0"]
        around = client.variables(frame, 1)
        tensor = around["W"]["variablesReference"]
        rows = client.ask("variables", variablesReference=tensor, filter="named")["variables"]
        said = {row["name"]: row["value"] for row in rows}
        assert said["shape"] == "3x2"
        assert (said["initialised"], said["NaN"], said["greatest"]) == ("2 of 6", "0", "1")
        mask = next(row for row in rows if row["name"] == "initialised")["variablesReference"]
        cells = client.ask("variables", variablesReference=mask)["variables"]
        assert [row["value"] for row in cells] == ["True", "True", "False", "False", "False", "False"]
        assert client.variables(frame, 2)["A"]["value"].startswith("3x2 float32 [1.0, 2.0, inf, inf")

    def test_numbers_hold_until_it_moves(self, client):
        frame = self.stand(client)[0]["id"]
        client.move("stepIn")
        assert "any more" in client.refused("scopes", frameId=frame)
        assert "any more" in client.refused("variables", variablesReference=frame)

    def test_big_tensors_come_in_pages_or_bundles(self, opened):
        client = opened(big)
        client.launch("", stopOnEntry=True)
        client.stopped()
        tensor = client.ask("evaluate", expression="A")["variablesReference"]
        rows = client.ask("variables", variablesReference=tensor, filter="indexed", start=99_998, count=5)["variables"]
        assert [row["name"] for row in rows] == ["[999, 98]", "[999, 99]"]
        rows = client.ask("variables", variablesReference=tensor)["variables"]
        bundles = [row for row in rows if "…" in row["name"]]
        assert [row["name"] for row in bundles[:2]] == ["[0 … 9999]", "[10000 … 19999]"]
        inner = client.ask("variables", variablesReference=bundles[1]["variablesReference"])["variables"]
        assert inner[0]["name"] == "[10000 … 10099]"
        cells = client.ask("variables", variablesReference=inner[0]["variablesReference"])["variables"]
        assert [cells[0]["name"], len(cells)] == ["[100, 0]", 100]

    def test_values_are_set(self, client):
        frame = self.stand(client)[0]["id"]
        scope = client.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        assert client.ask("setVariable", variablesReference=scope, name="vj", value="1")["value"].startswith("1")
        assert client.ask("setExpression", expression="A[1, 0]", value="4", frameId=frame)["value"] == "4.0"
        tensor = client.ask("evaluate", expression="A", frameId=frame)["variablesReference"]
        assert client.ask("setVariable", variablesReference=tensor, name="[1, 1]", value="9")["value"] == "9.0"
        assert "cannot be set" in client.refused("setVariable", variablesReference=tensor, name="mean", value="9")
        client.move("next")
        assert client.ask("evaluate", expression="W[1, 1]")["result"] == "5.0"

    def test_memory(self, client):
        frame = self.stand(client)[0]["id"]
        reference = client.ask("evaluate", expression="A", frameId=frame)["memoryReference"]
        found = client.ask("readMemory", memoryReference=reference, offset=4, count=8)
        assert struct.unpack("<2f", base64.b64decode(found["data"])) == (2.0, float("inf"))
        found = client.ask("readMemory", memoryReference=reference, offset=20, count=100)
        assert (base64.b64decode(found["data"]), found["unreadableBytes"]) == (struct.pack("<f", 4.0), 96)
        assert client.refused("readMemory", memoryReference="nothing", count=1)

    def test_completions(self, client):
        frame = self.stand(client)[0]["id"]
        found = client.ask("completions", text="A[v", column=4, frameId=frame)["targets"]
        assert [(row["label"], row["start"], row["length"]) for row in found] == [("vi", 2, 1), ("vj", 2, 1)]

    def test_texts_without_a_file_are_sent(self, client):
        (source,) = client.ask("loadedSources")["sources"]
        assert "def sums" in client.ask("source", sourceReference=0, source=source)["content"]
        assert client.refused("source", sourceReference=77)


class TestMoving:
    def test_step_in_targets(self, client):
        at(client, STORE_W)
        client.move("continue")
        at(client)
        targets = client.ask("stepInTargets", frameId=client.top()["id"])["targets"]
        labels = {row["label"]: row["id"] for row in targets}
        client.move("stepIn", targetId=labels["the next iteration of `i`"])
        assert client.top()["name"].startswith("for j") or "i = 1" in str(client.ask("stackTrace", threadId=1))
        assert client.refused("stepIn", threadId=1, targetId=labels["the next statement"])

    def test_goto_goes_in_time(self, client):
        def targets(line):
            found = client.ask("gotoTargets", source=SOURCE, line=line)["targets"]
            return {"next" if "next" in row["label"] else "last": row["id"] for row in found}

        stop = client.move("goto", targetId=targets(ADD_S)["next"])
        assert stop["reason"] == "goto"
        assert client.top()["line"] == ADD_S
        client.move("goto", targetId=targets(STORE_W)["last"])
        assert client.top()["name"] == "block W (vi = 2, vj = 1)"
        stop = client.move("goto", targetId=targets(LOOP_W)["next"])
        assert "is never reached" in stop["text"]
        assert client.top()["name"] == "block W (vi = 2, vj = 1)"
        assert client.ask("gotoTargets", source=SOURCE, line=99)["targets"] == []

    def test_the_end_can_be_left_backwards(self, client):
        assert client.move("continue")["reason"] == "ended"
        assert "ended" in client.refused("continue", threadId=1)
        assert client.top()["name"] == "sums (ended)"
        values = client.variables(client.top()["id"])["S"]["value"]
        assert values == "3 float32 [1.0, nan, 1.0]  (1 NaN)"
        client.move("stepBack", granularity="instruction")
        assert client.top()["line"] == ADD_S

    def test_threads_there_are_one(self, client):
        assert client.ask("threads")["threads"] == [{"id": 1, "name": "sums"}]
        assert client.refused("continue", threadId=2) == "there is no thread 2"


class TestMeanwhile:
    """A program that would take hours: requests that come while it moves."""

    @pytest.fixture
    def running(self, opened):
        client = opened(big)
        client.launch("", n=1 << 30, stopOnEntry=True)
        client.stopped()
        client.ask("setBreakpoints", source={"sourceReference": 1}, breakpoints=[{"line": 7}])
        assert client.move("continue")["reason"] == "breakpoint"  # in the loop: there is an `i` from here on
        client.ask("setBreakpoints", source={"sourceReference": 1}, breakpoints=[])
        client.ask("continue", threadId=1)
        return client

    def test_it_is_paused(self, running):
        running.ask("pause", threadId=1)
        assert running.stopped()["reason"] == "pause"
        before = int(running.ask("evaluate", expression="i")["result"])
        running.ask("continue", threadId=1)
        assert running.ask("threads")["threads"]
        assert running.refused("evaluate", expression="i") == "notStopped"
        running.ask("pause", threadId=1)
        running.stopped()
        assert int(running.ask("evaluate", expression="i")["result"]) >= before

    def test_breakpoints_are_set_while_it_runs(self, running):
        source = {"sourceReference": 1}
        found = running.ask("setBreakpoints", source=source, breakpoints=[{"line": 7, "hitCondition": "5"}])
        assert found["breakpoints"][0]["verified"]
        assert running.stopped()["reason"] == "breakpoint"

    def test_it_is_restarted_while_it_runs(self, running):
        running.strict = False  # the schema says that arguments fit launch or attach but not both, and all fit both
        running.ask("restart", {"arguments": {"n": 3}})
        running.events.clear()
        assert running.event("terminated", "stopped") == {"event": "terminated"}

    def test_a_step_that_takes_long_is_paused_and_progress_is_told(self, opened):
        client = opened(big)
        client.ask("initialize", adapterID="x", supportsProgressReporting=True)
        client.ask("launch", n=1 << 30, stopOnEntry=True)
        client.ask("configurationDone")
        client.stopped()
        client.ask("setBreakpoints", source={"sourceReference": 1}, breakpoints=[WATCHED])
        client.ask("next", threadId=1)
        progress = client.event("progressStart")
        client.ask("cancel", progressId=progress["progressId"])
        assert client.event("progressEnd", "stopped")["event"] == "progressEnd"
        assert client.stopped()["reason"] == "pause"

    def test_a_request_that_waits_is_cancelled(self, opened):
        client = opened(big)
        client.launch("", n=1 << 30, stopOnEntry=True)
        client.stopped()
        client.ask("setBreakpoints", source={"sourceReference": 1}, breakpoints=[WATCHED])
        step = client.send("next", threadId=1)
        waits = client.send("evaluate", expression="i")
        cancels = client.send("cancel", requestId=waits)
        pauses = client.send("pause", threadId=1)
        assert client.answer(step)["success"]
        assert client.answer(waits)["message"] == "cancelled"
        assert client.answer(cancels)["success"]
        assert client.answer(pauses)["success"]
        client.stopped()


def test_the_schema_is_of_the_protocol():
    assert {"InitializeRequest", "StoppedEvent", "Capabilities"} <= set(schema()["definitions"])
    assert Tensor.empty((1,), FLOAT32).size == 1


def test_the_console_shows_threads_and_selects_one(opened):
    client = opened(lambda _given, say: warp_specialised.program(output=say))
    client.launch("ring", stopOnEntry=True)
    client.stopped()
    lines = {"source": {"sourceReference": 1, "name": "ring.py"}, "breakpoints": [{"line": warp_specialised.STORE}]}
    assert client.ask("setBreakpoints", **lines)["breakpoints"][0]["verified"]
    client.ask("continue", threadId=1)
    client.stopped()

    def said(line):
        return client.ask("evaluate", expression=line, context="repl")["result"]

    def line_of_top():
        return client.ask("stackTrace", threadId=1)["stackFrames"][0]["line"]

    assert "> 32 " in said("threads")
    assert "can still arrive at `empty[0]`" in said("waits")
    assert (said("tx"), line_of_top()) == ("32", warp_specialised.STORE)
    assert said("thread 0") == "thread 0 is shown"
    assert (said("tx"), line_of_top()) == ("0", warp_specialised.PRODUCER_WAIT)
