"""What entries take arrays and tuples to be is the same for C and for Python, and is compared with what they are."""

import numpy as np
import pytest

from refmlc.native.compile import build, compiler
from refmlc.native.options import ISAS
from refmlc.native.tier import layout
from refmlc.native.tier.layout import as_declared, structs

pytestmark = pytest.mark.needs("compiler")


@pytest.fixture
def looked_at_again():
    """Nothing is remembered, before and after."""
    as_declared.cache_clear()
    yield
    as_declared.cache_clear()


@pytest.mark.parametrize("name", ["rm_object", "rm_tuple", "rm_ndarray", "rm_parameter", "rm_entry"])
def test_the_structs_are_the_same_for_c_and_for_python(name, monkeypatch):
    monkeypatch.setattr(compiler, "check_unit", str)  # no generator writes offsetof
    fields = structs().typeof(name).fields
    parts = ", ".join(f"offsetof({name}, {field})" for field, _ in fields)
    text = (
        '#include "rm_python.h"\n#include <stddef.h>\n'
        f"static const int64_t told[] = {{{parts}}};\n"
        "int64_t place(int64_t number) { return told[number]; }\n"
    )
    place = build(text, ISAS["none"], cache=None).function("place", "int64_t (*)(int64_t)")
    assert [place(number) for number in range(len(fields))] == [field.offset for _, field in fields]


def test_the_flags_are_numpy_s(monkeypatch):
    monkeypatch.setattr(compiler, "check_unit", str)  # no generator asks for flags
    text = (
        '#include "rm_python.h"\n'
        "int64_t flag(int64_t n) { return n == 0 ? RM_CONTIGUOUS : n == 1 ? RM_ALIGNED : RM_WRITEABLE; }\n"
    )
    flag = build(text, ISAS["none"], cache=None).function("flag", "int64_t (*)(int64_t)")
    assert [flag(n) for n in range(3)] == [layout.CONTIGUOUS, layout.ALIGNED, layout.WRITEABLE]
    plain = np.zeros((2, 3), np.float32)
    assert plain.flags.num & 0x0501 == layout.CONTIGUOUS | layout.ALIGNED | layout.WRITEABLE


def test_this_python_is_as_declared(looked_at_again):
    assert as_declared()


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (layout.sys, "implementation", type("Other", (), {"name": "pypy"})),
        (layout, "SIZES", {**layout.SIZES, np.ndarray: 4096}),
        (layout, "CONTIGUOUS", 0x0002),
        (layout, "_samples", lambda: [np.zeros(3).view(type("Other", (np.ndarray,), {}))] * 3),
    ],
)
def test_another_layout_is_noticed(looked_at_again, monkeypatch, place, name, value):
    monkeypatch.setattr(place, name, value)
    assert not as_declared()
