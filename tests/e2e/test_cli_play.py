"""`refmlc play`: its answers, and requests of those who are not its page."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.cli.playground import door, examples, server

ROOT = Path(__file__).parents[2]
EVIL = "</script><img src=x onerror=alert(1)>"
SHIFT = """@T.prim_func
def shift(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i + 1]
"""
FOREVER = """@T.prim_func
def forever(A: T.Buffer((1,), "int32")):
    while A[0] == A[0]:
        A[0] = A[0]
"""
PRINTS = """@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    _ = R.print(x, format="hello {}")
    return x
"""
LARGE = """@T.prim_func
def large(A: T.Buffer((1,), "int32")):
    B = T.alloc_buffer((1 << 40,), "int32")
    B[0] = A[0]
"""


class Client:
    """A client of a running server, which can send whatever it likes."""

    def __init__(self, playground):
        self.playground = playground
        self.token = playground.door.token

    def send(self, method, path, body=None, **headers):
        """The status, the headers and the text of the answer; an empty `Host` is not sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.playground.server_port, timeout=100)
        given = {"Host": self.playground.door.host} | {name.replace("_", "-"): text for name, text in headers.items()}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, text in given.items():
            for each in [text] if isinstance(text, str) else text:
                connection.putheader(name, each)
        if body is not None and "Content-Length" not in given and "Transfer-Encoding" not in given:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, dict(response.getheaders()), text

    def post(self, data, **headers):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        return self.send("POST", f"/{self.token}/ask", body, **{"Content_Type": "application/json"} | headers)

    def ask(self, **request):
        status, _, text = self.post(request)
        assert status == 200, text
        return json.loads(text)


@pytest.fixture(scope="module")
def client():
    with running(server.Playground()) as playground:
        yield Client(playground)


class running:  # noqa: N801 - it reads as a word
    """A server in a thread."""

    def __init__(self, playground):
        self.playground = playground
        self.thread = threading.Thread(target=playground.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self.playground

    def __exit__(self, *_):
        self.playground.shutdown()
        self.thread.join()
        self.playground.server_close()


def test_a_finding_has_its_line_and_the_trace_is_of_its_call(client):
    reply = client.ask(do="check", module=SHIFT)
    assert (reply["ok"], [finding["code"] for finding in reply["findings"]]) == (False, ["RM304"])
    assert reply["marks"] == [{"line": 4, "message": reply["marks"][0]["message"]}]
    assert reply["marks"][0]["message"].startswith("RM304: ")
    assert reply["columns"][0] == "function"
    assert reply["rows"][0][:2] == ["shift", "meaning"]
    assert [(each["function"], [row[0] for row in each["buffers"]]) for each in reply["layout"]] == [
        ("shift", ["A", "B"])
    ]
    assert reply["layout"][0]["loops"] == ["i: 3 iterations"]
    place = client.ask(do="trace", module=SHIFT)["trace"]
    status, headers, page = client.send("GET", f"/{client.token}/{place}")
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'; ")
    assert "Undefined RM304" in page


def test_a_call_can_be_chosen_for_the_trace(client):
    calls = client.ask(do="check", module=SHIFT.replace("i + 1", "i"))["calls"]
    assert len(calls) > 1
    assert "trace" in client.ask(do="trace", module=SHIFT.replace("i + 1", "i"), call=1)
    none = client.ask(do="trace", module=SHIFT.replace("i + 1", "i"), call=len(calls))
    assert none["error"]["code"] == "RM112"


def test_what_cannot_be_read_marks_its_line(client):
    reply = client.ask(do="check", module="@T.prim_func\ndef f(:\n")
    assert (reply["error"]["code"], [mark["line"] for mark in reply["marks"]]) == ("RM101", [2])


def test_a_program_that_prints_does_not_answer_for_the_worker(client):
    reply = client.ask(do="check", module=PRINTS)
    assert reply["summary"].startswith("1 function, ")
    assert "hello" in client.ask(do="trace", module=PRINTS)["printed"]


def test_a_graph_is_a_picture(client):
    reply = client.ask(do="check", module=PRINTS)
    assert reply["layout"][0]["graph"].startswith("<svg ")


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda example: example.title)
def test_an_example_shows_what_its_title_says(example, client):
    reply = client.ask(do="check", module=example.text())
    code = example.title.partition(":")[0]
    assert "error" not in reply
    assert code in [finding["code"] for finding in reply["findings"]] or not code.startswith("RM")


def test_a_module_is_data(client, tmp_path):
    target = tmp_path / "pwned"
    for text in (
        f"import os\nos.system('touch {target}')\n",
        f"__import__('pathlib').Path({str(target)!r}).touch()\n{SHIFT}",
        f'@T.prim_func\ndef f():\n    T.evaluate(T.call_packed("os.system", "touch {target}"))\n',
    ):
        reply = client.ask(do="check", module=text)
        assert "summary" in reply
    assert not target.exists()


def test_a_module_without_an_end_and_one_without_a_bound_use_up_a_budget(client):
    forever, large = client.ask(do="check", module=FOREVER), client.ask(do="check", module=LARGE)
    assert "exhausted" in forever["text"]
    assert "RM603" in large["text"]
    assert client.ask(do="check", module=SHIFT)["findings"]


def test_a_worker_that_is_late_is_killed_and_the_next_request_gets_another():
    owner = server.Owner(seconds=0.2)  # less than it takes to start
    reply = owner.ask({"do": "check", "module": SHIFT})
    assert reply["error"]["code"] == "RM605"
    assert not owner._worker.alive
    owner._seconds = 60.0
    assert owner.ask({"do": "check", "module": SHIFT})["findings"][0]["code"] == "RM304"
    owner.close()


def test_a_worker_that_dies_is_an_answer():
    owner = server.Owner(memory=64 << 20)  # less than Python with NumPy takes
    reply = owner.ask({"do": "check", "module": SHIFT})
    assert (reply["ok"], reply["error"]["kind"]) == (False, "Internal")
    owner.close()


STRANGERS = {
    "a name that leads to loopback": (421, {"Host": "evil.example:{port}"}),
    "localhost, which was not printed": (421, {"Host": "localhost:{port}"}),
    "another port": (421, {"Host": "127.0.0.1:1"}),
    "no host": (421, {"Host": []}),
    "two hosts": (421, {"Host": ["127.0.0.1:{port}", "evil.example"]}),
    "another page": (403, {"Origin": "http://evil.example"}),
    "a frame without an origin": (403, {"Origin": "null"}),
    "another server of the machine": (403, {"Origin": "http://127.0.0.1:1"}),
    "a form": (415, {"Content_Type": "text/plain"}),
    "a form with fields": (415, {"Content_Type": "application/x-www-form-urlencoded"}),
    "chunks": (411, {"Transfer_Encoding": "chunked"}),
    "no length": (411, {"Content_Length": []}),
    "a length that is none": (411, {"Content_Length": "-1"}),
    "two lengths": (411, {"Content_Length": ["2", "2"]}),
    "a long body, of which nothing is sent": (413, {"Content_Length": str(1 << 21)}),
    "a length of many digits": (413, {"Content_Length": "9" * 4000}),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_is_refused(name, client):
    status, headers = STRANGERS[name]
    port = str(client.playground.server_port)
    filled = {
        key: [each.replace("{port}", port) for each in text] if isinstance(text, list) else text.replace("{port}", port)
        for key, text in headers.items()
    }
    if name.startswith("a long body"):
        told = client.send("POST", f"/{client.token}/ask", None, Content_Type="application/json", **filled)
    else:
        told = client.post({"do": "check", "module": SHIFT}, **filled)
    assert told[0] == status
    assert client.token not in told[2]


@pytest.mark.parametrize(
    "path", ["/", "/{token}", "/x{token}/", "/{half}/", "//", "/{token}/../", "/{token}/ask", "/{token}/trace/x",
             "/{token}/trace/999", "/{token}/?x", "http://evil.example/{token}/", "/%7Btoken%7D/", "/\xe9/"],
)  # fmt: skip
def test_another_address_is_none(path, client):
    filled = path.replace("{token}", client.token).replace("{half}", client.token[:20])
    for method in ("GET", "POST"):
        if (method, path) == ("POST", "/{token}/ask"):
            continue
        line = f"{method} {filled} HTTP/1.0\r\nHost: {client.playground.door.host}\r\n\r\n"
        answer = raw(client, line.encode("latin-1"))
        assert answer.startswith(b"HTTP/1.0 404 "), (method, answer[:80])
        assert client.token.encode() not in answer


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe\x00rubbish", b"[" * 100_000, b"[]", b"{}", b'{"do": "run", "module": ""}', b'{"do": "check"}',
     b'{"do": "check", "module": 1}', b'{"do": "check", "module": "", "path": "/etc/passwd"}',
     b'{"do": "trace", "module": "", "call": true}', b'{"do": "check", "module": "\\ud800"}'],
)  # fmt: skip
def test_rubbish_is_no_request(body, client):
    assert client.post(body)[0] == 400


def test_a_module_that_is_too_long_is_refused(client):
    assert client.post({"do": "check", "module": "#" * (door.LONGEST_MODULE + 1)})[0] == 413


def raw(client, data):
    """The answer to bytes; empty: the connection was closed."""
    with socket.create_connection(("127.0.0.1", client.playground.server_port), timeout=30) as connection:
        connection.sendall(data)
        with suppress(OSError):  # the server may have closed it already
            connection.shutdown(socket.SHUT_WR)
        pieces = []
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def test_bytes_that_are_no_http_do_not_stop_the_server(client):
    for data in (b"\x00\xff" * 500, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100_000, b"GET / HTTP/1.0\r\nx" * 200):
        assert b" 200 " not in raw(client, data)[:20]
    assert client.send("GET", f"/{client.token}/")[0] == 200


def test_a_client_that_says_nothing_does_not_stop_the_server_and_many_are_turned_away(client):
    silent = [socket.create_connection(("127.0.0.1", client.playground.server_port)) for _ in range(4)]
    try:
        assert client.send("GET", f"/{client.token}/")[0] == 200
        silent += [socket.create_connection(("127.0.0.1", client.playground.server_port)) for _ in range(20)]
        turned = 0
        for each in silent[server.MOST_CLIENTS :]:
            each.settimeout(5)
            try:
                turned += each.recv(1) == b""
            except ConnectionResetError:
                turned += 1
        assert turned == len(silent) - server.MOST_CLIENTS
    finally:
        for each in silent:
            each.close()
    deadline = time.monotonic() + 20
    while not (is_served := answers(client)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert is_served


def answers(client):
    """Whether the page is sent: for a moment there is no room for another client."""
    try:
        return client.send("GET", f"/{client.token}/")[0] == 200
    except (ConnectionError, http.client.HTTPException):
        return False


def test_the_page_may_ask_its_server_and_run_its_script_and_nothing_else(client):
    status, headers, text = client.send("GET", f"/{client.token}/")
    policy = headers["Content-Security-Policy"]
    assert status == 200
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline'; script-src 'sha256-" in policy
    assert headers["Referrer-Policy"] == "no-referrer"  # the address has the token
    assert headers["Cache-Control"] == "no-store"
    assert client.token not in text
    assert "http://" not in text.replace("http://www.w3.org/", "")


def test_only_loopback_is_served(client):
    assert client.playground.socket.getsockname()[0] == "127.0.0.1"


def test_tokens_differ_and_are_long():
    tokens = {door.PlayDoor(1).token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 43  # 256 bits in base64


def test_a_port_that_is_taken_is_one_message():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = CliRunner().invoke(main, ["play", "--port", str(port)])
    assert told.exit_code == 2
    assert told.stderr.splitlines()[0].startswith(f"error[RM112]: port {port} of loopback is not free: ")
    assert "Traceback" not in told.output


def started(*words):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "refmlc", "play", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def test_ctrl_c_ends_the_command_and_its_worker():
    process = started("--json")
    address = json.JSONDecoder().decode("".join(iter(process.stdout.readline, "}\n")) + "}")
    connection = http.client.HTTPConnection("127.0.0.1", address["port"], timeout=60)
    path = address["url"].partition(str(address["port"]))[2]
    body = json.dumps({"do": "check", "module": SHIFT})
    connection.request("POST", f"{path}ask", body, {"Content-Type": "application/json"})
    assert json.loads(connection.getresponse().read())["findings"][0]["code"] == "RM304"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = [int(pid) for pid in children.read_text().split()] if children.exists() else []
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert address["url"] not in error
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
