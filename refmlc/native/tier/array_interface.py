"""How C asks arguments for their memory: through NumPy's array interface, by functions of Python's stable ABI.

| of an argument              | C learns it by                                                                  |
|-----------------------------|---------------------------------------------------------------------------------|
| that it is an array         | `PyObject_Type`: `numpy.ndarray` itself, no subclass                            |
| dtype, shape, flags, memory | `array.__array_struct__`, a capsule with the struct of the array interface      |

C asks for all of it at every call: nothing is known of an array but what it says then. `rm_python.h` declares the
structs; no layout of an object is assumed. Decision: this takes 50 ns for an array, `ffi.from_buffer` and a look at
dtype and shape in Python 210 ns. The kind and the size of elements tell the dtypes of NumPy apart, not those that
others add (bfloat16): functions on these have no cached calls.

Source: https://numpy.org/doc/stable/reference/arrays.interface.html; PEP 384 (the stable ABI).
"""

import ctypes
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from refmlc.native.compile import CFunction, ffi
from refmlc.native.compile.compiler import HEADERS

STRUCTS: Final = re.compile(r"typedef struct (rm_parameter|rm_entry) \{.*?\} \1;", re.DOTALL)
CONTIGUOUS: Final = 0x0001
ALIGNED: Final = 0x0100
NOT_SWAPPED: Final = 0x0200
WRITEABLE: Final = 0x0400
KINDS: Final = "biuf"
"""The kinds of the dtypes that a kind and a size tell apart."""

Method: TypeAlias = Callable[..., int]


class PythonFunctions(ctypes.Structure):
    """`rm_python` of `rm_python.h`."""

    _fields_ = (
        ("array_type", ctypes.py_object),
        ("interface", ctypes.py_object),
        ("type", ctypes.c_void_p),
        ("attribute", ctypes.c_void_p),
        ("pointer", ctypes.c_void_p),
        ("forget", ctypes.c_void_p),
        ("clear", ctypes.c_void_p),
        ("unlock", ctypes.c_void_p),
        ("lock", ctypes.c_void_p),
        ("number", ctypes.c_void_p),
    )


NAMES: Final = (
    *("PyObject_Type", "PyObject_GetAttr", "PyCapsule_GetPointer", "Py_DecRef", "PyErr_Clear"),
    *("PyEval_SaveThread", "PyEval_RestoreThread", "PyLong_FromLongLong"),
)
"""The functions, in the order of the fields."""


class MethodDefinition(ctypes.Structure):
    """`PyMethodDef` of the stable ABI."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


FASTCALL: Final = 0x0080  # METH_FASTCALL: a C function of the object, the arguments, and their number


@cache
def python_functions() -> PythonFunctions | None:
    """The `rm_python` of this process; None: this Python has no stable ABI, and there are no cached calls."""
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1:
        return None
    addresses = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in NAMES]
    return PythonFunctions(np.ndarray, "__array_struct__", *addresses)


@cache
def structs() -> Any:  # noqa: ANN401 - cffi has no types
    """The structs of `rm_python.h` that Python fills, declared to cffi."""
    import cffi  # noqa: PLC0415 - commands that compile nothing start without it

    interface = cffi.FFI()
    header = (HEADERS / "rm_python.h").read_text(encoding="utf-8")
    interface.cdef("\n".join(struct[0] for struct in STRUCTS.finditer(header)))
    return interface


def method(function: CFunction, entry: object) -> tuple[Method, list[object]]:
    """The entry `function` with its `rm_entry` as a built-in method, and what must live as long as it is called."""
    new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    new_method = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(MethodDefinition), ctypes.py_object)(
        ("PyCFunction_New", ctypes.pythonapi)
    )
    capsule = new_capsule(int(structs().cast("uintptr_t", entry)), None, None)
    definition = MethodDefinition(b"entry", int(ffi().cast("uintptr_t", function)), FASTCALL, None)
    return new_method(ctypes.byref(definition), capsule), [definition, function, entry]
