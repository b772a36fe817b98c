"""Who is let in over a socket: no page in a browser, no other program of this machine; and no file is executed."""

import json
import socket
from contextlib import suppress

import pytest
from dap_client import STORY, STORY_INPUTS, WAIT, Lost, Process

from refmlc.debug.dap.door import Door, new_token
from refmlc.debug.dap.framing import MOST_BYTES, encode


@pytest.fixture(scope="module")
def careful():
    server = Process(port=True)
    yield server
    server.close()


@pytest.fixture
def mark(tmp_path):
    """A file that a server must not execute; it leaves a mark beside it."""
    (tmp_path / "strange.py").write_text("import pathlib\npathlib.Path(__file__).with_name('mark').touch()\n")
    return tmp_path / "mark"


def launch(mark):
    """The arguments of a launch that executes a file."""
    return {"program": str(STORY), "inputs": list(STORY_INPUTS), "register": [str(mark.with_name("strange.py"))]}


def framed(mark, **more):
    """What drives the debugger."""
    asked = (("initialize", {"adapterID": "x"}), ("launch", {**launch(mark), **more}), ("configurationDone", {}))
    return b"".join(
        encode({"seq": number, "type": "request", "command": command, "arguments": arguments})
        for number, (command, arguments) in enumerate(asked, 1)
    )


def answers(server, sent):
    """All that the server says to these bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), WAIT) as connection:
        connection.settimeout(WAIT)
        with suppress(ConnectionError):
            connection.sendall(sent)
        said = b""
        with suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                said += part
        return said


def is_let_in(server):
    """A client with the token works; it goes by vanishing, so that the server is over."""
    client = server.connect()
    client.launch(STORY, STORY_INPUTS, func="main", stopOnEntry=True)
    return client.stopped()["reason"] == "entry"


def post(body, *headers):
    lines = ("POST / HTTP/1.1", "Host: 127.0.0.1:4711", "Origin: https://evil.example", *headers)
    head = "\r\n".join((*lines, f"Content-Length: {len(body)}", "", ""))
    return head.encode() + body


def attacks(mark):
    inner = framed(mark)
    return {
        "a page, a long body": post(b"x" * (MOST_BYTES + 1) + b"\r\n" + inner),
        "a page, a long body that begins with requests": post(inner + b"\r\n" * (MOST_BYTES // 2) + inner),
        "a page, a short body": post(inner),
        "a page, text/plain": post(inner, "Content-Type: text/plain"),
        "a page, no length": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + inner,
        "another header first": b"Origin: https://evil.example\r\n" + inner,
        "another header second": inner.replace(b"\r\n\r\n", b"\r\nOrigin: x\r\n\r\n", 1),
        "an empty line first": b"\r\n" + inner,
        "a length that is none": b"Content-Length: -3\r\n\r\n" + inner,
        "a length that is too long": b"Content-Length: %d\r\n\r\n" % (MOST_BYTES + 1) + inner,
    }


@pytest.mark.parametrize("kind", attacks(STORY))
def test_what_is_no_message_closes_the_connection(kind, careful, mark):
    assert answers(careful, attacks(mark)[kind]) == b""
    assert not mark.exists()


@pytest.mark.parametrize("token", [None, "", "x", 3, ["x"], "é"], ids=repr)
def test_another_program_without_the_token_is_not_served(token, careful, mark):
    said = answers(careful, framed(mark, **({} if token is None else {"token": token})))
    assert said.count(b'"success":true') == 1  # of initialize
    assert b'"command":"launch","message":"`token` is not the token' in said
    assert b"configurationDone" not in said
    assert not mark.exists()


def test_a_part_of_the_token_is_not_the_token(careful, mark):
    for token in (careful.token[:-1], careful.token + "x", careful.token.upper()):
        assert b'"success":false' in answers(careful, framed(mark, token=token))


@pytest.mark.parametrize(
    "command",
    ["launch", "attach", "setBreakpoints", "evaluate", "threads", "disconnect", "restart", "cancel", "nothing"],
)
def test_nothing_but_initialize_is_answered_before(command, careful):
    said = answers(careful, encode({"seq": 1, "type": "request", "command": command, "arguments": {}}))
    assert said.count(b"Content-Length") == 1
    assert b'"success":false' in said
    assert b"`token`" in said


def test_what_is_no_json_closes_too(careful):
    said = answers(
        careful, b"Content-Length: 3\r\n\r\n{{{" + encode({"seq": 1, "type": "request", "command": "threads"})
    )
    assert said.count(b"Content-Length") == 1


def test_the_server_still_lets_in_who_has_the_token(mark):
    server = Process(port=True)
    try:
        assert answers(server, attacks(mark)["a page, a long body"]) == b""
        assert b'"success":false' in answers(server, framed(mark, token=server.token[::-1]))
        assert is_let_in(server)
    finally:
        server.close()


def test_files_are_executed_only_where_the_server_allows_it(mark):
    for options, allowed in (((), False), (("--allow-register",), True)):
        server = Process(*options, port=True)
        try:
            client = server.connect()
            client.ask("initialize", adapterID="x")
            words = {**launch(mark), "func": "main", "token": server.token}
            if allowed:
                client.ask("launch", **words)
            else:
                assert "--allow-register" in client.refused("launch", **words)
            assert mark.exists() is allowed
        finally:
            server.close()


def test_tokens_are_long_and_differ():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 43  # 256 bits in base64


def test_a_door_is_opened_once_and_stays_open():
    opened = []
    door = Door("word", lambda: opened.append(1))
    assert not door.passes("threads", {"token": "word"})
    assert not any(door.passes("launch", {"token": token}) for token in ("wor", "\ud800", None, 3))
    assert door.passes("initialize", {})
    assert not door.open
    assert door.passes("launch", {"token": "word"})
    assert door.passes("threads", {})
    assert (door.open, opened) == (True, [1])


def test_who_says_nothing_is_not_waited_for(monkeypatch):
    from refmlc.debug.dap import listen, server  # noqa: PLC0415 - changed here

    monkeypatch.setattr(server, "ADMISSION", 0.2)
    with listen(0) as listening, socket.create_connection(listening.getsockname(), WAIT) as silent:
        silent.sendall(encode({"seq": 1, "type": "request", "command": "initialize", "arguments": {}}))
        assert not server._served(listening, lambda *_: None, "word", None)
        assert json.loads(silent.makefile("rb").read().split(b"\r\n\r\n", 1)[1])["success"]


def test_the_standard_streams_need_no_token():
    server = Process()
    try:
        server.client.launch(STORY, STORY_INPUTS, func="main", stopOnEntry=True)
        assert server.client.stopped()["reason"] == "entry"
        server.client.ask("disconnect")
        assert server.ends() == 0
    except Lost:
        pytest.fail("the server is gone")
    finally:
        server.close()
