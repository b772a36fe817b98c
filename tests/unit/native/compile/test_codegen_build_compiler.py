"""The compiler: which one is taken, and how its failures end."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from needs import COMPILERS, by
from seven import SEVEN, call, left_in

from refmlc.native.compile import BuildFailed, Cause, build, compiler as compiling, ffi
from refmlc.native.compile.compiler import LARGE, Compilation, Effort, find_compiler
from refmlc.native.options import ISAS

NONE = ISAS["none"]


def failure(cache, limit=60.0, text=SEVEN):
    with pytest.raises(BuildFailed) as caught:
        build(text, NONE, cache=cache, limit=limit)
    return caught.value


def test_a_unit_is_compiled_and_runs(cache):
    assert call(build(SEVEN, NONE, cache=cache)) == (0, 7, 3)
    assert call(build(SEVEN, NONE, cache=None)) == (0, 7, 3)


@pytest.mark.parametrize("name", by(*COMPILERS, "tcc"))
def test_each_compiler_is_taken_when_it_is_named(name, cache, monkeypatch):
    monkeypatch.setenv("REFMLC_CC", name)
    assert Path(find_compiler().path).name == name
    assert call(build(SEVEN, NONE, cache=cache)) == (0, 7, 3)


@pytest.mark.needs("tcc")
def test_tiny_units_are_compiled_by_tcc_where_it_is(monkeypatch):
    assert find_compiler(tiny=True).kind == "tcc"
    assert find_compiler().kind != "tcc"
    assert call(build(SEVEN, ISAS["avx2"], cache=None, tiny=True)) == (0, 7, 3)


def test_without_tcc_tiny_units_are_compiled_as_any_other(tmp_path, monkeypatch, compiler):
    (tmp_path / "gcc").symlink_to(compiler.path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler(tiny=True).path == str(tmp_path / "gcc")


def test_without_tcc_clang_compiles_large_texts_without_optimisation(tmp_path, monkeypatch, compiler):
    for name in ("gcc", "clang"):
        (tmp_path / name).symlink_to(compiler.path)
    monkeypatch.setenv("PATH", str(tmp_path))
    names = {size: Path(find_compiler(tiny=True, size=size).path).name for size in (0, LARGE - 1, LARGE)}
    assert names == {0: "gcc", LARGE - 1: "gcc", LARGE: "clang"}
    assert Path(find_compiler(size=LARGE).path).name == "gcc"
    (tmp_path / "more").mkdir()
    (tmp_path / "more/tcc").symlink_to(compiler.path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path}/more")
    assert Path(find_compiler(tiny=True, size=LARGE).path).name == "tcc"


def test_the_length_of_a_text_decides_who_compiles_it(tmp_path, monkeypatch, compiler):
    for name in ("gcc", "clang"):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\necho {name} >> {tmp_path}/log\nexec {compiler.path} "$@"\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(compiling, "TINY", "no-tcc")
    long = SEVEN + "/* a comment */\n" * (LARGE // 10)
    for text, name in ((SEVEN, "gcc"), (long, "clang")):
        (tmp_path / "log").unlink(missing_ok=True)
        assert call(build(text, NONE, cache=None, tiny=True, effort=Effort.LEAST)) == (0, 7, 3)
        assert set((tmp_path / "log").read_text().split()) == {name}


def test_one_run_compiles_what_is_not_optimised(compiler):
    assert [replace(compiler, effort=effort).is_quick for effort in Effort] == [False, False, True]
    assert replace(compiler, kind="tcc").is_quick


def test_without_a_compiler_there_is_none(tmp_path, monkeypatch, cache):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert failure(cache).cause is Cause.NO_COMPILER
    monkeypatch.setenv("REFMLC_CC", "/nowhere/cc")
    assert "/nowhere/cc" in str(failure(cache))


def test_a_compiler_that_comes_later_is_found(tmp_path, monkeypatch, cache, compiler):
    monkeypatch.setenv("REFMLC_CC", str(tmp_path / "late"))
    assert failure(cache).cause is Cause.NO_COMPILER
    (tmp_path / "late").symlink_to(compiler.path)
    assert find_compiler().path == str(tmp_path / "late")


def test_another_compiler_under_the_same_name_is_noticed(script):
    path = script("exit 1")
    assert "fake" in find_compiler().version
    path.write_text("#!/bin/sh\necho gcc another\n")
    assert "another" in find_compiler().version


def test_what_the_compiler_says_is_told(cache):
    wrong = failure(cache, text="int64_t f0_nothing(rm_run *const run) {\n  return RM_DONE;\n}\n")
    assert wrong.cause is Cause.FAILED
    assert "unit.c:1" in wrong.detail
    assert "rm_run" in wrong.detail
    assert len(wrong.detail.splitlines()) <= 7
    assert left_in(cache.folder) == []


def test_of_long_lines_the_beginning_is_told(cache, script):
    script('printf "unit.c:1: error: %01000d\\n" 7 >&2; exit 1')
    assert max(map(len, failure(cache).detail.splitlines())) < 200


def test_a_compiler_that_hangs_is_ended_with_all_it_started(cache, script, tmp_path):
    script(f'(sleep 60; touch "{tmp_path}/late") & echo $! > "{tmp_path}/child"; sleep 60')
    before = time.monotonic()
    assert failure(cache, limit=0.5).cause is Cause.TIMED_OUT
    assert time.monotonic() - before < 30
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if "Z" in state(child):
            break
        time.sleep(0.05)
    else:
        pytest.fail("what the compiler started goes on")
    assert left_in(cache.folder) == []


def state(child):
    try:
        return Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def test_a_compiler_that_is_killed_midway_leaves_nothing(cache, script):
    script("echo half > unit.so; kill -9 $$")
    wrong = failure(cache)
    assert (wrong.cause, "signal 9" in wrong.detail) == (Cause.FAILED, True)
    assert left_in(cache.folder) == []


def test_who_asks_again_does_not_wait_again(cache, script, tmp_path):
    script(f'echo once >> "{tmp_path}/runs"; sleep 60')
    first = failure(cache, limit=0.3)
    assert failure(cache, limit=0.3) is first
    assert (tmp_path / "runs").read_text() == "once\n"


def test_a_program_that_does_not_say_its_version_is_asked_once(cache, tmp_path, monkeypatch):
    path = tmp_path / "cc"
    path.write_text(f'#!/bin/sh\necho once >> "{tmp_path}/runs"\nexit 3\n')
    path.chmod(0o755)
    monkeypatch.setenv("REFMLC_CC", str(path))
    assert failure(cache) is failure(cache)
    assert (tmp_path / "runs").read_text() == "once\n"


def test_a_compiler_that_writes_nothing_has_failed(cache, script):
    script("exit 0")
    assert failure(cache).cause is Cause.FAILED


def test_a_compiler_that_writes_no_library_is_noticed(cache, script):
    script("echo no library > unit.so")
    assert failure(cache).cause is Cause.NOT_LOADED
    assert left_in(cache.folder) == []


def test_a_program_that_cannot_be_run_is_no_compiler(cache, tmp_path, monkeypatch):
    path = tmp_path / "cc"
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    monkeypatch.setenv("REFMLC_CC", str(path))
    assert failure(cache).cause is Cause.NO_COMPILER


def test_headers_and_includes_of_the_environment_play_no_role(cache, tmp_path, monkeypatch):
    (tmp_path / "rm_guard.h").write_text("#error planted\n")
    (tmp_path / "stdint.h").write_text("#error planted\n")
    for name in ("CPATH", "C_INCLUDE_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    assert call(build(SEVEN, NONE, cache=cache)) == (0, 7, 3)


@pytest.mark.parametrize("name", by("gcc", "clang"))
def test_a_function_that_is_not_declared_is_no_guess(name, cache, monkeypatch):
    """Its result would be an int: half a pointer."""
    monkeypatch.setenv("REFMLC_CC", name)
    text = '#include "rm_vector.h"\nint64_t f0_f(const int64_t n) {\n  return aligned_alloc(64, n) == NULL;\n}\n'
    wrong = failure(cache, text=text)
    assert (wrong.cause, "aligned_alloc" in wrong.detail) == (Cause.FAILED, True)


def test_equal_units_give_equal_libraries(compiler, tmp_path):
    images = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        images.append(Compilation(compiler, SEVEN, NONE, tmp_path / name).wait().read_bytes())
    assert images[0] == images[1]


def test_products_are_not_contracted(cache):
    """1 + 2^-12 squared is 1 + 2^-11 + 2^-24; to float32 that is 1 + 2^-11, so the difference is 0, or 2^-24."""
    text = (
        '#define RM_USE_float32\n#include "rm_guard.h"\n#include "rm_dtypes.h"\n'
        "int64_t f0_left(const rm_float32_cell *const a, rm_float32_cell *const b) {\n"
        "  b[0] = a[0] * a[0] - a[1];\n  return RM_DONE;\n}\n"
    )
    left = build(text, ISAS["none"], cache=cache).function("f0_left", "int64_t (*)(void *, void *)")
    given, found = ffi().new("float[2]", [1 + 2.0**-12, 1 + 2.0**-11]), ffi().new("float[1]", [9])
    assert left(given, found) == 0
    assert found[0] == 0


def test_what_calls_no_mathematics_is_linked_without_libm(cache, monkeypatch):
    """The others are linked with it: a symbol that is not found is a failure of loading."""
    commands, start = [], compiling.Running
    monkeypatch.setattr(
        compiling, "Running", lambda command, *a, **k: commands.append(command) or start(command, *a, **k)
    )
    monkeypatch.setattr(compiling.sys, "platform", "linux")
    plain, floor = SEVEN, SEVEN.replace('"rm_dtypes.h"', '"rm_dtypes.h"\n#include "rm_integral.h"')
    fused = SEVEN.replace("run->site = 3", "run->site = (int64_t)fma(1.5, 2.0, run->site)")
    for text in (plain, floor, fused):
        build(text, NONE, cache=cache)
    needs_libm = ["-lm" in command for command in commands]
    assert needs_libm == [find_compiler().kind != "gcc", True, True]


@pytest.mark.parametrize("effort", Effort)
def test_every_effort_gives_the_same_bits(effort, cache):
    """A product and a sum of float32, each rounded once, as NumPy does."""
    text = (
        '#define RM_USE_float32\n#include "rm_guard.h"\n#include "rm_dtypes.h"\n#include "rm_arith.h"\n'
        "int64_t f0_sums(const rm_float32_cell *const a, rm_float32_cell *const b) {\n"
        "  for (int64_t i = 0; i < 100; ++i) {\n    b[i] = a[i] * a[i + 1] + a[i + 2];\n  }\n  return RM_DONE;\n}\n"
    )
    values = np.random.default_rng(0).normal(size=102).astype(np.float32)
    result = np.zeros(100, np.float32)
    function = build(text, NONE, cache=cache, effort=effort).function("f0_sums", "int64_t (*)(void *, void *)")
    function(ffi().from_buffer(values), ffi().from_buffer(result))
    assert result.tobytes() == (values[:100] * values[1:101] + values[2:]).tobytes()
