"""What the documents say exists: commands, options, files, names of the API."""

import re
import shlex
from pathlib import Path

import click
import pytest

import refmlc
from refmlc.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    (
        *ROOT.glob("*.md"),
        *(
            path
            for top in ("conformance", "docs", "kernels_c", "refmlc", "tests")
            for path in (ROOT / top).rglob("*.md")
        ),
    )
)
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
COMMAND = re.compile(r"^(?:\$ )?(?:\S*python3? -m )?refmlc ([a-z].*)")
PLACE = re.compile(r"(?:refmlc|tests|conformance|kernels_c|docs|\.ci)/[\w./*-]+")
NAME = re.compile(r"\brefmlc\.(\w+)\(")


def commands(text):
    """The words after `refmlc` in code."""
    lines = [line for block in FENCED.findall(text) for line in block.splitlines()]
    for line in (*lines, *INLINE.findall(FENCED.sub("", text))):
        found = COMMAND.match(line.strip())
        if found is not None:
            yield words(found[1])


def words(line):
    """The words of a command as a shell has them; of one that is not whole, as they stand."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split("#")[0].split()


CONTEXT = click.Context(main)


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 110] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_their_options_exist(path):
    for name, *arguments in commands(path.read_text(encoding="utf-8")):
        command = main.get_command(CONTEXT, name)
        assert command is not None, name
        if isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
            command = command.get_command(CONTEXT, arguments[0])
        options = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
        given = {argument.split("=")[0] for argument in arguments if argument.startswith("--")}
        assert given <= options | {"--help"}, (name, given - options)


def subcommands(command, words):
    if isinstance(command, click.Group):
        for name in command.list_commands(CONTEXT):
            yield from subcommands(command.get_command(CONTEXT, name), (*words, name))
    else:
        yield words, {option for param in command.params for option in param.opts}


def test_the_threat_model_has_every_command():
    table = (ROOT / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
    rows = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `refmlc "))
    assert [name for name in main.list_commands(CONTEXT) if f"`refmlc {name}`" not in rows] == []


def test_every_command_but_dap_takes_json():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Every command but `dap` takes `--json`" in " ".join(text.split())
    assert [words for words, options in subcommands(main, ()) if "--json" not in options] == [("dap",)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_exist(path):
    text = path.read_text(encoding="utf-8")
    code = (*FENCED.findall(text), *INLINE.findall(FENCED.sub("", text)))
    places = {word for piece in code for word in piece.split() if PLACE.fullmatch(word)}
    assert {place for place in places if not any(ROOT.glob(place.rstrip("/")))} == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_of_the_api_exist(path):
    text = path.read_text(encoding="utf-8")
    assert [name for name in NAME.findall(text) if name not in refmlc.__all__] == []


def test_the_changelog_begins_with_what_is_unreleased_and_has_this_version():
    titles = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert titles[0] == "Unreleased"
    assert refmlc.__version__ in titles


def test_the_citation_names_this_version():
    assert f"version: {refmlc.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
