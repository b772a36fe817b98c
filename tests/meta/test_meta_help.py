"""The help of every command: an example that its own parser takes, a line in the overview, an option's meaning."""

import re
import shlex

import click
import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.cli.commands import FILES, GROUPS, SYNONYMS

EXAMPLE = re.compile(r"Example: (refmlc .+)")
WIDTH = 78  # of click's help: a longer example would be broken into two lines


def commands(command, words):
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*words, name))


COMMANDS = dict(commands(main, ("refmlc",)))
SUBCOMMANDS = {words: command for words, command in COMMANDS.items() if len(words) > 1}


def take(words, command):
    """Have the command's own parser and types take `words`; paths need not exist. Fails: click.UsageError."""
    context = click.Context(command, info_name=command.name)
    values, arguments, _order = command.make_parser(context).parse_args(list(words))
    if arguments and isinstance(command, click.Group):
        _name, inner, rest = command.resolve_command(context, arguments)
        take(rest, inner)
    elif arguments:
        raise click.UsageError(f"nothing takes {arguments}")
    for param in command.params:
        value = values.get(param.name)
        if not isinstance(param.type, click.Path):
            param.type_cast_value(context, value)
        if param.required and (value is None or param.value_is_missing(value)):
            raise click.MissingParameter(param=param)


@pytest.mark.parametrize("words", SUBCOMMANDS, ids=" ".join)
def test_every_command_has_one_example_that_it_takes(words):
    command = SUBCOMMANDS[words]
    matched = EXAMPLE.fullmatch(command.epilog or "")
    assert matched is not None, command.epilog
    assert len(f"  {command.epilog}") <= WIDTH
    example = shlex.split(matched[1])
    assert tuple(example[: len(words)]) == words
    take(example[len(words) :], command)


@pytest.mark.parametrize("words", SUBCOMMANDS, ids=" ".join)
def test_the_help_shows_the_example_and_every_option_says_what_it_does(words):
    told = CliRunner().invoke(main, [*words[1:], "--help"])
    assert told.exit_code == 0
    assert SUBCOMMANDS[words].epilog in told.stdout
    options = [param for param in SUBCOMMANDS[words].params if isinstance(param, click.Option)]
    assert [param.opts for param in options if not (param.help or "").endswith((".", "]"))] == []


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("check", ["gemm.py", "--imp", "native"]),
        ("check", ["gemm.py", "--calls", "0"]),
        ("check", []),
        ("why", ["gemm.py"]),
        ("explain", ["RM304", "RM305"]),
        ("conform", ["coverge"]),
        ("fuzz", ["--time", "soon"]),
    ],
)
def test_an_example_that_no_command_takes_is_refused(command, words):
    with pytest.raises(click.UsageError):
        take(words, SUBCOMMANDS["refmlc", command])


def test_the_overview_shows_each_command_once_in_its_group():
    told = CliRunner().invoke(main, [])
    lines = [line.split()[0] for line in told.output.splitlines() if line.startswith("  ")]
    listed = [name for group in GROUPS.values() for name in group]
    assert sorted(listed) == sorted(name for _refmlc, name, *rest in SUBCOMMANDS if not rest)
    assert [line for line in lines if line in listed] == listed
    assert all(f"{title}:" in told.output for title in GROUPS)
    assert "Try first: refmlc check" in told.output


def test_what_is_answered_to_a_wrong_name_is_a_command():
    known = {name for _refmlc, name, *rest in SUBCOMMANDS if not rest}
    assert {command for command, _purpose in FILES.values()} | set(SYNONYMS.values()) <= known
    assert known.isdisjoint(SYNONYMS)
