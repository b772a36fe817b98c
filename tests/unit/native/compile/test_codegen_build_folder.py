"""The directory of libraries: used only where nobody else can write; otherwise one warning, and one for the process."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from seven import SEVEN, call, left_in

from refmlc.native.compile import BuildFailed, Cause, NativeWarning, build, cache as caching, default_cache, warn_once
from refmlc.native.compile.folder import chosen_folder, private_folder
from refmlc.native.options import ISAS

HERE = Path(__file__).parent
NOBODY = 65534


def run(code, environment, prefix=()):
    command = [*prefix, sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


def refused(folder):
    with pytest.raises(BuildFailed) as caught:
        private_folder(folder)
    assert caught.value.cause is Cause.CACHE
    return caught.value.detail


def test_a_missing_directory_is_created_for_the_user_alone(tmp_path):
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert made.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702, 0o1777])
def test_a_directory_where_others_can_write_is_refused(mode, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    assert "others can write" in refused(tmp_path / "open")


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_a_directory_that_others_may_read_is_used(mode, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(mode)
    assert private_folder(tmp_path / "mine") == tmp_path / "mine"


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert "link" in refused(tmp_path / "link")


def test_a_dangling_link_and_a_file_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    refused(tmp_path / "link")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file")
    refused(tmp_path / "file" / "below")


def test_a_directory_below_one_where_others_can_rename_is_refused(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert "rename" in refused(tmp_path / "open" / "cache")
    (tmp_path / "open").chmod(0o1777)
    assert private_folder(tmp_path / "open" / "cache").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="giving directories away needs root")
@pytest.mark.parametrize("below", ["", "cache"])
def test_a_directory_of_somebody_else_is_refused(below, tmp_path):
    (tmp_path / "theirs").mkdir(0o700)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    assert f"user {NOBODY}" in refused(tmp_path / "theirs" / below)


def test_the_environment_says_where_it_is(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert chosen_folder() == Path("/home/somebody/.cache/refmlc")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/somebody")
    assert chosen_folder() == Path("/var/somebody/refmlc")
    monkeypatch.setenv("REFMLC_CACHE_DIR", "/elsewhere/libraries")
    assert chosen_folder() == Path("/elsewhere/libraries")


def test_without_a_home_there_is_no_place(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for home in ("", "relative"):
        monkeypatch.setenv("HOME", home)
        with pytest.raises(BuildFailed):
            chosen_folder()


def test_a_refused_directory_is_warned_of_once_and_nothing_is_put_there(tmp_path, monkeypatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(folder))
    with pytest.warns(NativeWarning, match="others can write") as caught:
        cache = default_cache()
    assert len(caught) == 1
    assert default_cache() is cache  # and warns no more: here warnings are errors
    assert call(build(SEVEN, ISAS["none"], cache=cache)) == (0, 7, 3)
    assert len(left_in(cache.folder)) == 1
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert left_in(folder) == []


def test_the_directory_for_one_process_ends_with_it(tmp_path):
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from refmlc.native.compile import default_cache; print(default_cache().folder)"
    )
    environment = {**os.environ, "REFMLC_CACHE_DIR": "/proc/none", "TMPDIR": str(tmp_path)}
    done = run(code, environment)
    assert Path(done.stdout.strip()).parent == tmp_path, done.stderr
    assert left_in(tmp_path) == []


READ_ONLY = """
import os, subprocess, sys, warnings
sys.path.insert(0, {here!r})
from seven import SEVEN, call
from refmlc.native.compile import build, default_cache
from refmlc.native.options import ISAS
if os.geteuid() == 0:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=700", "none", {folder!r}], check=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(call(build(SEVEN, ISAS["none"], cache=default_cache())), [str(one.message) for one in caught])
"""


def test_a_directory_that_cannot_be_written_is_warned_of_and_not_needed(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    folder.chmod(0o500)
    prefix = []
    if os.geteuid() == 0:  # who may write everywhere, but on a disk that is read-only
        prefix = ["unshare", "-m"]
        if shutil.which("unshare") is None or subprocess.run([*prefix, "true"], check=False).returncode:
            pytest.skip("nothing can be mounted here")
    code = READ_ONLY.format(here=str(HERE), folder=str(folder))
    done = run(code, {**os.environ, "REFMLC_CACHE_DIR": str(folder)}, prefix)
    assert done.stdout.startswith("(0, 7, 3) ['the cache of libraries is not used: "), done.stderr
    assert done.stdout.count("the cache of libraries") == 1


def test_each_cause_is_told_once_per_process():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for cause in (Cause.FAILED, Cause.FAILED, Cause.TIMED_OUT, Cause.FAILED):
            warn_once(BuildFailed(cause, "details"))
    assert [str(one.message) for one in caught] == [
        "the C compiler fails: details; the interpreter does the work",
        "the C compiler takes too long: details; the interpreter does the work",
    ]
    assert {one.category for one in caught} == {NativeWarning}


def test_one_cache_per_directory_and_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "one"))
    first = default_cache()
    assert default_cache() is first
    monkeypatch.setenv("REFMLC_CACHE_SIZE", "1M")
    assert (default_cache().folder, default_cache().limit) == (first.folder, 1 << 20)
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "two"))
    assert default_cache().folder == tmp_path / "two"
    assert caching.DEFAULT_LIMIT == 512 << 20
