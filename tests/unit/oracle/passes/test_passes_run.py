"""The process that TVM runs in: it dies, is late, refuses, is started again. By a script that speaks as ours does."""

import json
import sys

import pytest

from refmlc.diag import RefmlcError
from refmlc.oracle.outcome import Kind
from refmlc.oracle.passes import PassTrace, Stage, TvmPasses, check, run, snapshots
from refmlc.oracle.passes.stages import ENDED, read_trace

STAND_IN = """#!{python}
import json, os, signal, sys, time
os.chdir(json.loads(sys.stdin.readline())["folder"])
print(json.dumps({{"name": "tvm 0.0", "passes": True}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    with open(request["file"], "w") as lines:
        lines.write(json.dumps({{"name": "input", "text": request["module"]}}) + "\\\\n")
        if request["module"] == "cut":
            lines.write('{{"name": "half')
        if request["module"] == "fine":
            lines.write(json.dumps({{"done": True}}) + "\\\\n")
    match request["module"]:
        case "dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "late":
            time.sleep(60)
        case "child dies" | "cut":
            print(json.dumps({{"stop": "crashed", "message": "the process was killed by SIGFPE"}}), flush=True)
        case "child late":
            print(json.dumps({{"stop": "timed out", "message": "no answer"}}), flush=True)
        case "unknown pass":
            print(json.dumps({{"stop": "rejected", "message": "TVM has no pass `x`"}}), flush=True)
        case _:
            print(json.dumps({{"ok": True}}), flush=True)
"""


@pytest.fixture
def python(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "GRACE", 0.1)
    path = tmp_path / "python"
    path.write_text(STAND_IN.format(python=sys.executable).replace("\\\\n", "\\n"), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_what_was_written_is_kept_and_the_next_module_is_taken(python):
    with TvmPasses(python, seconds=0.5) as tvm:
        assert tvm.name == "tvm 0.0"
        for module, stopped in {
            "fine": "",
            "dies": f"{ENDED}: the process was killed by SIGSEGV",
            "child dies": f"{ENDED}: the process was killed by SIGFPE",
            "cut": f"{ENDED}: the process was killed by SIGFPE",
            "late": "the compiler did not end within 0.5 s",
            "child late": "the compiler did not end within 0.5 s",
        }.items():
            trace = tvm(module)
            assert (trace.stages, trace.stopped) == ((Stage("input", module),), stopped)
            if stopped:
                assert trace.kind is (Kind.HUNG if "did not end" in stopped else Kind.COMPILER_ERROR)
            assert tvm("fine").stopped == ""
    assert snapshots("fine", python=python).stopped == ""


def test_the_pass_that_ran_when_the_compiler_ended_is_told():
    first = json.dumps({"name": "input", "text": "m"})
    lines = [first, *(json.dumps({"within": name}) for name in ("a.Outer", "a.Inner"))]
    assert read_trace(lines).stopped == f"in `a.Inner`: {ENDED}"
    assert read_trace([*lines, '{"within": "a.Outer"}', '{"refused": "why"}']).stopped == "in `a.Outer`: why"
    assert read_trace([*lines, '{"within": ""}', '{"refused": "why"}']).stopped == "why"
    assert read_trace([*lines, '{"within": ""}', '{"done": true}']).stopped == ""


@pytest.mark.parametrize(
    ("marks", "kind"),
    [({}, Kind.REFUSED), ({"fault": True}, Kind.COMPILER_ERROR), ({"fault": False, "declared": True}, Kind.NOT_TAKEN)],
)
def test_how_the_compiler_refused_is_told(marks, kind):
    lines = [json.dumps({"name": "input", "text": "m"}), json.dumps({"refused": "why", **marks})]
    assert read_trace(lines).kind is kind
    chosen = Kind.NOT_TAKEN if kind is Kind.NOT_TAKEN else Kind.PRECONDITION
    assert read_trace(lines, chosen=True).kind is chosen


def test_nobody_knows_whether_a_file_without_a_last_line_is_whole():
    assert read_trace([json.dumps({"name": "input", "text": "m"})]).kind is Kind.UNSUPPORTED


MODULE = """
@T.prim_func
def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        B[i] = A[INDEX]
"""


@pytest.mark.parametrize(
    ("kind", "index", "code"),
    [
        (Kind.REFUSED, "i", "RM707"),
        (Kind.COMPILER_ERROR, "i", "RM708"),
        (Kind.HUNG, "i", "RM704"),
        (Kind.NOT_TAKEN, "i", None),
        (Kind.PRECONDITION, "i", None),
        (Kind.UNSUPPORTED, "i", None),
        (Kind.COMPILER_ERROR, "i + 1", None),  # undefined: nothing was promised
    ],
)
def test_a_compiler_that_stops_on_a_defined_module_is_a_finding(kind, index, code):
    trace = PassTrace((Stage("input", MODULE.replace("INDEX", index)),), "in `Lower`: killed by SIGABRT", kind)
    checked = check(trace)
    assert (checked.failure and checked.failure.code.id) == code
    assert "in `Lower`: killed by SIGABRT" in str(checked)


def test_a_pass_that_is_not_there_is_a_mistake_of_the_user(python):
    with TvmPasses(python, seconds=5) as tvm, pytest.raises(RefmlcError) as caught:
        tvm("unknown pass")
    assert (caught.value.code.id, caught.value.diagnostic.message) == ("RM112", "TVM has no pass `x`")


@pytest.mark.parametrize("place", ["/no/such/python", sys.executable])
def test_a_python_without_tvm(place):
    with pytest.raises(RefmlcError) as caught:
        TvmPasses(place)
    assert caught.value.code.id == "RM112"
    assert place in caught.value.diagnostic.message
