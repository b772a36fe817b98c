"""Which memory is private to which thread axes."""

import pytest

from refmlc.lang.ir.scopes import axes_of, is_global


@pytest.mark.parametrize(
    ("scope", "axes"),
    [
        ("", ()),
        ("global", ()),
        ("global.texture", ()),
        ("global.texture-nhwc", ()),
        ("global.vtcm", ()),
        ("shared", ("blockIdx",)),
        ("shared.dyn", ("blockIdx",)),
        ("local", ("blockIdx", "threadIdx")),
        ("wmma.accumulator", ("blockIdx", "threadIdx")),
        ("globally", ("blockIdx", "threadIdx")),
    ],
)
def test_axes(scope, axes):
    assert axes_of(scope) == axes
    assert is_global(scope) is (axes == ())
