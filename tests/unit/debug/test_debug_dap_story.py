"""The story of a NaN, told to an editor: over a socket and over the standard streams, by processes of their own.

What is expected is the recorded session of the prompt (`tests/golden/debug/nan.stdout`): the same program, the same
places and numbers.
"""

import pytest
from dap_client import STORY, STORY_INPUTS, Lost, Process

ROW = ["0.05213233", "6.665076e+23", "not initialised", "not initialised"]


@pytest.fixture(params=[True, False], ids=["socket", "streams"])
def server(request):
    found = Process(port=request.param)
    yield found
    found.close()


def test_the_element_that_overflows_and_back_to_its_write(server):
    client = server.connect() if server.port else server.client
    client.launch(STORY, STORY_INPUTS, points=lambda it: it.ask("setExceptionBreakpoints", filters=["nan"]))
    stop = client.stopped()
    assert (stop["reason"], stop["text"]) == ("exception", "exp[0, 2] = inf is about to be stored")
    top = client.top()
    assert (top["name"], top["line"]) == ("block exp (vi = 0, vj = 2)", 16)
    assert client.ask("evaluate", expression="scores[vi, vj]", frameId=top["id"])["result"] == "89.043884"
    tensor = client.ask("evaluate", expression="exp", frameId=top["id"], context="hover")["variablesReference"]
    page = client.ask("variables", variablesReference=tensor, filter="indexed", start=0, count=4)["variables"]
    assert [row["value"] for row in page] == ROW
    why = client.ask("evaluate", expression="why", frameId=top["id"], context="repl")["result"]
    assert "scores[0, 2] = 89.043884" in why

    client.ask("setExceptionBreakpoints", filters=[])
    path = {"path": str(STORY)}
    condition = "total[vi] > 1e38 and exp[vi, vj] > 1e38"
    client.ask("setBreakpoints", source=path, breakpoints=[{"line": 26, "condition": condition}])
    assert client.move("continue")["reason"] == "breakpoint"
    top = client.top()
    assert client.ask("evaluate", expression="exp[vi, vj] / total[vi]", frameId=top["id"])["result"] == "nan"
    info = client.ask("dataBreakpointInfo", name="exp[0, 2]", frameId=top["id"])
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
    back = client.move("reverseContinue")
    assert (back["reason"], back["text"]) == ("data breakpoint", "exp[0, 2] = inf is about to be stored")
    assert client.top()["line"] == 16
    client.ask("disconnect")
    assert server.ends() == 0


def test_the_same_filter_comes_to_the_nan_that_the_infinities_make():
    server = Process(port=False)
    try:
        client = server.client
        client.launch(STORY, STORY_INPUTS, points=lambda it: it.ask("setExceptionBreakpoints", filters=["nan"]))
        seen = [client.stopped()["text"]]
        while not seen[-1].startswith("weights") and len(seen) < 10:
            seen.append(client.move("continue")["text"])
        made = ["exp[0, 2] = inf", "exp[1, 3] = inf", "total[0] = inf", "total[0] = inf", "total[1] = inf"]
        assert seen == [f"{text} is about to be stored" for text in (*made, "weights[0, 2] = nan")]
        frames = client.ask("stackTrace", threadId=1)["stackFrames"]
        client.ask("setExceptionBreakpoints", filters=[])
        info = client.ask("dataBreakpointInfo", name="scores[0, 2]", frameId=frames[-1]["id"])
        client.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
        assert client.move("reverseContinue")["text"].startswith("matmul[0, 2] = 89.043884 is about to be stored")
        client.ask("disconnect")
        assert server.ends() == 0
    finally:
        server.close()


def test_a_second_client_is_told_no_and_the_first_goes_on():
    server = Process(port=True)
    try:
        first = server.connect()
        first.launch(STORY, STORY_INPUTS, func="main", stopOnEntry=True)
        second = server.connect()
        assert second.refused("initialize", adapterID="refmlc") == "another client is being served"
        with pytest.raises(Lost):
            second.next()
        assert first.ask("threads")["threads"][0]["id"] == 1
        first.ask("disconnect")
        assert server.ends() == 0
    finally:
        server.close()


def test_the_socket_is_of_this_machine_only():
    from refmlc.debug.dap import listen  # noqa: PLC0415

    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


STAGES = ("connected", "initialized", "launched", "stopped", "moving", "backwards", "ended")


@pytest.mark.parametrize(
    ("port", "stage"),
    [
        pytest.param(port, stage, marks=() if number % 2 == port else pytest.mark.soak)
        for port in (True, False)
        for number, stage in enumerate(STAGES)
    ],
)
def test_a_client_that_vanishes_leaves_no_process(port, stage, tmp_path):
    endless = tmp_path / "endless.py"
    endless.write_text(ENDLESS)
    server = Process(port=port)
    try:
        client = server.connect() if server.port else server.client
        number = STAGES.index(stage)
        if number >= 1:
            client.ask("initialize", adapterID="refmlc")
        if number >= 2:
            shown = {"token": server.token} if port else {}
            client.ask("launch", program=str(endless), stopOnEntry=stage != "moving", stopAtEnd=True, **shown)
        if number >= 3:
            client.ask("configurationDone")
        if stage in ("stopped", "backwards"):
            client.stopped()
        if stage == "backwards":
            client.move("stepIn")
            moving, pausing = client.send("continue", threadId=1), client.send("pause", threadId=1)
            client.answer(moving)
            client.answer(pausing)
            client.stopped()
            client.ask("reverseContinue", threadId=1)
        if stage == "ended":
            client.stopped()
            client.ask("terminate")
        if port:
            client.close()
            if number < 2:  # it was not let in: the server waits for somebody else
                client = server.connect()
                client.launch(endless, stopOnEntry=True)
                client.close()
        else:
            server.process.stdin.close()
        assert server.ends() == 0
    finally:
        server.close()


ENDLESS = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def endless(A: T.Buffer((1,), "int32")):
    A[0] = 0
    for i in range(1000000000):
        A[0] = A[0] + 1
"""
