"""`refmlc mcp`, driven by the client of the official SDK: over the standard streams, over loopback, in the process."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from needs import imported

from refmlc.cli import main
from refmlc.cli.mcp import _server
from refmlc.cli.mcp_tools import MOST_SESSIONS, tools

mcp = imported("mcp")
anyio = imported("mcp", "anyio")
stdio_client = imported("mcp", "mcp.client.stdio").stdio_client
ROOT = Path(__file__).parents[2]
SHIFT = """
@T.prim_func
def shift(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i + 1]
"""
COPY = SHIFT.replace("i + 1", "i")
TWICE = COPY.replace("A[i]", "A[i] + A[i]")
PRINTS = """
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    _ = R.print(x, format="hello {}")
    return x
"""
REVERSED = COPY.replace("B[i] = A[i]", "B[2 - i] = A[2 - i]")
DOUBLE = COPY.replace("A[i]", "A[i] * T.float32(2)")


def asked(server, *calls):
    """The structured answers of a server to calls, in order, in one session."""

    async def talk():
        async with mcp.Client(server) as client:
            return [(await client.call_tool(name, arguments)) for name, arguments in calls]

    return anyio.run(talk)


def answers(*calls):
    return [result.structured_content for result in asked(_server(), *calls)]


def stdio():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return mcp.StdioServerParameters(command=sys.executable, args=["-m", "refmlc", "mcp"], env=environment)


def test_a_client_over_the_standard_streams_gets_verdicts():
    async def talk():
        async with stdio_client(stdio()) as (reader, writer), mcp.ClientSession(reader, writer) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            await session.call_tool("check", {"module": PRINTS, "calls": 1})
            return names, await session.call_tool("check", {"module": SHIFT, "calls": 2})

    names, result = anyio.run(talk)
    assert names == [*tools()]
    assert not result.is_error
    answer = result.structured_content
    assert (answer["ok"], [finding["code"] for finding in answer["findings"]]) == (False, ["RM304"])
    assert "B[i] = A[i + 1]" in answer["text"]


def test_check_tells_what_is_right_and_what_cannot_be_read():
    right, broken = answers(("check", {"module": COPY, "calls": 2}), ("check", {"module": "@T.prim_func\ndef f(:"}))
    assert right["ok"] is True
    assert broken["error"]["code"] == "RM101"
    assert "error[RM101]" in broken["text"]


def test_prove_and_explain():
    proved, refuted, defined, code, rule = answers(
        ("prove", {"before": COPY, "after": REVERSED}),
        ("prove", {"before": COPY, "after": DOUBLE}),
        ("prove", {"before": COPY}),
        ("explain", {"code": "rm304"}),
        ("explain", {"code": "TIR-006"}),
    )
    assert proved["verdict"] == "proved"
    assert refuted["verdict"] == "refuted"
    assert "error[RM705]" in refuted["text"]
    assert defined["verdict"] == "proved" or "z3" in defined["text"]
    assert code["clause"] == "TIR-006"
    assert rule["text"].startswith("TIR-006 (")


def test_why_goes_back_to_the_inputs():
    (answer,) = answers(("why", {"module": TWICE, "element": "B[1]", "inputs": {"A": "iota"}}))
    assert "A[1]" in answer["text"]
    assert "2" in answer["text"]


def test_the_debugger_steps_back_and_inspects():
    start, *rest = answers(
        ("debug_start", {"module": SHIFT, "inputs": {"A": "iota"}}),
        ("debug_move", {"session": 1, "how": "continue"}),
        ("debug_inspect", {"session": 1, "expression": "i"}),
        ("debug_inspect", {"session": 1, "expression": "B"}),
        ("debug_move", {"session": 1, "how": "back", "count": 1}),
        ("debug_inspect", {"session": 1, "expression": "i"}),
        ("debug_inspect", {"session": 1}),
        ("debug_end", {"session": 1}),
        ("debug_move", {"session": 1}),
    )
    assert (start["session"], start["reason"]) == (1, "entry")
    failed, at_failure, tensor, back, before, names, ended, gone = rest
    assert failed["reason"] == "failure"
    assert "error[RM304]" in failed["text"]
    assert at_failure["text"].startswith("2")
    assert "1" in tensor["text"]
    assert back["moment"] < failed["moment"]
    assert before["text"].startswith("1")
    assert "A = " in names["text"]
    assert "closed" in ended["text"]
    assert gone["error"]["code"] == "RM112"


def test_the_debugger_knows_threads():
    text = "@T.prim_func\ndef f(A: T.Buffer((64,), 'int32')):\n" + "".join(
        f"    {line}\n"
        for line in (
            "T.device_entry()",
            "b = T.cta_id([1])",
            "t = T.thread_id([64])",
            "if t != 40:",
            "    T.cuda.cta_sync()",
        )
    )
    _, none, failed, threads, value, back, before, wrong = answers(
        ("debug_start", {"module": text, "inputs": {"A": "iota"}}),
        ("debug_threads", {"session": 1}),
        ("debug_move", {"session": 1, "how": "continue"}),
        ("debug_threads", {"session": 1}),
        ("debug_inspect", {"session": 1, "expression": "t", "thread": 41}),
        ("debug_move", {"session": 1, "how": "back", "thread": 7}),
        ("debug_threads", {"session": 1}),
        ("debug_move", {"session": 1, "how": "over", "thread": 7}),
    )
    assert none["text"] == "no threads take turns here"
    assert "thread 40 has not come" in failed["text"]
    assert "63 of 64 threads have come" in threads["text"]
    assert "barrier 0: 63 of 64 arrivals" in threads["text"]
    assert value["text"] == "41"
    assert "thread = 7" in back["text"]
    assert "> 7 " in before["text"]
    assert wrong["error"]["code"] == "RM112"


@pytest.mark.parametrize("value", ["/etc/passwd", "x.npy", "ones; rm", "__import__('os')", "True", "1+2j", "(1)"])
def test_arguments_are_no_files_and_no_code(value, tmp_path):
    for name, more in (("why", {"element": "B[0]"}), ("debug_start", {})):
        (answer,) = answers((name, {"module": COPY, "inputs": {"A": value}, **more}))
        assert answer["error"]["code"] == "RM112"
        assert "arguments are zeros, ones, iota, normal(SEED) or a number" in answer["text"]


def test_the_name_of_an_argument_is_no_file():
    (answer,) = answers(("why", {"module": COPY, "inputs": {"A=x.npy": "1"}, "element": "B[0]"}))
    assert answer["error"]["code"] == "RM112"
    assert "`A=x.npy` is no name of an argument" in answer["text"]


def test_a_text_is_not_executed(tmp_path):
    target = tmp_path / "pwned"
    text = f"import pathlib\npathlib.Path({str(target)!r}).touch()\n{COPY}"
    answers(("check", {"module": text, "calls": 1}), ("debug_start", {"module": text, "inputs": {"A": "ones"}}))
    assert not target.exists()


def test_budgets_hold():
    endless = COPY.replace("range(3)", "range(1000000000)").replace("B[i] = A[i]", "B[0] = A[0]")
    begin = time.monotonic()
    (answer, long, many, moves) = answers(
        ("check", {"module": endless, "calls": 1}),
        ("check", {"module": "#" * 300_000}),
        ("check", {"module": COPY, "calls": 1000}),
        ("debug_move", {"session": 1, "count": 10**9}),
    )
    assert time.monotonic() - begin < 120
    assert [finding["code"] for finding in answer.get("findings", [])] in ([], ["RM704"])
    assert long["error"]["code"] == "RM604"
    assert many["error"]["code"] == "RM112"
    assert moves["error"]["code"] == "RM112"


def test_old_sessions_make_room():
    starts = [("debug_start", {"module": COPY, "inputs": {"A": "ones"}})] * (MOST_SESSIONS + 1)
    *_, first, last = answers(
        *starts, ("debug_inspect", {"session": 1}), ("debug_inspect", {"session": MOST_SESSIONS + 1})
    )
    assert first["error"]["code"] == "RM112"
    assert "error" not in last


def test_text_of_a_program_is_cleaned():
    (answer,) = answers(("check", {"module": "@T.prim_func\ndef f():\n    T.evaluate(T.call_packed('\\x1b[31m'))\n"}))
    assert "\x1b" not in answer["text"]


def test_wrong_arguments_are_an_error_of_the_tool():
    (result,) = asked(_server(), ("check", {"text": COPY}))
    assert result.is_error


def test_http_is_served_on_loopback_alone():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "refmlc", "mcp", "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        (result,) = asked(f"http://127.0.0.1:{port}/mcp", ("explain", {"code": "RM304"}))
        assert result.structured_content["clause"] == "TIR-006"
        listening = [
            line.split()[1]
            for line in Path("/proc/net/tcp").read_text().splitlines()
            if f":{port:04X} " in line and " 0A " in line
        ]
        assert listening == [f"0100007F:{port:04X}"]
    finally:
        process.terminate()
        process.wait(30)


def test_the_tools_are_listed_as_data():
    told = CliRunner().invoke(main, ["mcp", "--json"])
    assert told.exit_code == 0
    assert [tool["name"] for tool in json.loads(told.stdout)["tools"]] == [*tools()]
