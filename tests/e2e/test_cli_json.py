"""The outputs of `--json` against the schema that the documentation shows: every command has one."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import click
import jsonschema
import numpy as np
import pytest
from campaigns import FAULTY, HERE, finding_errors
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.cli.console import print_json
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.jobs import Batches
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects import builds
from refmlc.oracle.fuzz.subjects.blamed_pipeline import BlamedPass
from refmlc.oracle.fuzz.subjects.imports.torch_imports import case_of as case_of_torch
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchCall, TorchProgram
from refmlc.oracle.fuzz.subjects.passes import pass_runs
from refmlc.oracle.fuzz.subjects.primitives import staged
from refmlc.oracle.implementations.implementation import Limits
from refmlc.strategies.arguments import Array, Number, Same, ShapeOf, TupleOf, argument_data
from refmlc.strategies.case import Case
from refmlc.strategies.inputs import rolled_inputs
from refmlc.tools.bench.history import BenchRun, Measurement, Trend
from refmlc.tools.course.comparison import Pair

SCHEMA = json.loads((Path(__import__("refmlc").__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
SCALE = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i] * T.float32(2)
"""
INPUT = ("--input", "A=ones")
CAMPAIGN = ("--programs", "8", "--batch", "8", "--jobs", "1", "--shrink", "0", "--impl", "interp", "--sanitize", "0")
COMMANDS = {
    "check": ("check", "g.py", "--impl", "interp", "--calls", "2"),
    "check of several": ("check", ".", "--impl", "interp", "--calls", "1"),
    "check of what cannot be read": ("check", ".", "broken.txt", "--impl", "interp", "--calls", "1"),
    "equiv": ("equiv", "g.py", "h.py", "--calls", "2"),
    "prove": ("prove", "g.py", "h.py"),
    "show": ("show", "g.py"),
    "run": ("run", "g.py", *INPUT),
    "debug": ("debug", "g.py", *INPUT, "-c", "step"),
    "why": ("why", "g.py", "--element", "B[1]", *INPUT),
    "trace": ("trace", "g.py", *INPUT, "--format", "json", "--out", "t.json"),
    "layout": ("layout", "S[(2,2):(1@laneid,1)] + R[2:4@laneid] + 1@warpid", "--shape", "4"),
    "explain": ("explain", "RM304"),
    "explain all": ("explain",),
    "spec": ("spec", "TIR-006"),
    "spec all": ("spec",),
    "conform coverage": ("conform", "coverage"),
    "conform adapter": ("conform", "adapter", "-o", "mine"),
    "conform findings": ("conform", "findings"),
    "reduce": ("reduce", "w.py", "--code", "RM304", "--time", "2s"),
    "replay": ("replay", "w.toml"),
    "cache": ("cache",),
    "passes": ("passes", "stages.jsonl"),
    "course document": ("course", "chapters/a.md"),
    "course folder": ("course", "chapters"),
    "bench fuzz": ("bench", "fuzz", "--batches", "1", "--size", "2"),
    "bench shell": ("bench", "shell", "--rounds", "1", "--size", "2000"),
    "bench debug": ("bench", "debug", "--rounds", "1", "--size", "4"),
    "fuzz": ("fuzz", *CAMPAIGN, "--dir", "other", "--ledger", "ledger.sqlite", "--page", "page.html"),
    "fuzz of a fault": ("fuzz", "--programs", "24", "--shrink", "2", "--jobs", "1", *FAULTY, "--dir", "faulty"),
    "fuzz coverage": ("fuzz", "--dir", "campaign", "--show", "coverage"),
    "fuzz merge": ("fuzz", "merge", "campaign", "--into", "ledger.sqlite"),
    "fuzz ledger": ("fuzz", "ledger", "ledger.sqlite"),
    "fuzz merge of a fault": ("fuzz", "merge", "faulty", "--into", "faults.sqlite"),
    "fuzz ledger of a fault": ("fuzz", "ledger", "faults.sqlite"),
    "fuzz page": ("fuzz", "page", "campaign", "-o", "page.html"),
}
FAILS = ("check", "gone.py")
ELSEWHERE = {"conform": "report.json describes it", "dap": "it speaks another protocol"}
OPEN = {"conform"}  # the report has a schema of its own
MAPS = {  # their keys are names
    *("axes", "counts", "loops", "machine", "nanoseconds", "reasons", "sizes", "verdicts"),
    *("coverage", "there_is", "distinct_base_programs", "versions", "notes"),
}
CHAPTER = """
```python
1 + 1
```

```{.output}
2
```

```python
undefined
```
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    (folder / "g.py").write_text(SCALE)
    (folder / "h.py").write_text(SCALE.replace("float32(2)", "float32(3)"))
    (folder / "w.py").write_text(SCALE.replace("A[i]", "A[i + 1]"))
    (folder / "chapters").mkdir()
    (folder / "chapters" / "a.md").write_text(CHAPTER)
    (folder / "broken.txt").write_text("@T.prim_func\ndef f(:\n")
    stages = [{"name": "input", "text": SCALE}, {"name": "Wrong", "text": SCALE.replace("float32(2)", "float32(3)")}]
    (folder / "stages.jsonl").write_text("".join(json.dumps(stage) + "\n" for stage in stages))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(HERE))
        patch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
        words = ["check", "w.py", "--impl", "interp", "--calls", "1", "--case", "w.toml"]
        assert CliRunner().invoke(main, words).exit_code == 1
        words = ["fuzz", *CAMPAIGN, "--dir", "campaign", "--ledger", "ledger.sqlite"]
        assert CliRunner().invoke(main, words).exit_code == 0
        assert CliRunner().invoke(main, COMMANDS["fuzz of a fault"]).exit_code == 1
        assert CliRunner().invoke(main, COMMANDS["fuzz merge of a fault"]).exit_code == 0
    return folder


PRINTED = {}


def data_of(words, folder, monkeypatch):
    """What a command prints, which is executed once."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(HERE))
    if (folder, words) not in PRINTED:
        PRINTED[folder, words] = CliRunner().invoke(main, [*words, "--json"]).stdout
    return json.loads(PRINTED[folder, words])


def validator(name):
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def leaves(command, words):
    if isinstance(command, click.Group):
        context = click.Context(command)
        if command.invoke_without_command:
            yield words
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*words, name))
    else:
        yield words


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_command_has_a_schema():
    commands = {" ".join(words) for words in leaves(main, ()) if words}
    assert commands - set(SCHEMA["$defs"]) - set(ELSEWHERE) == {"cache clear"}  # `cache` describes both


def test_a_described_command_exists():
    commands = {" ".join(words) for words in leaves(main, ()) if words}
    references = {row["$ref"].removeprefix("#/$defs/") for row in SCHEMA["anyOf"]} - {"error"}
    groups = {name.partition(" ")[0] for name in commands}
    assert references - commands - groups == {"fuzz coverage"}  # that is `fuzz --show coverage`


def closed(node, path):
    """The objects of a schema that do not say what else may be in them."""
    if isinstance(node, dict):
        if node.get("type") == "object" and "additionalProperties" not in node:
            yield path
        for name, part in node.items():
            yield from closed(part, f"{path}/{name}")
    elif isinstance(node, list):
        for number, part in enumerate(node):
            yield from closed(part, f"{path}/{number}")


def test_every_object_says_exactly_what_is_in_it():
    left = [path for name, node in SCHEMA["$defs"].items() for path in closed(node, name)]
    assert {path.partition("/")[0] for path in left} <= OPEN


def definition_of(name):
    """The definition of the longest part of a name that has one."""
    words = name.split()
    names = (" ".join(words[:count]) for count in range(len(words), 0, -1))
    return next(each for each in names if each in SCHEMA["$defs"])


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_is_as_its_schema_says(name, folder, monkeypatch):
    data = data_of(COMMANDS[name], folder, monkeypatch)
    validator(definition_of(name)).validate(data)
    assert set(data) != {"error"}, data


def test_a_failure_is_an_error(folder, monkeypatch):
    validator("error").validate(data_of(FAILS, folder, monkeypatch))


@pytest.mark.needs("compiler")
@pytest.mark.parametrize(
    ("name", "words"),
    [("bench native", ("--tiny", "--only", "1", "--rounds", "1")), ("bench interp", ("--rounds", "1"))],
)
def test_the_output_of_a_benchmark(name, words, folder, monkeypatch):
    data = data_of((*name.split(), *words), folder, monkeypatch)
    validator(name).validate(data)
    assert_closed(validator(name), data, data)


@pytest.mark.needs("compiler")
def test_the_output_of_native(folder, monkeypatch):
    validator("native").validate(data_of(("native", "g.py"), folder, monkeypatch))


@pytest.mark.needs("z3")
def test_the_proof_of_one_program(folder, monkeypatch):
    validator("prove").validate(data_of(("prove", "g.py"), folder, monkeypatch))


@pytest.mark.parametrize(
    "name", ["check", "equiv", "show", "run", "replay", "passes", "conform coverage", "fuzz ledger"]
)
def test_the_schema_is_no_sieve(name, folder, monkeypatch):
    data = data_of(COMMANDS[name], folder, monkeypatch)
    checker = validator(name)
    for key in data:
        if key in SCHEMA["$defs"].get(name, {}).get("required", ()):
            assert not checker.is_valid({each: value for each, value in data.items() if each != key}), key
    assert not checker.is_valid({**data, "a key that nobody documents": 1})


def assert_closed(checker, data, part):
    """A key more, in whatever object of the data, is one too many; `data` is as it was afterwards."""
    if isinstance(part, list):
        for each in part[:3]:
            assert_closed(checker, data, each)
    elif isinstance(part, dict):
        part["a key that nobody documents"] = 1
        assert not checker.is_valid(data), part
        del part["a key that nobody documents"]
        for name, value in part.items():
            if name not in MAPS:
                assert_closed(checker, data, value)


CLOSED = ("bench", "course", "passes", "why", "fuzz")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith(CLOSED)])
def test_a_wrong_key_fails_wherever_it_is(name, folder, monkeypatch):
    definition = definition_of(name)
    data = data_of(COMMANDS[name], folder, monkeypatch)
    assert validator(definition).is_valid(data)
    assert_closed(validator(definition), data, data)
    if name.startswith(("bench", "course", "fuzz")):
        for key in data:
            assert not validator(definition).is_valid({each: data[each] for each in data if each != key}), key


def test_a_comparison_of_a_chapter_is_described():
    pairs = (Pair(1, 2, "equal"), Pair(2, 5, "not there", "TVM has no such name"))
    data = {"document": "a.md", "blocks": [asdict(pair) for pair in pairs]}
    validator("course comparison").validate(data)
    assert_closed(validator("course comparison"), data, data)


def test_all_benchmarks_are_described():
    slow = Measurement("native", "matmul", "NumPy", 1.0, "x", "at least", 2.0)
    absent = Measurement("native", "matmul", "TVM", None, "x", "at least", None, "there is no TVM")
    run = BenchRun("2026-01-01T00:00:00+00:00", "tiny", "0" * 40, {"processor": "one"}, (slow, absent))
    regressions = [Trend(slow, (2.0, 2.0)).as_data(), Trend(absent, ()).as_data()]
    data = {**run.as_data(), "missed": 1, "regressions": regressions}
    validator("bench all").validate(data)
    assert_closed(validator("bench all"), data, data)


def test_findings_and_what_is_left_of_them_are_in_the_outputs(folder, monkeypatch):
    findings = data_of(COMMANDS["fuzz of a fault"], folder, monkeypatch)["findings"]
    assert findings
    assert any("case" in (each["shrunk"] or {}) for each in findings)
    assert data_of(COMMANDS["fuzz ledger of a fault"], folder, monkeypatch)["rows"]


NAN = float("nan")
RECIPES = (
    Array("float32", (2,)),
    Array("float32", (2, 2), "cycle", 3, -1, 5, "strided", (4, 1), (1, 0.5, NAN), ((-1, float("-inf")), (0, 2))),
    Number("int32", 3),
    Number("float16", float("inf")),
    Same(0),
    ShapeOf((2, 3)),
    TupleOf((Array("int8", ()), TupleOf((Same(1),)))),
)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_a_recipe_of_an_argument_is_described(recipe):
    data = json.loads(json.dumps(argument_data(recipe)))
    validator("recipe").validate(data)
    assert_closed(validator("recipe"), data, data)


def record(case, kind):
    return FindingRecord("0123456789ab", "RM701", "tvm:python", "wrong", "a message", 3, 5, kind, case)


def test_findings_on_steps_are_described():
    _, trace = staged.finding_of(staged.PLANTED)
    _, order = pass_runs.finding_of(pass_runs.PLANTED, ("tirx.UnrollLoop()", "tirx.StmtSimplify()"))
    for case, kind in ((staged.case_of(trace), staged.KIND), (pass_runs.case_of(order), pass_runs.KIND)):
        assert case["before"] != case["after"]
        assert finding_errors(record(case, kind)) == []
        assert finding_errors(record({**case, "a key that nobody documents": 1}, kind))


class PlantedTvm:
    """Has the planted trace, whatever the program."""

    name = "nothing 1.0"

    def __call__(self, _text, steps):
        return staged.PLANTED if steps else staged.PassTrace(staged.PLANTED.stages[:1])


def test_a_trace_that_is_made_smaller_is_described(monkeypatch):
    monkeypatch.setattr(staged, "compiler", lambda *_: PlantedTvm())
    _, trace = staged.finding_of(staged.PLANTED)
    settings = CampaignSettings(kinds=(staged.KIND,), implementations=("tvm:python",))
    found = staged.record_of(settings, 3, "tvm:python", PlantedTvm(), trace)
    shrunk = staged.shrink_trace(settings, found, 2.0)
    assert shrunk["case"]["steps"] == ["split('B', 0, (None, 2))"]
    assert finding_errors(found, shrunk) == []


def test_a_finding_on_builds_is_described(monkeypatch):
    module, other = (read(builds.PLANTED.replace("TERM", term), "planted.py") for term in ("1", "2"))
    ways = [("opt=0", builds.PlantedBuild(module, "right")), ("target=c", builds.PlantedBuild(other, "wrong"))]
    monkeypatch.setattr(builds, "implementations", lambda *_: ways)
    monkeypatch.setattr(builds, "compiler", lambda _python, name, _limits: dict(ways)[name])
    monkeypatch.setattr(builds, "passes_of", lambda *_: None)
    line = "pass by pass: TVM stops in `tirx.LowerIntrin`"
    monkeypatch.setattr(builds, "blamed", lambda *_: BlamedPass("tirx.LowerIntrin", line))
    settings = CampaignSettings(kinds=(builds.KIND,), implementations=("tvm:python",))
    case = Case(module, "main", (rolled_inputs(module, "main", 1),))
    examination, taken = builds.examined(case, ways, Limits())
    (wrong,) = builds.wrong_builds(examination, ways, len(taken))
    found = builds.record_of(settings, 3, "python", case, wrong, ["opt=0"])
    shrunk = builds.shrink_builds(settings, found, 2.0)
    assert "case" in shrunk
    assert finding_errors(found, shrunk) == []
    assert finding_errors(found, {**shrunk, "elements": [1, 1]})


def test_a_finding_on_a_model_is_described():
    program = TorchProgram(
        (TorchCall("neg", ("x",)), TorchCall("sum", ("y0",), {"dim": [0], "keepdim": True})),
        {"c": np.array([True, False])},
        {"x": np.array([[1.5, np.nan], [np.inf, -np.inf]], "float32")},
    )
    case = case_of_torch(program, ("sum", "float32", "nan"))
    assert finding_errors(record(case, "torch-imports")) == []
    assert finding_errors(record({**case, "graph": {}}, "torch-imports"))


def test_a_batch_that_ends_its_worker_is_a_finding_without_a_program():
    batches = Batches(CampaignSettings(kinds=("functions",)), None)
    problem = type("Problem", (), {"why": "crashed", "message": "killed", "output": ""})()
    (found,) = batches._finding(2, 16, problem, whole=True).findings
    assert found.case == {}
    assert finding_errors(found) == []


def test_numbers_that_json_lacks_are_texts(capsys):
    print_json({"numbers": [float("nan"), {"x": float("inf")}, (-float("inf"), 0.5)]})
    assert json.loads(capsys.readouterr().out) == {"numbers": ["nan", {"x": "inf"}, ["-inf", 0.5]]}
