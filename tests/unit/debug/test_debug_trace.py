"""The trace of a run: events counted by hand, tensors from stores alone, sampling, schema, Perfetto, text that is text.

`scale` has for each i of 3 an iteration, a block, a load and a store: 12 events, and a call and a return around them.
`main` has three bindings (two calls, one product of TIR that traps), each with a beginning and an end.
"""

import json
import sys
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main as command
from refmlc.debug import Program
from refmlc.debug.tensors import initialised
from refmlc.debug.trace import as_data, as_perfetto, read_data, record
from refmlc.debug.trace.page import framed, page
from refmlc.debug.trace.record import copies
from refmlc.debug.trace.replay import elements, replay
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled, rolled_module

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n"
SCALE = f"""{HEAD}
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scale(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        y = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((3,), "float32"))
        z = R.call_tir(cls.scale, (y,), out_ty=R.Tensor((3,), "float32"))
        return z
"""
BEYOND = f"""{HEAD}
@T.prim_func(s_tir=True)
def beyond(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(4):
        B[i] = A[i]
"""
SUM = f"""{HEAD}
@T.prim_func(s_tir=True)
def total(A: T.Buffer((100,), "float32"), B: T.Buffer((1,), "float32")):
    B[0] = T.float32(0)
    for i in range(100):
        B[0] = B[0] + A[i]
"""
EVIL = '</script><script>document.title = "bad"</script><img src=x onerror=alert(1)>'
ONE = ["call", *["iter", "block", "load", "store"] * 3, "return"]


def traced(text, args, func="main", **options):
    return record(Program(refmlc.read(text), func, args), **options)


def scaled():
    return traced(SCALE, [np.array([1, 2, 3], np.float32)])


def total(values, **options):
    return traced(SUM, [np.asarray(values, np.float32), Tensor.empty((1,), FLOAT32)], "total", **options)


def kinds(trace):
    return [trace.sites[site].kind.value for site in trace.site]


def test_events_are_those_of_the_run_in_order():
    assert kinds(scaled()) == ["call", "bind", *ONE, "bound", "bind", *ONE, "bound", "return"]
    assert scaled().counts == {
        "call": 3, "return": 3, "bind": 2, "bound": 2, "iter": 6, "block": 6, "load": 6, "store": 6,
    }  # fmt: skip


def test_an_event_has_its_value_and_its_place():
    trace = scaled()
    seen = list(zip(kinds(trace), trace.value, (trace.sites[site].span for site in trace.site), strict=True))
    assert [value for kind, value, _ in seen if kind == "store"] == [2, 4, 6, 4, 8, 12]
    assert [value for kind, value, _ in seen if kind == "load"] == [1, 2, 3, 2, 4, 6]
    assert [value for kind, value, _ in seen if kind == "iter"] == [0, 1, 2, 0, 1, 2]
    assert {span.line for kind, _, span in seen if kind in ("load", "store")} == {12}
    assert list(trace.ints) == [0, 1, 2, 0, 1, 2]


def test_bindings_have_statistics():
    first, second = scaled().bindings
    assert (first.name, first.least, first.greatest, first.mean) == ("y", 2.0, 6.0, 4.0)
    assert (second.name, second.count, second.known, second.nan, second.inf) == ("z", 3, 3, 0, 0)


def test_the_tensors_of_each_moment_follow_from_contents_and_stores():
    trace = scaled()
    stores = [event for event, kind in enumerate(kinds(trace)) if kind == "store"]
    names = dict(trace.calls[1].tensors)
    before, after = replay(trace, stores[1]), replay(trace, stores[1] + 1)
    assert elements(trace, names["A"], after) == [1, 2, 3]
    assert elements(trace, names["B"], before) == [2, None, None]
    assert elements(trace, names["B"], after) == [2, 4, None]
    assert elements(trace, dict(trace.calls[0].tensors)["y"], replay(trace)) == [2, 4, 6]


def test_a_run_that_is_undefined_is_there_up_to_where_it_ends():
    args = [np.array([1, 2, 3], np.float32), Tensor.empty((3,), FLOAT32)]
    trace = traced(BEYOND, args, "beyond")
    assert kinds(trace) == ["call", *["iter", "load", "store"] * 3, "iter", "fail"]
    assert trace.failure is not None
    assert trace.failure.code.id == "RM304"
    assert trace.sites[trace.site[-1]].span.line == 8
    assert as_data(trace)["failure"]["kind"] == "Undefined"
    assert "RM304" in page(trace)


def test_a_trace_that_is_whole_says_nothing_of_sampling():
    trace = total(range(100))
    assert (len(trace), trace.sampled, trace.sampling_note(), len(trace.steps)) == (trace.total, False, "", 0)
    # a call, a store, 100 times an iteration, two loads and a store, a return
    assert trace.total == 1 + 1 + 400 + 1


def test_a_trace_that_is_sampled_says_so_and_keeps_what_matters():
    values = np.ones(100)
    values[37] = np.inf
    values[61] = -np.inf  # inf - inf
    trace = total(values, max_events=60)
    assert len(trace) <= 60
    assert trace.total == 403
    assert f"{len(trace)} of 403 events" in trace.sampling_note()
    assert trace.counts["store"] == 101
    steps = [trace.step(event) for event in range(len(trace))]
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (0, 402)
    # step 2 + 4 i is iteration i, whose store is 3 later
    assert (trace.first_inf, trace.first_nan) == (2 + 4 * 37 + 3, 2 + 4 * 61 + 3)
    assert {trace.first_inf, trace.first_nan, 2 + 4 * 99 + 3} <= set(steps)
    assert trace.sampling_note() in page(trace)
    assert as_data(trace)["sampling"] == trace.sampling_note()


def test_after_a_sampled_call_its_tensors_are_what_they_are():
    trace = total(np.arange(100), max_events=40)
    assert trace.sampled
    assert elements(trace, dict(trace.calls[0].tensors)["B"], replay(trace)) == [4950.0]


def test_a_kept_element_stands_in_its_own_iteration():
    trace = total(np.arange(100), max_events=80)
    iteration = None
    for event, kind in enumerate(kinds(trace)):
        if kind == "iter":
            iteration = trace.value[event]
        if kind == "load" and trace.sites[trace.site[event]].name == "A":
            assert trace.value[event] == iteration  # A[i] is i


def final(value):
    """The elements of a tensor in row-major order; None: not initialised."""
    mask = initialised(value).reshape(-1)
    with np.errstate(all="ignore"):  # what was not written may be anything
        flat = np.asarray(value.numpy()).astype(np.float64).reshape(-1)
    return [float(x) if known else None for x, known in zip(flat, mask, strict=True)]


def tensors(value):
    """The tensors in a value, as a trace numbers them."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from tensors(one)


def same(found, wanted):
    return [repr(x) for x in found] == [repr(x) for x in wanted]


@pytest.mark.parametrize("most", [1_000_000, 50])
@pytest.mark.parametrize("make", [rolled, rolled_module])
def test_stores_alone_give_the_tensors_that_an_unwatched_run_leaves(make, most):
    checked = 0
    for seed in range(12):
        case = make(seed)
        program = Program(case.module, case.func, list(case.arguments()), output=len)
        args = copies(program.args)
        try:
            Machine(program.module, output=len).call(case.func, args)
        except RefmlcError:
            continue
        trace = record(program, max_events=most)
        state = replay(trace)
        given = list(tensors(args))
        for (_, row), arg in zip(trace.calls[0].tensors, given, strict=False):
            if arg.dtype.lanes == 1 and arg.dtype.kind in ("float", "int", "uint", "bool") and arg.dtype.bits >= 8:
                assert same(elements(trace, row, state), final(arg)), (seed, row)
                checked += 1
    assert checked >= 12


def schema():
    return json.loads((files("refmlc.debug.trace") / "schema.json").read_text(encoding="utf-8"))


def samples():
    beyond = traced(BEYOND, [np.array([1, 2, 3], np.float32), Tensor.empty((3,), FLOAT32)], "beyond")
    return [scaled(), beyond, total(np.arange(100), max_events=40)]


@pytest.mark.parametrize("trace", samples(), ids=["whole", "undefined", "sampled"])
def test_the_data_are_as_the_schema_says_and_come_back(trace):
    text = json.dumps(as_data(trace), allow_nan=False)
    data = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    validator.validate(data)
    for name in data:
        assert not validator.is_valid({key: value for key, value in data.items() if key != name})
    again = read_data(text)
    assert again.value.tobytes() == trace.value.tobytes()
    assert json.loads(json.dumps(as_data(again))) == data | {"failure": None}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "refmlc-trace", "version": 99}'])
def test_what_is_no_trace_is_refused(text):
    with pytest.raises(RefmlcError, match="RM109"):
        read_data(text)


@pytest.mark.parametrize("trace", samples(), ids=["whole", "undefined", "sampled"])
def test_slices_for_perfetto_nest_and_are_those_of_the_events(trace):
    data = json.loads(json.dumps(as_perfetto(trace), allow_nan=False))
    open_, begun = [], 0
    times = [entry["ts"] for entry in data["traceEvents"]]
    assert times == sorted(times)
    for entry in data["traceEvents"]:
        assert entry.keys() >= {"ph", "ts", "pid", "tid", "name"}
        if entry["ph"] == "B":
            open_.append(entry["name"])
            begun += 1
        elif entry["ph"] == "E":
            assert open_.pop() == entry["name"]
    assert open_ == []
    assert begun == sum(kind in ("call", "bind", "iter", "block") for kind in kinds(trace))


def test_slices_for_perfetto_stand_where_the_program_puts_them():
    open_, seen = [], []
    for entry in as_perfetto(scaled())["traceEvents"]:
        if entry["ph"] == "B":
            open_.append(entry["name"])
        elif entry["ph"] == "E":
            open_.pop()
        elif entry["ph"] == "i" and entry["name"] == "store B":
            seen.append(" > ".join(open_))
    assert seen == [f"main > {name} > scale > i = {i} > B" for name in "yz" for i in range(3)]


class Scripts(HTMLParser):
    """Counts the elements of a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        assert not {"src", "onerror", "onload"} & {name for name, _ in attrs}


def evil():
    """A program whose name, comment and string hold markup."""
    text = SCALE.replace('T.sblock("B")', f"T.sblock({EVIL!r})").replace("class Module", f"# {EVIL}\nclass Module")
    return record(Program(refmlc.read(text, f"{EVIL}.py"), "main", [np.ones(3, np.float32)]))


def test_text_of_a_program_is_no_markup():
    parser = Scripts()
    parser.feed(page(evil()))
    assert parser.found.count("script") == 2
    assert "img" not in parser.found
    parser = Scripts()
    parser.feed(framed(evil()))
    assert parser.found == ["iframe"]


def test_in_a_notebook_it_is_the_page_in_a_frame_and_one_line(monkeypatch):
    assert scaled()._repr_html_().startswith('<iframe sandbox="allow-scripts"')
    assert repr(scaled()) == "<trace of main: 34 events>"
    sampled = total(range(100), max_events=60)
    assert repr(sampled) == f"<trace of total: 403 events, {len(sampled)} kept>"
    monkeypatch.delitem(sys.modules, "refmlc.debug.trace.page")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "refmlc[report]" in scaled()._repr_html_()


def run(folder, text, *options):
    path = folder / "prog.py"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(command, ["trace", str(path), *options])


def test_the_command_writes_each_format(tmp_path: Path):
    for form in ("html", "json", "perfetto"):
        done = run(tmp_path, SCALE, "--input", "x=ones", "--format", form, "-o", str(tmp_path / form))
        assert done.exit_code == 0, done.output
        assert "34 events" in done.output
    assert (tmp_path / "html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert read_data((tmp_path / "json").read_text(encoding="utf-8")).total == 34
    assert "traceEvents" in json.loads((tmp_path / "perfetto").read_text(encoding="utf-8"))


def test_the_command_says_that_it_samples_and_that_the_run_failed(tmp_path: Path):
    out = ("-o", str(tmp_path / "x.json"), "--format", "json")
    done = run(tmp_path, SUM, "--input", "A=ones", "--max-events", "40", *out)
    assert "sampled: " in done.output
    done = run(tmp_path, BEYOND, "--input", "A=ones", "--json", *out)
    assert done.exit_code == 1
    assert (tmp_path / "x.json").exists()
    assert "RM304" in done.output
    done = run(tmp_path, SCALE, "--input", "x=ones", "-o", str(tmp_path / "no" / "folder"))
    assert done.exit_code == 2
    assert "RM109" in done.output
