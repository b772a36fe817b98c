"""Folders of killed runs are removed; pipes are not waited for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.native.compile import Cache
from refmlc.run.memory.files.content import read_bytes
from refmlc.system.folders import Folder, make_folder
from refmlc.system.regular import open_regular, read_text

KILLED = """
import os, signal
from pathlib import Path
from refmlc.system.folders import make_folder
made = make_folder("remote", Path({directory!r}))
(made / "large").write_text("x")
print(made, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_killed_run_is_removed_by_the_next(tmp_path):
    text = KILLED.format(directory=str(tmp_path))
    killed = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert killed.returncode == -9
    assert Path(killed.stdout.strip()).is_dir()
    mine = make_folder("remote", tmp_path)
    assert sorted(tmp_path.iterdir()) == [mine]


def test_what_lives_or_is_another_s_stays(tmp_path):
    mine = make_folder("cache", tmp_path)
    kept = [tmp_path / name for name in ("refmlc-mine", "refmlc-cache-1-999999999-x", "something")]
    for path in kept:
        path.mkdir()
    link = tmp_path / mine.name.replace(str(os.getpid()), "999999999")
    link.symlink_to(kept[0])
    again = make_folder("cache", tmp_path)
    assert {mine, again, link, *kept} <= {*tmp_path.iterdir()}


def test_the_cache_is_cleaned_when_it_is_opened(tmp_path):
    private = tmp_path / "cache"
    private.mkdir(0o700)
    mine = make_folder("work", private)
    space = mine.name.split("-")[2]
    killed = private / f"refmlc-work-{space}-999999999-x"  # no process has that number
    old = private / f"refmlc-work-{space}-{os.getpid()}-old"  # another process has the number of the killed one
    far = private / "refmlc-work-1-1-x"  # of another container
    for path in (killed, old, far):
        path.mkdir()
    os.utime(old, (0, 0))
    Cache(private)
    assert {*private.iterdir()} == {mine, far}
    os.utime(far, (0, 0))
    Cache(private)
    assert {*private.iterdir()} == {mine}


def test_a_folder_is_gone_after_its_block():
    with Folder("test") as path:
        assert path.is_dir()
    assert not path.exists()


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "A.npy"
    os.mkfifo(path)
    return path


def test_a_pipe_is_no_module(pipe):
    with pytest.raises(RefmlcError, match=r"RM109.*A.npy.*a pipe, no file"):
        refmlc.read_file(pipe)


def test_what_is_opened_already_may_be_a_pipe():
    reader, writer = os.pipe()
    os.write(writer, b"text")
    os.close(writer)
    with open_regular(f"/dev/fd/{reader}") as file:
        assert file.read() == b"text"
    os.close(reader)


def test_a_pipe_is_no_array(pipe):
    with pytest.raises(RefmlcError, match=r"A.npy.*a pipe, no file") as failure:
        read_bytes(pipe)
    assert failure.value.code.id == "RM109"


def test_a_pipe_is_no_library(tmp_path):
    key = "0" * 64
    os.mkfifo(tmp_path / f"{key}.so")
    tmp_path.chmod(0o700)
    assert Cache(tmp_path).find(key) is None


def test_a_text_is_read_up_to_a_length(tmp_path):
    file = tmp_path / "text"
    file.write_bytes("äb".encode())
    assert read_text(file, 3) == "äb"
    with pytest.raises(OSError, match="more than 2 bytes"):
        read_text(file, 2)
    with pytest.raises(OSError, match="more than 1000 bytes"):
        read_text("/dev/zero", 1000)
    file.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        read_text(file, 3)
