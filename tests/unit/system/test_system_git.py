"""The files that git names: changed, new, with hostile names; what is refused."""

import os
import shutil
import subprocess

import pytest

from refmlc.system.git import NoAnswer, changed_files

pytestmark = pytest.mark.needs("git")
HOSTILE = ("a b.py", "-rf.py", "q\"uote'.py", "line\nend.py", "\u00e4.py", "$(touch pwned).py", "\x1b[31m.py")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.email", "a@example.org")
    git(folder, "config", "user.name", "A")
    for name in ("same.py", "edited.py", "deleted.py"):
        (folder / name).write_text("1\n")
    commit(folder)
    return folder


def git(folder, *words):
    subprocess.run([shutil.which("git"), *words], cwd=folder, check=True, capture_output=True)


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


def names(folder, revision="HEAD", inside=None):
    return {str(path.relative_to(folder.resolve())) for path in changed_files(inside or folder, revision)}


def test_what_is_edited_or_new_or_staged(repository):
    assert names(repository) == set()
    (repository / "edited.py").write_text("2\n")
    (repository / "deleted.py").unlink()
    (repository / "new.py").write_text("1\n")
    (repository / "staged.py").write_text("1\n")
    git(repository, "add", "staged.py")
    (repository / ".gitignore").write_text("ignored.py\n")
    (repository / "ignored.py").write_text("1\n")
    assert names(repository) == {"edited.py", "new.py", "staged.py", ".gitignore"}


def test_hostile_names_are_names(repository):
    (repository / "folder").mkdir()
    for name in HOSTILE:
        (repository / "folder" / name).write_text("1\n")
    assert names(repository) == {f"folder/{name}" for name in HOSTILE}
    commit(repository)
    assert names(repository, "HEAD~1", repository / "folder") == {f"folder/{name}" for name in HOSTILE}
    assert not list(repository.rglob("pwned"))


def test_changes_count_from_where_the_branch_left(repository):
    git(repository, "checkout", "-q", "-b", "mine")
    (repository / "mine.py").write_text("1\n")
    commit(repository)
    git(repository, "checkout", "-q", "main")
    (repository / "theirs.py").write_text("1\n")
    commit(repository)
    git(repository, "checkout", "-q", "mine")
    assert names(repository, "main") == {"mine.py"}


def test_without_a_common_ancestor_the_revision_itself_counts(repository):
    git(repository, "checkout", "-q", "--orphan", "alone")
    (repository / "edited.py").write_text("2\n")
    commit(repository)
    assert names(repository, "main") == {"edited.py"}


@pytest.mark.parametrize("revision", ["nowhere", "--output=pwned", "-O pwned", "", "HEAD:edited.py", "a\0b"])
def test_what_is_no_commit_is_refused_and_reaches_no_option(repository, revision):
    with pytest.raises(NoAnswer):
        changed_files(repository, revision)
    assert not list(repository.rglob("*pwned*"))


def test_no_program_of_the_repository_runs(repository):
    for key in ("diff.external", "core.fsmonitor"):
        git(repository, "config", key, "touch pwned; true")
    (repository / "edited.py").write_text("2\n")
    assert names(repository) == {"edited.py"}
    assert not list(repository.rglob("pwned"))


@pytest.mark.parametrize("name", ["x", "a.b = c"])
@pytest.mark.parametrize("key", ["clean", "process"])
def test_no_filter_of_the_repository_runs(repository, name, key):
    git(repository, "config", f"filter.{name}.{key}", "touch pwned; cat")
    git(repository, "config", f"filter.{name}.required", "true")
    (repository / ".git/info/attributes").write_text("*.py filter=x\n")
    git(repository, "config", f"filter.x.{key}", "touch pwned; cat")
    (repository / "edited.py").write_text("2\n")
    assert names(repository) == {"edited.py"}
    assert not list(repository.rglob("pwned"))


def test_settings_of_the_environment_stay(repository, monkeypatch):
    git(repository, "config", "filter.x.clean", "cat")
    for key, value in {"COUNT": "1", "KEY_0": "core.worktree", "VALUE_0": str(repository / "inside")}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{key}", value)
    (repository / "inside").mkdir()
    (repository / "inside/edited.py").write_text("2\n")
    assert names(repository) == {"inside/edited.py"}


def test_nothing_is_fetched(repository):
    program = repository.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {repository}/pwned\n")
    program.chmod(0o700)
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{program} x",
        "protocol.ext.allow": "always",
    }.items():
        git(repository, "config", key, value)
    with pytest.raises(NoAnswer):
        changed_files(repository, "0123456789" * 4)
    assert not list(repository.rglob("pwned"))


def test_outside_of_a_repository(tmp_path):
    with pytest.raises(NoAnswer, match="not a git repository"):
        changed_files(tmp_path, "HEAD")


def test_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoAnswer, match="git does not answer"):
        changed_files(tmp_path, "HEAD")
