"""Libraries and their functions: what cffi believes of C, how long they stay."""

import gc
from pathlib import Path

import pytest
from seven import SEVEN, SEVEN_TYPE, unit

from refmlc.native.compile import BuildFailed, Cause, Library, build, compiler, ffi
from refmlc.native.options import ISAS
from refmlc.native.unit import Status

NONE = ISAS["none"]


def test_the_state_of_a_run_is_the_same_struct_for_c_and_for_python(cache, monkeypatch):
    monkeypatch.setattr(compiler, "check_unit", str)  # no generator writes offsetof
    fields = [name for name, _ in ffi().typeof("rm_run").fields]
    parts = ", ".join(f"offsetof(rm_run, {name}), sizeof(((rm_run *)0)->{name})" for name in fields)
    text = (
        '#include "rm_guard.h"\n#include <stddef.h>\n'
        f"static const int64_t told[] = {{sizeof(rm_run), {parts}}};\n"
        "int64_t layout(int64_t number) { return told[number]; }\n"
    )
    layout = build(text, NONE, cache=cache).function("layout", "int64_t (*)(int64_t)")
    assert layout(0) == ffi().sizeof("rm_run")
    for number, (_, field) in enumerate(ffi().typeof("rm_run").fields):
        assert (layout(2 * number + 1), layout(2 * number + 2)) == (field.offset, ffi().sizeof(field.type))
    assert {"fuel", "site", "result_int", "result_float"} <= set(fields)


def test_the_numbers_of_statuses_are_the_same_for_c_and_for_python(cache, monkeypatch):
    monkeypatch.setattr(compiler, "check_unit", str)  # no generator writes a table of statuses
    names = [f"RM_{status.name}" for status in Status]
    text = f'#include "rm_guard.h"\nint64_t number(int64_t at) {{ const int64_t all[] = {{{", ".join(names)}}}; '
    number = build(text + "return all[at]; }\n", NONE, cache=cache).function("number", "int64_t (*)(int64_t)")
    assert [number(at) for at in range(len(names))] == [status.value for status in Status]


def test_a_function_that_is_not_there_is_said(cache):
    with pytest.raises(BuildFailed, match="eight") as caught:
        build(SEVEN, NONE, cache=cache).function("eight", SEVEN_TYPE)
    assert caught.value.cause is Cause.NOT_LOADED


def test_what_is_no_library_is_said(tmp_path):
    with pytest.raises(BuildFailed) as caught:
        Library(str(tmp_path / "none.so"))
    assert caught.value.cause is Cause.NOT_LOADED


def test_a_function_holds_its_library(tmp_path):
    if not Path("/proc/self/maps").exists():
        pytest.skip("what is loaded cannot be seen here")
    library = build(unit(41), NONE, cache=None)
    function = library.function("f0_seven", SEVEN_TYPE)
    path = f"{library.path} (deleted)".split()[0]
    assert mapped(path)
    del library
    gc.collect()
    assert mapped(path)
    assert function(ffi().new("rm_run *"), ffi().new("int32_t *")) == 41
    del function
    gc.collect()
    assert not mapped(path)


def mapped(path):
    return path in Path("/proc/self/maps").read_text()
