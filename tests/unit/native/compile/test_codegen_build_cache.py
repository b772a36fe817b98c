"""The cache: found again, shared by processes, never trusted blindly, never too large."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from seven import SEVEN, call, left_in, unit

from refmlc.diag import RefmlcError
from refmlc.native.compile import Cache, build, cache as caching, make as making
from refmlc.native.compile.cache import chosen_limit
from refmlc.native.compile.compiler import find_compiler
from refmlc.native.options import ISAS
from refmlc.system.folders import make_folder

NONE = ISAS["none"]
HERE = Path(__file__).parent


def reopened(cache):
    """The same directory, as a process sees it that has loaded nothing."""
    return Cache(cache.folder, cache.limit)


def library_in(cache):
    (entry,) = cache.entries()
    return Path(entry.path)


def test_what_was_built_is_not_built_again(cache, script, monkeypatch):
    first = build(SEVEN, NONE, cache=cache)
    assert build(SEVEN, NONE, cache=cache) is first
    monkeypatch.setattr(making, "Compilation", None)
    assert call(build(SEVEN, NONE, cache=reopened(cache))) == (0, 7, 3)


def test_all_that_a_library_depends_on_is_in_its_name(compiler, monkeypatch):
    other = type(compiler)(compiler.path, compiler.kind, compiler.version + "1")
    headers = making.headers_digest()
    names = {
        making.key_of(SEVEN, compiler, NONE, headers),
        making.key_of(unit(1), compiler, NONE, headers),
        making.key_of(SEVEN, other, NONE, headers),
        making.key_of(SEVEN, compiler, ISAS["sse2"], headers),
        making.key_of(SEVEN, compiler, ISAS["avx2"], headers),
        making.key_of(SEVEN, compiler, NONE, b"other headers"),
    }
    assert len(names) == 6


def test_a_changed_header_gives_another_name(tmp_path, monkeypatch):
    shutil.copytree(making.HEADERS, tmp_path / "headers")
    monkeypatch.setattr(making, "HEADERS", tmp_path / "headers")
    making.headers_digest.cache_clear()
    before = making.headers_digest()
    with (tmp_path / "headers" / "rm_guard.h").open("a") as file:
        file.write("/* */\n")
    making.headers_digest.cache_clear()
    assert making.headers_digest() != before
    monkeypatch.undo()
    making.headers_digest.cache_clear()


@pytest.mark.parametrize(
    "damage",
    [
        lambda held: held[: len(held) // 2],
        lambda held: held[:-1],
        lambda held: b"",
        lambda held: held[:4000] + bytes([held[4000] ^ 1]) + held[4001:],
        lambda held: held[:-1] + bytes([held[-1] ^ 1]),
        lambda held: held + b"more",
    ],
    ids=["half", "last byte gone", "empty", "a bit of the code", "a bit of the digest", "longer"],
)
def test_a_damaged_library_is_built_again(cache, damage):
    build(SEVEN, NONE, cache=cache)
    path = library_in(cache)
    whole = path.read_bytes()
    path.unlink()  # this process has the library loaded: its file stays as it is
    path.write_bytes(damage(whole))
    again = reopened(cache)
    assert again.find(path.stem) is None
    assert call(build(SEVEN, NONE, cache=again)) == (0, 7, 3)
    assert path.read_bytes() == whole


def test_a_library_under_the_name_of_another_is_not_loaded(cache):
    build(unit(1), NONE, cache=cache)
    wrong = library_in(cache)
    build(SEVEN, NONE, cache=cache)
    (right,) = {Path(entry.path) for entry in cache.entries()} - {wrong}
    right.unlink()
    shutil.copy(wrong, right)
    assert call(build(SEVEN, NONE, cache=reopened(cache))) == (0, 7, 3)


def test_a_link_to_a_library_is_not_loaded(cache, tmp_path):
    build(SEVEN, NONE, cache=cache)
    path = library_in(cache)
    path.rename(tmp_path / "elsewhere.so")
    path.symlink_to(tmp_path / "elsewhere.so")
    assert reopened(cache).find(path.stem) is None


FILL = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from seven import SEVEN, call, unit
from refmlc.native.compile import Cache, build
from refmlc.native.options import ISAS
cache = Cache(Path({folder!r}))
sys.stdin.read(1)
print([call(build(unit(number), ISAS["none"], cache=cache))[0] for number in range(4)])
"""


def test_two_processes_fill_an_empty_cache_at_once(tmp_path):
    folder = tmp_path / "shared" / "cache"
    code = FILL.format(here=str(HERE), folder=str(folder))
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in processes:
        process.stdin.write("go")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0].strip() for process in processes] == ["[0, 1, 2, 3]"] * 3
    assert len(left_in(folder)) == 4
    assert len(Cache(folder).entries()) == 4


def test_the_least_recently_used_libraries_go_first(tmp_path):
    cache = Cache(tmp_path / "cache")
    build(unit(0), NONE, cache=cache)
    size = cache.entries()[0].size
    small = Cache(cache.folder, 3 * size + size // 2)
    for number in (1, 2, 3):
        build(unit(number), NONE, cache=small)
        build(unit(0), NONE, cache=reopened(small))  # used, each time
    names = {key(number): number for number in range(4)}
    assert [names[Path(entry.path).stem] for entry in cache.entries()] == [2, 3, 0]
    assert sum(entry.size for entry in cache.entries()) <= small.limit


def key(number):
    return making.key_of(unit(number), find_compiler(), NONE, making.headers_digest())


def test_a_loaded_library_outlives_its_file(cache):
    function = build(SEVEN, NONE, cache=cache)
    assert cache.shrink(0) == 1
    assert left_in(cache.folder) == []
    assert call(function) == (0, 7, 3)


def test_a_library_that_goes_between_the_check_and_the_loading_is_built_again(cache, monkeypatch):
    build(SEVEN, NONE, cache=cache)
    again = reopened(cache)
    look = caching._intact

    def late(path, key):
        found = look(path, key)
        Path(path).unlink()
        return found

    monkeypatch.setattr(caching, "_intact", late)
    assert call(build(SEVEN, NONE, cache=again)) == (0, 7, 3)


def test_a_cache_smaller_than_a_library_still_gives_libraries(tmp_path):
    cache = Cache(tmp_path / "cache", 10)
    assert call(build(SEVEN, NONE, cache=cache)) == (0, 7, 3)
    assert left_in(cache.folder) == []


def test_what_a_killed_process_left_goes(cache):
    new = make_folder("work", cache.folder)
    old = new.with_name(new.name.replace(f"-{os.getpid()}-", "-999999999-"))
    old.mkdir()
    (old / "unit.c").write_text("")
    build(SEVEN, NONE, cache=cache)
    assert (old.exists(), new.exists()) == (False, True)


def test_other_files_in_the_directory_stay(cache):
    (cache.folder / "notes.txt").write_text("mine")
    (cache.folder / "my.so").write_text("mine")
    cache.shrink(0)
    assert left_in(cache.folder) == ["my.so", "notes.txt"]


def test_a_directory_that_is_removed_is_made_again(cache):
    shutil.rmtree(cache.folder)
    assert call(build(SEVEN, NONE, cache=cache)) == (0, 7, 3)
    assert len(cache.entries()) == 1


FULL = """
import subprocess, sys, warnings
sys.path.insert(0, {here!r})
from pathlib import Path
from seven import SEVEN, call, left_in
from refmlc.native.compile import BuildFailed, Cache, Cause, build
from refmlc.native.options import ISAS
folder = Path({folder!r})
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", str(folder)], check=True)
cache = Cache(folder)
ballast, ended = folder / "ballast", set()
for free in (0, 4096, 8192, 12288, 16384, 20480, 24576):
    ballast.write_bytes(b"")
    with ballast.open("wb", buffering=0) as file:
        file.write(bytes(256 * 1024 - free))
    try:
        call(build(SEVEN, ISAS["none"], cache=cache))
        ended.add("done")
        break
    except BuildFailed as failure:
        assert failure.cause is Cause.DISK, failure
        assert left_in(folder) == ["ballast"], left_in(folder)
        ended.add("full")
assert "full" in ended
ballast.unlink()
print(call(build(SEVEN, ISAS["none"], cache=cache)), len(cache.entries()))
"""


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path):
    code = FULL.format(here=str(HERE), folder=str(tmp_path))
    for unshare in (["unshare", "-m"], ["unshare", "-Urm"]):
        if shutil.which("unshare") is not None and mounts(unshare, tmp_path):
            break
    else:
        pytest.skip("nothing can be mounted here")
    done = subprocess.run(
        [*unshare, sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("(0, 7, 3) 1", 0), done.stderr


def mounts(unshare, folder):
    command = [*unshare, "mount", "-t", "tmpfs", "none", str(folder)]
    return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0


LIMITED = """
import resource, signal, sys
sys.path.insert(0, {here!r})
from pathlib import Path
from seven import SEVEN
from refmlc.native.compile import BuildFailed, Cache, build
from refmlc.native.compile.compiler import find_compiler
from refmlc.native.options import ISAS
find_compiler()
cache = Cache(Path({folder!r}))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for most in (0, 100, 4096):
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        build(SEVEN, ISAS["none"], cache=cache)
        print("done")
    except BuildFailed as failure:
        print(failure.cause.name)
"""


def test_files_that_may_not_grow_are_said_and_leave_nothing(tmp_path):
    code = LIMITED.format(here=str(HERE), folder=str(tmp_path / "cache"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert len(said) == 3
    assert said[0] == "DISK"
    assert set(said) <= {"DISK", "FAILED"}
    assert left_in(tmp_path / "cache") == []


@pytest.mark.parametrize(
    ("text", "size"), [("", 512 << 20), ("0", 0), ("1000", 1000), ("3k", 3072), ("2 M", 2 << 20), ("1G", 1 << 30)]
)
def test_the_limit_is_chosen_by_the_environment(text, size, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_SIZE", text)
    assert chosen_limit() == size


@pytest.mark.parametrize("text", ["much", "-1", "1.5G", "5T", "٣"])
def test_a_limit_that_is_no_size_is_refused(text, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_SIZE", text)
    with pytest.raises(RefmlcError) as caught:
        chosen_limit()
    assert caught.value.diagnostic.code.id == "RM112"
