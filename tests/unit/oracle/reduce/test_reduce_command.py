"""Commands as predicates: what they get, and that nothing of them is left."""

import time
from pathlib import Path

import pytest

from refmlc.oracle.reduce.command import CommandPredicate


@pytest.fixture
def run(tmp_path):
    def run(command, text="text", seconds=20):
        with CommandPredicate(command, "prog ram.py", seconds) as predicate:
            return predicate.run(text)

    return run


def test_status_0_holds(run):
    assert run("true").holds
    assert (run("exit 7").holds, run("exit 7").status) == (False, 7)


@pytest.mark.parametrize("path", ["{}", '"$1"', '"$REFMLC_FILE"'])
def test_the_path_is_given_in_three_ways(run, path):
    assert run(f"grep -q 'x = ä' {path}", "x = ä\n").holds
    assert run(f"basename {path}").output == "prog ram.py\n"


def test_output_of_both_kinds_is_kept_at_its_end(run):
    assert run("echo a; echo b >&2").output == "a\nb\n"
    assert len(run("yes | head -c 100000").output) == 4000


def test_it_runs_where_refmlc_does_and_leaves_nothing(run):
    assert run("pwd").output == f"{Path.cwd()}\n"
    folder = Path(run('touch "$TMPDIR/left"; echo "$TMPDIR"').output.strip())
    assert not folder.exists()


def test_it_reads_nothing(run):
    assert run("cat").output == ""


def alive(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def gone(pid):
    for _ in range(200):
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_command_that_hangs_is_killed_with_its_children(run, tmp_path):
    ran = run(f"sleep 1000 & echo $! > {tmp_path}/pid; wait", seconds=0.5)
    assert (ran.status, ran.holds) == (None, False)
    assert gone(int((tmp_path / "pid").read_text()))


def test_what_a_command_leaves_running_is_killed(run, tmp_path):
    assert run(f"sleep 1000 & echo $! > {tmp_path}/pid").holds
    assert gone(int((tmp_path / "pid").read_text()))


def test_nothing_starts_after_the_end():
    with CommandPredicate("true", "a", 5) as predicate:
        assert predicate.holds("")
    Path(predicate._folder.name).mkdir()
    try:
        assert not predicate.holds("")
    finally:
        Path(predicate._folder.name).rmdir()
