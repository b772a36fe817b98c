"""Long texts are compiled in pieces, side by side, and are the same library to whoever calls it."""

import os
import re

import pytest
from needs import need
from seven import SEVEN, call, left_in

from refmlc.native.compile import BuildFailed, Cause, build, compiler, ffi, pieces as splitting
from refmlc.native.compile.make import Build
from refmlc.native.compile.pieces import pieces, processors
from refmlc.native.options import ISAS

NONE = ISAS["none"]
HEAD = '#define RM_USE_int32\n#include "rm_guard.h"\n#include "rm_dtypes.h"\n'
SMALL = 400
LINES = SMALL // 30


def function(number, calls=""):
    """A function that adds up what it calls, of more than `SMALL` characters."""
    called = f"  status = {calls}(run, cells);\n" if calls else ""
    body = "  cells[0] = cells[0] * 3 + 1;\n" * LINES
    return (
        f"/* f{number}, here: a (comment) */\n"
        f"int64_t f{number}_step(rm_run *const run, rm_int32_cell *const cells) {{\n"
        f"  int64_t status = RM_DONE;\n{called}{body}  return status;\n}}\n"
    )


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """So that the texts here, which compile in no time, have several."""
    monkeypatch.setattr(splitting, "SMALLEST", SMALL)


CHAIN = HEAD + "\n" + function(0) + function(1, "f0_step") + function(2, "f1_step") + function(3, "f2_step")


def stepped(library, symbol):
    """What a function of `CHAIN` makes of 1."""
    run, cells = ffi().new("rm_run *"), ffi().new("int32_t *", 1)
    assert library.function(symbol, "int64_t (*)(rm_run *, void *)")(run, cells) == 0
    return cells[0]


def by_hand(functions):
    """The same in Python, in 32 bits."""
    value = 1
    for _ in range(functions * LINES):
        value = (3 * value + 1) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


@pytest.fixture
def counted(monkeypatch):
    """The commands that are run."""
    commands, start = [], compiler.Running
    monkeypatch.setattr(
        compiler, "Running", lambda command, *a, **k: commands.append(command) or start(command, *a, **k)
    )
    return commands


@pytest.mark.parametrize("most", [1, 2, 3, 4, 9])
def test_pieces_compute_what_the_whole_computes(most, cache, monkeypatch, counted):
    monkeypatch.setattr(compiler, "processors", lambda: most)
    library = build(CHAIN, NONE, cache=cache)
    for number in range(4):
        assert stepped(library, f"f{number}_step") == by_hand(number + 1)
    compiled = [command for command in counted if "-c" in command]
    assert len(compiled) == (0 if most == 1 else min(most, 4))
    assert len(left_in(cache.folder)) == 1


def test_a_short_text_is_one_piece_however_many_processors():
    assert len(SEVEN) < 2 * SMALL
    assert pieces(SEVEN, 64) == [SEVEN]
    assert pieces(CHAIN, 1) == [CHAIN]


def test_each_function_is_in_one_piece_and_declared_where_it_is_called():
    parts = pieces(CHAIN, 2)
    assert len(parts) == 2
    defined = [re.findall(r"^int64_t (f\d)_step\(.*\{$", part, re.MULTILINE) for part in parts]
    assert sorted(defined[0] + defined[1]) == ["f0", "f1", "f2", "f3"]
    for part, names in zip(parts, defined, strict=True):
        assert part.startswith(HEAD)
        called = {name for name in re.findall(r"= (f\d)_step\(", part) if name not in names}
        assert set(re.findall(r"^int64_t (f\d)_step\(.*;$", part, re.MULTILINE)) == called
        assert "comment" not in part


ENTRIES = "".join(
    f"void *entry_f{number}_step(rm_run *const run, rm_int32_cell *const cells) {{\n"
    f"  f{number}_step(run, cells);\n  return NULL;\n}}\n"
    for number in range(4)
)


@pytest.mark.parametrize("most", [2, 3, 4])
def test_entries_stay_together(most):
    """They share what `entry_functions` stores."""
    defined = [
        set(re.findall(r"^void \*(entry_\w+)\(.*\{$", part, re.MULTILINE)) for part in pieces(CHAIN + ENTRIES, most)
    ]
    assert sorted(map(len, defined)) == [0] * (most - 1) + [4]


def test_pieces_are_of_like_length():
    parts = pieces(CHAIN + function(4), 2)
    shorter, longer = sorted(map(len, parts))
    assert longer < 2 * shorter


def test_there_is_a_processor():
    assert processors() >= 1


def test_one_piece_that_fails_ends_the_others(cache, script, tmp_path, monkeypatch):
    """The first piece fails; the second would take 1000 s."""
    monkeypatch.setattr(compiler, "processors", lambda: 2)
    script('case "$*" in *0-unit.c*) echo no; exit 1;; esac\nexec sleep 1000')
    with pytest.raises(BuildFailed, match="ended with status 1\n  no") as failure:
        build(CHAIN, NONE, cache=cache, limit=5)
    assert failure.value.cause is Cause.FAILED
    assert left_in(cache.folder) == []


def test_a_build_goes_on_beside_the_process(cache, script, tmp_path):
    """The compiler waits for a file; nobody waits for the compiler."""
    need("gcc")
    go = tmp_path / "go"
    script(f'while [ ! -e {go} ]; do sleep 0.01; done\nexec gcc "$@"')
    building = Build(SEVEN, NONE, cache, compiler.find_compiler())
    assert building.library() is None
    assert len(left_in(cache.folder)) > 1
    go.touch()
    assert call(building.wait()) == (0, 7, 3)
    assert len(left_in(cache.folder)) == 1


def test_a_build_that_nobody_wants_leaves_nothing(cache, script, tmp_path):
    script(f"echo $$ > {tmp_path}/pid\nsleep 1000")
    building = Build(SEVEN, NONE, cache, compiler.find_compiler())
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert building.library(0.01) is None
    del building
    assert left_in(cache.folder) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
