"""The outputs of `--json` against the schema that the documentation shows: every command has one."""

import json
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner

from refmlc.cli import main

SCHEMA = json.loads((Path(__import__("refmlc").__file__).parent / "cli" / "schema.json").read_text(encoding="utf-8"))
SCALE = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i] * T.float32(2)
"""
INPUT = ("--input", "A=ones")
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
}
FAILS = ("check", "gone.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    (folder / "g.py").write_text(SCALE)
    (folder / "h.py").write_text(SCALE.replace("float32(2)", "float32(3)"))
    (folder / "w.py").write_text(SCALE.replace("A[i]", "A[i + 1]"))
    (folder / "broken.txt").write_text("@T.prim_func\ndef f(:\n")
    stages = [{"name": "input", "text": SCALE}, {"name": "Wrong", "text": SCALE.replace("float32(2)", "float32(3)")}]
    (folder / "stages.jsonl").write_text("".join(json.dumps(stage) + "\n" for stage in stages))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["check", "w.py", "--impl", "interp", "--calls", "1", "--case", "w.toml"]
        assert CliRunner().invoke(main, words).exit_code == 1
    return folder


def data_of(words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    told = CliRunner().invoke(main, [*words, "--json"])
    return json.loads(told.stdout)


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
    described = {"conform": "report.json", "bench": "bench", "dap": "no JSON"}
    commands = [" ".join(words) for words in leaves(main, ()) if words]
    missing = [
        name for name in commands if name not in SCHEMA["$defs"] and name.split()[0] not in {*described, "cache"}
    ]
    assert missing == []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_is_as_its_schema_says(name, folder, monkeypatch):
    definition = next(each for each in (name, name.partition(" ")[0]) if each in SCHEMA["$defs"])
    data = data_of(COMMANDS[name], folder, monkeypatch)
    validator(definition).validate(data)
    assert set(data) != {"error"}, data


def test_a_failure_is_an_error(folder, monkeypatch):
    validator("error").validate(data_of(FAILS, folder, monkeypatch))


@pytest.mark.needs("compiler")
def test_the_output_of_native(folder, monkeypatch):
    validator("native").validate(data_of(("native", "g.py"), folder, monkeypatch))


@pytest.mark.needs("z3")
def test_the_proof_of_one_program(folder, monkeypatch):
    validator("prove").validate(data_of(("prove", "g.py"), folder, monkeypatch))


@pytest.mark.parametrize("name", ["check", "equiv", "show", "run", "replay", "passes", "conform coverage"])
def test_the_schema_is_no_sieve(name, folder, monkeypatch):
    data = data_of(COMMANDS[name], folder, monkeypatch)
    checker = validator(name)
    for key in data:
        if key in SCHEMA["$defs"].get(name, {}).get("required", ()):
            assert not checker.is_valid({each: value for each, value in data.items() if each != key}), key
    assert not checker.is_valid({**data, "a key that nobody documents": 1})
