"""Changes of files: told when writing has ended, together, and not otherwise."""

import os
from contextlib import suppress

import pytest

from refmlc.system.file_changes import changes, state_of


class Script:
    """A sleep that does what is written for it, look by look; at the end it interrupts."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self, _seconds):
        if not self.steps:
            raise KeyboardInterrupt
        step = self.steps.pop(0)
        if step is not None:
            step()


def told(files, script, **options):
    rounds = []
    with suppress(KeyboardInterrupt):
        rounds.extend([path.name for path in changed] for changed in changes(files, sleep=script, **options))
    return rounds


def writes(path, text, mtime):
    def write():
        path.write_text(text)
        os.utime(path, ns=(mtime, mtime))

    return write


@pytest.fixture
def folder(tmp_path):
    writes(tmp_path / "a.py", "1", 1000)()
    writes(tmp_path / "b.py", "1", 1000)()
    return tmp_path


def listed(folder):
    return lambda: sorted(folder.glob("*.py"))


def test_a_change_is_told_once_after_a_quiet_look(folder):
    script = Script(None, writes(folder / "a.py", "2", 2000), None, None, None)
    assert told(listed(folder), script) == [["a.py"]]


def test_changes_that_follow_each_other_come_together(folder):
    script = Script(
        writes(folder / "a.py", "2", 2000),
        writes(folder / "b.py", "2", 2000),
        writes(folder / "c.py", "2", 2000),
        None,
        None,
    )
    assert told(listed(folder), script) == [["a.py", "b.py", "c.py"]]


def test_the_same_time_with_another_size_or_another_file_is_a_change(folder):
    replaced = folder / "new"

    def replace():
        writes(replaced, "9", 1000)()
        replaced.rename(folder / "b.py")

    script = Script(writes(folder / "a.py", "22", 1000), None, replace, None, None)
    assert told(listed(folder), script) == [["a.py"], ["b.py"]]


def test_a_file_that_goes_is_no_change_and_is_new_when_it_comes_back(folder):
    script = Script((folder / "a.py").unlink, None, None, writes(folder / "a.py", "1", 1000), None, None)
    assert told(listed(folder), script) == [["a.py"]]


def test_what_is_known_is_no_change_and_everything_else_is(folder):
    assert told(listed(folder), Script(None, None, None), known={}) == [["a.py", "b.py"]]
    assert told(listed(folder), Script(None, None), known=state_of(listed(folder)())) == []


def test_a_link_that_leads_nowhere_has_no_state(folder):
    (folder / "gone.py").symlink_to(folder / "nowhere")
    assert [path.name for path in state_of(listed(folder)())] == ["a.py", "b.py"]
