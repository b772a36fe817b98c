"""The tables of `refmlc/debug/dap/PROTOCOL.md` against the published schema, and the server against the tables."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from dap_client import joined, schema

import refmlc
from refmlc.debug import Program
from refmlc.debug.dap.capabilities import capabilities

TABLES = Path(__file__).parents[3] / "refmlc" / "debug" / "dap" / "PROTOCOL.md"
TEXT = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def count(A: T.Buffer((4,), "float32"), n: T.int32):
    for i in range(n):
        A[i % 4] = T.float32(1)
"""
LOOP, STORE = 6, 7


@cache
def table(title):
    """The rows under a title, without the names of the columns."""
    part = re.split(r"^## ", TABLES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = next(one for one in part if one.startswith(title))
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines() if line.startswith("|")
    ]
    return rows[2:]


def defined(ending, key):
    """What the schema calls its requests or events."""
    found = schema()["definitions"]
    names = [name for name in found if name.endswith(ending) and name != ending]
    return sorted(found[name]["allOf"][1]["properties"][key]["enum"][0] for name in names)


WORK = [row[0] for row in table("Requests") if row[1] == "works"]
REFUSED = [row[0] for row in table("Requests") if row[1] == "refused"]
SENT = {row[0] for row in table("Events") if row[1] == "yes"}


def launcher(given, say):
    text = given.text("text", TEXT)
    module = refmlc.read(text, "count.tvm")
    return Program(module, "count", [np.zeros(4, "float32"), given.number("n", 3)], output=say)


@pytest.fixture
def client():
    """One that has launched nothing yet."""
    found, thread = joined(launcher)
    yield found
    found.close()
    thread.join(60)
    assert not thread.is_alive()


def stands(client, **more):
    """Let the program stand at its second store."""
    takes = ("supportsInvalidatedEvent", "supportsMemoryEvent", "supportsProgressReporting")
    client.ask("initialize", adapterID="x", **dict.fromkeys(takes, True))
    client.ask("launch", stopOnEntry=True, stopAtEnd=True, **more)
    client.ask("configurationDone")
    client.stopped()
    client.move("next", granularity="instruction")
    client.move("next", granularity="instruction")


def arguments(client):
    """Right arguments of each request that works, where the program stands."""
    frame = client.ask("stackTrace", threadId=1)["stackFrames"]
    source = frame[0]["source"]
    scope = client.ask("scopes", frameId=frame[-1]["id"])["scopes"][0]["variablesReference"]
    line = {"source": source, "line": STORE}
    here = {"frameId": frame[0]["id"]}
    return {
        "cancel": {"requestId": 1}, "pause": {"threadId": 1}, "threads": {},
        "setBreakpoints": {"source": source, "breakpoints": [{"line": STORE}]},
        "setFunctionBreakpoints": {"breakpoints": [{"name": "count"}]}, "setDataBreakpoints": {"breakpoints": []},
        "setExceptionBreakpoints": {"filters": ["nan"]}, "breakpointLocations": line,
        "dataBreakpointInfo": {"name": "A[0]", **here}, "stackTrace": {"threadId": 1}, "scopes": here,
        "variables": {"variablesReference": scope}, "source": {"source": source, "sourceReference": 1},
        "loadedSources": {}, "stepInTargets": here, "gotoTargets": line, "completions": {"text": "A", "column": 2},
        "readMemory": {"memoryReference": "0:A", "count": 4}, "evaluate": {"expression": "i", **here},
        "setVariable": {"variablesReference": scope, "name": "n", "value": "4"},
        "setExpression": {"expression": "A[0]", "value": "7", **here},
        "continue": {"threadId": 1}, "next": {"threadId": 1}, "stepIn": {"threadId": 1}, "stepOut": {"threadId": 1},
        "stepBack": {"threadId": 1}, "reverseContinue": {"threadId": 1}, "restartFrame": here, "restart": {},
        "goto": lambda: {"threadId": 1, "targetId": client.ask("gotoTargets", line)["targets"][0]["id"]},
        "terminate": {}, "disconnect": {},
    }  # fmt: skip


MOVE = {"continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "restartFrame", "restart", "goto"}
BEFORE = {"initialize", "launch", "configurationDone"}


class TestTables:
    def test_every_request_and_event_has_a_row(self):
        assert sorted(row[0] for row in table("Requests")) == defined("Request", "command")
        assert sorted(row[0] for row in table("Events")) == defined("Event", "event")

    def test_what_is_announced_has_a_row_and_the_rest_has_none(self):
        known = schema()["definitions"]["Capabilities"]["properties"]
        rows = [row[0] for row in table("Capabilities")]
        assert set(rows) <= set(known)
        assert sorted(rows) == sorted(capabilities())

    def test_a_request_that_needs_to_be_announced_is(self):
        """The schema says of which: `clients should only call this if the capability … is true`."""
        for name, found in schema()["definitions"].items():
            said = re.findall(r"corresponding capability `(supports\w+)` is true", str(found.get("allOf", "")))
            if name.endswith("Request") and said:
                command = found["allOf"][1]["properties"]["command"]["enum"][0]
                assert (command in WORK) == (said[0] in capabilities()), command


class TestRequests:
    @pytest.mark.parametrize("command", [one for one in WORK if one not in BEFORE and one != "exceptionInfo"])
    def test_it_works(self, client, command):
        stands(client)
        given = arguments(client)[command]
        client.events.clear()
        client.ask(command, given() if callable(given) else given)
        if command in MOVE:
            assert client.stopped()["threadId"] == 1

    def test_all_that_work_are_tried(self, client):
        stands(client)
        assert {*arguments(client), *BEFORE, "exceptionInfo"} == set(WORK)

    def test_what_failed_is_told(self, client):
        stands(client, text=TEXT.replace("i % 4", "i + 9"))  # at the first store, which fails
        assert client.ask("exceptionInfo", threadId=1)["exceptionId"] == "RM304"

    @pytest.mark.parametrize("command", REFUSED)
    def test_it_is_refused(self, client, command):
        stands(client)
        client.strict = False
        answer = client.answer(client.send(command, {}))
        assert not answer["success"]
        assert answer["message"] == f"`{command}` is not supported" == answer["body"]["error"]["format"]


def test_every_event_that_is_sent_is_seen_and_no_other(client):
    seen = []
    put = client.came.put
    client.came.put = lambda message: (seen.append(message), put(message))[1]
    stands(client)
    client.ask(
        "setBreakpoints", source={"sourceReference": 1}, breakpoints=[{"line": STORE, "condition": "1 // (i - i) == 0"}]
    )
    client.move("continue")
    client.ask("setExpression", expression="A[0]", value="3")
    client.strict = False  # the schema says that arguments fit launch or attach but not both, and all fit both
    other = TEXT.replace("float32(1)", "float32(2)")
    client.ask("restart", {"arguments": {"n": 1 << 30, "text": other, "stopOnEntry": True}})
    client.stopped()
    client.ask("setBreakpoints", source={"sourceReference": 2}, breakpoints=[])
    client.ask("continue", threadId=1)
    progress = client.event("progressUpdate")
    assert re.fullmatch(r"moment 1\.\d+", progress["message"])
    client.ask("cancel", progressId=progress["progressId"])
    client.stopped()
    client.ask("restart", {"arguments": {"n": 1, "text": other}})
    client.event("terminated")
    events = {message["event"] for message in seen if message is not None and message["type"] == "event"}
    assert events == SENT


def test_a_progress_that_is_over_cancels_nothing(client):
    stands(client, n=1 << 30)
    client.ask("continue", threadId=1)
    first = client.event("progressStart")["progressId"]
    client.ask("pause", threadId=1)
    client.stopped()
    client.ask("continue", threadId=1)
    client.ask("cancel", progressId=first)
    second = client.event("progressStart")["progressId"]
    assert second != first
    client.ask("cancel", progressId=second)
    assert client.stopped()["reason"] == "pause"
