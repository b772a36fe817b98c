"""Threads of a kernel in the Debug Adapter Protocol: their list, stacks, stops, steps. Thread n has number n + 2.

The client of these tests holds every message to the published schema. Lines and states are worked out from the ring.
"""

from collections import Counter

import pytest
from dap_client import joined
from warp_specialised import (
    ARRIVE,
    CONSUMER_WAIT,
    EXPECT,
    PRODUCER_WAIT,
    RING,
    STORE,
    SYNC,
    changed,
    program,
)

MANY = """from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    T.device_entry()
    b = T.cta_id([2])
    t = T.thread_id([1024])
    T.cuda.cta_sync()
    B[b, t // 32] = 1
"""


@pytest.fixture
def opened():
    found = []

    def open_(text=RING, *lines, **more):
        client, thread = joined(lambda _given, say: program(text, output=say))
        found.append((client, thread))
        at = {"source": {"sourceReference": 1, "name": "ring.py"}, "breakpoints": [{"line": line} for line in lines]}
        client.launch("f", points=lambda it: it.ask("setBreakpoints", **at), stopAtEnd=True, **more)
        return client

    yield open_
    for client, thread in found:
        client.close()
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture
def ring(opened):
    """Stands where thread 32 is about to store its first element; the breakpoint is gone."""
    client = opened(RING, STORE)
    assert client.stopped()["threadId"] == 34
    client.ask("setBreakpoints", source={"sourceReference": 1, "name": "ring.py"}, breakpoints=[])
    return client


def names(client):
    return {row["id"]: row["name"] for row in client.ask("threads")["threads"]}


def line(client, number):
    return client.ask("stackTrace", threadId=number)["stackFrames"][0]["line"]


def move(client, command, number, **more):
    """Move a thread; the number of the thread that is told to have stopped, and its line."""
    client.events.clear()
    client.ask(command, threadId=number, **more)
    stop = client.stopped()
    assert stop["allThreadsStopped"]
    return stop["threadId"], line(client, stop["threadId"])


class TestTheList:
    def test_outside_of_threads_there_is_the_program(self, opened):
        client = opened(RING, stopOnEntry=True)
        assert client.stopped()["threadId"] == 1
        assert names(client) == {1: "ring"}
        assert client.refused("stackTrace", threadId=2) == "there is no thread 2"

    def test_each_thread_has_its_state_and_whom_it_waits_for(self, ring):
        found = names(ring)
        assert list(found) == list(range(2, 66))
        lacks = "phase 0 of `empty[0]` lacks 32 of 32 arrivals, and the wait is for parity 0"
        assert found[2] == f"thread 0 (warp 0, lane 0) waits for threads 32-63: {lacks}"
        assert found[3] == "thread 1 (warp 0, lane 1) ended"
        assert found[34] == "thread 32 (warp 1, lane 0) runs"
        assert found[65] == "thread 63 (warp 1, lane 31) continues"

    def test_in_a_deadlock_nobody_can_end_the_waits(self, opened):
        client = opened(changed(("// 2 % 2 ^ 1)", "// 2 % 2)")))
        stop = client.stopped()
        assert (stop["reason"], stop["threadId"]) == ("exception", 2)
        found = names(client)
        assert found[2].startswith("thread 0 (warp 0, lane 0) waits for threads 32-63 (nobody can end this): phase 0")
        assert found[34].startswith("thread 32 (warp 1, lane 0) waits for thread 0 (nobody can end this): phase 0")
        assert (line(client, 2), line(client, 34)) == (PRODUCER_WAIT, CONSUMER_WAIT)
        assert client.ask("exceptionInfo", threadId=2)["exceptionId"] == "RM343"

    def test_a_thousand_threads_of_the_second_block(self, opened):
        client = opened(MANY, 9)
        client.stopped()
        found = names(client)
        assert len(found) == 1024
        assert Counter(name.split(") ")[1].split(":")[0] for name in found.values()) == {"runs": 1, "continues": 1023}
        assert max(map(len, found.values())) <= 240

    def test_after_the_end_there_is_the_program(self, ring):
        assert move(ring, "continue", 34)[0] == 1
        assert names(ring) == {1: "ring"}
        assert ring.refused("stepBack", threadId=34) == "there is no thread 34"
        assert ring.ask("stackTrace", threadId=1)["totalFrames"] == 1


class TestStacks:
    def test_each_thread_stands_at_its_own_line(self, ring):
        assert [line(ring, number) for number in (2, 34, 35, 1)] == [PRODUCER_WAIT, STORE, SYNC, STORE]
        assert line(ring, 3)  # it has ended, and is still there

    def test_variables_are_those_of_the_thread_of_the_frame(self, ring):
        tops = {number: ring.ask("stackTrace", threadId=number)["stackFrames"][0]["id"] for number in (2, 34, 35)}
        values = {
            number: ring.ask("evaluate", expression="tx", frameId=frame)["result"] for number, frame in tops.items()
        }
        assert values == {2: "0", 34: "32", 35: "33"}
        scopes = {number: ring.ask("scopes", frameId=frame)["scopes"] for number, frame in tops.items()}
        for number, value in ((35, None), (2, "2"), (34, "0")):  # in any order; thread 33 has not begun the loop
            rows = [
                row
                for scope in scopes[number]
                for row in ring.ask("variables", variablesReference=scope["variablesReference"])["variables"]
            ]
            assert next((row["value"] for row in rows if row["name"] == "i"), None) == value

    def test_memory_is_that_of_the_thread(self, ring):
        frame = ring.ask("stackTrace", threadId=2)["stackFrames"][0]["id"]
        tile = ring.ask("evaluate", expression="tile", frameId=frame)
        line(ring, 34)
        data = ring.ask("readMemory", memoryReference=tile["memoryReference"], count=8)["data"]
        assert data == "AAAAAAEAAAA="  # 0, 1
        assert "no thread 77" in ring.refused("readMemory", memoryReference="thread 77 0:tile", count=8)
        for reference in ("thread 0:tile", "thread -1 0:tile", "x", "", "thread 9999999999 0:t"):
            assert ring.refused("readMemory", memoryReference=reference, count=8) == "this is not a memory reference"

    def test_values_are_set_in_the_thread_that_runs_only(self, ring):
        other, own = (ring.ask("stackTrace", threadId=number)["stackFrames"][0]["id"] for number in (2, 34))
        assert "another one is selected" in ring.refused("setExpression", expression="i", value="1", frameId=other)
        assert ring.ask("setExpression", expression="tile[0, 0]", value="5", frameId=own)["value"] == "5"

    def test_the_console_selects_a_thread_for_itself(self, ring):
        frame = ring.ask("stackTrace", threadId=34)["stackFrames"][0]["id"]

        def said(text):
            return ring.ask("evaluate", expression=text, context="repl", frameId=frame)["result"]

        assert (said("tx"), said("thread 40"), said("tx")) == ("32", "thread 40 is shown", "40")
        assert (line(ring, 1), line(ring, 34)) == (SYNC, STORE)
        assert ring.ask("evaluate", expression="tx", context="hover", frameId=frame)["result"] == "32"
        assert move(ring, "stepIn", 34) == (34, ARRIVE)
        assert ring.ask("evaluate", expression="tx", context="repl")["result"] == "32"


class TestSteps:
    @pytest.mark.parametrize("command", ["next", "stepIn"])
    def test_a_step_ends_at_the_thread_and_the_others_run(self, ring, command):
        assert move(ring, command, 34) == (34, ARRIVE)
        places = [move(ring, command, 34) for _ in range(5)]  # the third tile is there after all others have run
        assert places == [(34, line) for line in (CONSUMER_WAIT, STORE, ARRIVE, CONSUMER_WAIT, STORE)]
        assert move(ring, command, 65)[0] == 65

    def test_the_producer_goes_on_when_all_consumers_have_arrived(self, ring):
        assert move(ring, "next", 2) == (2, EXPECT)
        assert "waits for thread 0" in names(ring)[65]

    def test_a_step_of_the_program_ends_at_any_thread(self, ring):
        ring.ask("stepIn", threadId=1)
        ring.stopped()
        numbers = {move(ring, "stepIn", 1)[0] for _ in range(6)}
        assert len(numbers) > 1

    def test_out_of_the_loop_of_a_thread_is_its_end(self, ring):
        number, _ = move(ring, "stepOut", 34)
        assert "ended" in names(ring).get(34, "ended")
        assert number != 34

    def test_backwards(self, ring):
        assert move(ring, "stepIn", 34) == (34, ARRIVE)
        assert move(ring, "stepBack", 34) == (34, STORE)
        assert move(ring, "stepBack", 34) == (34, CONSUMER_WAIT)
        assert move(ring, "stepBack", 2) == (2, PRODUCER_WAIT)
        assert names(ring)[34].endswith("continues")
        assert move(ring, "stepBack", 65)[0] == 65

    def test_a_thread_that_has_ended_is_not_stepped(self, ring):
        for command in ("next", "stepIn"):
            ring.events.clear()
            ring.ask(command, threadId=3)
            assert "thread 1 has ended" in ring.event("output")["output"]
            assert ring.stopped()["threadId"] == 34

    @pytest.mark.parametrize("number", [0, -1, 66, 2**31 - 1])
    def test_a_thread_that_is_not_there(self, ring, number):
        ring.strict = False
        for command in ("stackTrace", "next", "stepIn", "stepOut", "stepBack", "continue", "pause", "reverseContinue"):
            assert "thread" in ring.refused(command, threadId=number) or number < 0
        assert line(ring, 34) == STORE

    @pytest.mark.parametrize("number", ["2", None, 2.5, [2], {}, True, 10**30])
    def test_what_is_no_number(self, ring, number):
        ring.strict = False
        assert ring.refused("stackTrace", threadId=number)
        assert ring.refused("next", threadId=number)
        assert line(ring, 34) == STORE
