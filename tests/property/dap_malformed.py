"""Requests that are wrong in every way, with right ones between them: each that has a number is answered once."""

import json
import sys
from pathlib import Path

from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "debug"))

from dap_client import joined, schema
from dap_programs import launcher

COMMANDS = sorted(
    schema()["definitions"][name]["allOf"][1]["properties"]["command"]["enum"][0]
    for name in schema()["definitions"]
    if name.endswith("Request") and name != "Request"
)
ENDS = ("disconnect",)
KEYS = sorted(
    {
        key
        for name, found in schema()["definitions"].items()
        if name.endswith("Arguments")
        for key in found.get("properties", {})
    }
    | {"program", "inputs", "path", "line", "name", "stopOnEntry"}
)
PROBE = 1_000_000

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["graph", "sums", "fault", "A[0]", "i", "0:A", "1:B", "nan", "RM304", "indexed"]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=5)
good = st.sampled_from(
    [
        ("threads", {}),
        ("stackTrace", {"threadId": 1}),
        ("continue", {"threadId": 1}),
        ("next", {"threadId": 1}),
        ("stepBack", {"threadId": 1}),
        ("reverseContinue", {"threadId": 1}),
        ("pause", {"threadId": 1}),
        ("restart", {}),
        ("scopes", {"frameId": 1}),
        ("scopes", {"frameId": 2}),
        ("variables", {"variablesReference": 4}),
        ("setExceptionBreakpoints", {"filters": ["nan"]}),
        ("loadedSources", {}),
        ("stepIn", {"threadId": 1}),
        ("evaluate", {"expression": "i"}),
        ("setBreakpoints", {"source": {"sourceReference": 1}, "breakpoints": [{"line": 9}]}),
    ]
)
requests = st.one_of(
    good.map(lambda pair: {"command": pair[0], "arguments": pair[1]}),
    st.fixed_dictionaries(
        {
            "command": st.sampled_from([one for one in COMMANDS if one not in ENDS]) | st.text(max_size=5),
            "arguments": objects,
        }
    ),
    st.fixed_dictionaries({"command": values, "arguments": values}),
)
junk = st.one_of(
    st.binary(max_size=30),
    st.sampled_from(
        [
            b"Content-Length: -4\r\n\r\n",
            b"Content-Length: 99999999999999999999\r\n\r\n",
            b"Content-Length: x\r\n\r\n{}",
            b"Content-Length: 123456789012\r\n\r\n",
            b"Content-Type: none\r\n\r\n",
            b"\r\n\r\n\r\n",
            b"{}\n",
            b"Content-Length:\r\n",
            b"Content-Length: 2\r\n\r\n[]",
            b"Content-Length: 3\r\n\r\nnul",
            b"Content-Length: 0\r\n\r\n",
            b"Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc",
            b"Content-Length: 3\r\n\r\nNaN",
            b"Content-Length: 40\r\n\r\n" + b"[" * 40,
        ]
    ),
).filter(lambda data: b"Content-Length: 1" not in data or data.count(b"\r\n\r\n") == 1)
sequences = st.lists(st.tuples(requests, st.just(b"")) | st.tuples(st.none(), junk), min_size=1, max_size=12)


def check(sequence, *, launches, connect=lambda: joined(launcher)):
    """Send it; the server must answer each request that has a number, once, and live. How many there were."""
    client, thread = connect()
    client.strict = False
    try:
        if launches:
            client.ask("initialize", adapterID="test")
            client.ask("launch", program=launches, stopOnEntry=True, stopAtEnd=True)
            client.ask("configurationDone")
        awaited = []
        for request, data in sequence:
            if request is None:
                client.raw(data)
                client.raw(b"\r\n")  # what is left of a line does not hide the next header
                continue
            client.number += 1
            awaited.append(client.number)
            body = json.dumps({"seq": client.number, "type": "request", **request}).encode()
            client.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        client.number = PROBE
        last = client.send("disconnect")
        seen = []
        while True:
            message = client.next()
            if message["type"] == "response":
                seen.append(message["request_seq"])
                assert message["success"] or message["message"]
                assert "a bug in refmlc" not in message.get("message", ""), message
            if seen[-1:] == [last]:
                break
        assert [number for number in seen if number and number != last] == awaited
        thread.join(60)
        assert not thread.is_alive()
        return len(awaited)
    finally:
        client.close()
