"""The outputs of `--json` against the schema that the documentation shows: every command has one."""

import json
from dataclasses import asdict
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner

from refmlc.cli import main
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
    "fuzz coverage": ("fuzz", "--dir", "campaign", "--show", "coverage"),
    "fuzz merge": ("fuzz", "merge", "campaign", "--into", "ledger.sqlite"),
    "fuzz ledger": ("fuzz", "ledger", "ledger.sqlite"),
    "fuzz page": ("fuzz", "page", "campaign", "-o", "page.html"),
}
FAILS = ("check", "gone.py")
ELSEWHERE = {"conform": "report.json describes it", "dap": "it speaks another protocol"}
OPEN = {"conform", "fuzz", "fuzz ledger", "fuzz merge"}  # figures and programs of campaigns: still to be described
MAPS = {"axes", "counts", "loops", "machine", "nanoseconds", "reasons", "sizes", "verdicts"}  # their keys are names
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
        words = ["check", "w.py", "--impl", "interp", "--calls", "1", "--case", "w.toml"]
        assert CliRunner().invoke(main, words).exit_code == 1
        words = ["fuzz", *CAMPAIGN, "--dir", "campaign", "--ledger", "ledger.sqlite"]
        assert CliRunner().invoke(main, words).exit_code == 0
    return folder


PRINTED = {}


def data_of(words, folder, monkeypatch):
    """What a command prints, which is executed once."""
    monkeypatch.chdir(folder)
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


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_is_as_its_schema_says(name, folder, monkeypatch):
    definition = next(each for each in (name, name.partition(" ")[0]) if each in SCHEMA["$defs"])
    data = data_of(COMMANDS[name], folder, monkeypatch)
    validator(definition).validate(data)
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


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith(("bench", "course", "passes", "why"))])
def test_a_wrong_key_fails_wherever_it_is(name, folder, monkeypatch):
    definition = name if name in SCHEMA["$defs"] else name.partition(" ")[0]
    data = data_of(COMMANDS[name], folder, monkeypatch)
    assert validator(definition).is_valid(data)
    assert_closed(validator(definition), data, data)
    if name.startswith(("bench", "course")):
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
