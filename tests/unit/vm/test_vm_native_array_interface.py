"""What entries know of arrays is what NumPy's array interface says at each call; the structs are the same in C."""

import ctypes
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from handwritten import counts, machine, module

from refmlc.native.compile import build, compiler
from refmlc.native.options import ISAS
from refmlc.native.tier import array_interface
from refmlc.native.tier.array_interface import PythonFunctions, python_functions, structs

pytestmark = pytest.mark.needs("compiler")


def numbers_of(expressions, monkeypatch):
    """The values of C expressions over `rm_python.h`."""
    monkeypatch.setattr(compiler, "check_unit", str)  # no generator writes offsetof
    text = (
        '#include "rm_python.h"\n#include <stddef.h>\n'
        f"static const int64_t values[] = {{{', '.join(expressions)}}};\n"
        "int64_t value(int64_t number) { return values[number]; }\n"
    )
    value = build(text, ISAS["none"], cache=None).function("value", "int64_t (*)(int64_t)")
    return [value(number) for number in range(len(expressions))]


@pytest.mark.parametrize("name", ["rm_parameter", "rm_entry"])
def test_the_structs_of_entries_are_the_same_for_c_and_for_python(name, monkeypatch):
    fields = structs().typeof(name).fields
    offsets = numbers_of([f"offsetof({name}, {field})" for field, _ in fields], monkeypatch)
    assert offsets == [field.offset for _, field in fields]


def test_the_functions_of_python_are_where_c_reads_them(monkeypatch):
    names = [name for name, _ in PythonFunctions._fields_]
    offsets = numbers_of([f"offsetof(rm_python, {name})" for name in names], monkeypatch)
    assert offsets == [getattr(PythonFunctions, name).offset for name in names]


def test_the_struct_of_the_array_interface_is_numpy_s(monkeypatch):
    class Interface(ctypes.Structure):  # as NumPy's manual declares it
        _fields_ = (
            *[(name, ctypes.c_int) for name in ("two", "rank")],
            ("kind", ctypes.c_char),
            *[(name, ctypes.c_int) for name in ("itemsize", "flags")],
            *[(name, ctypes.c_void_p) for name in ("shape", "strides", "data")],
        )

    names = [name for name, _ in Interface._fields_]
    assert numbers_of([f"offsetof(rm_array, {name})" for name in names], monkeypatch) == [
        getattr(Interface, name).offset for name in names
    ]
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    array = np.zeros((2, 3), np.float32)
    capsule = array.__array_struct__
    content = Interface.from_address(pointer(capsule, None))
    assert (content.two, content.rank, content.kind, content.itemsize) == (2, 2, b"f", 4)
    assert content.data == array.__array_interface__["data"][0]


def test_the_flags_are_numpy_s(monkeypatch):
    names = ("CONTIGUOUS", "ALIGNED", "NOT_SWAPPED", "WRITEABLE")
    assert numbers_of([f"RM_{name}" for name in names], monkeypatch) == [
        getattr(array_interface, name) for name in names
    ]


def test_without_the_stable_abi_no_call_is_cached(monkeypatch):
    python_functions.cache_clear()
    try:
        other = SimpleNamespace(implementation=SimpleNamespace(name="pypy"), maxsize=sys.maxsize)
        monkeypatch.setattr(array_interface, "sys", other)
        assert python_functions() is None
        vm = machine(module())
        for value in (1, 2):
            b = np.zeros(3, np.int32)
            vm["twice"](np.full(3, value, np.int32), b)
            assert b.tolist() == [2 * value] * 3
        assert vm["twice"]._cache.last is None
        assert counts(vm) == (2, 0, 0, 0)
    finally:
        monkeypatch.undo()
        python_functions.cache_clear()
