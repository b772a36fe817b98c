"""`tvm.testing`: comparison of arrays."""

import numpy as np

from refmlc.tvm.missing_names import refusal

__all__ = ["assert_allclose"]


def assert_allclose(actual: object, desired: object, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Fail where two arrays differ by more than the tolerances. Fails: AssertionError."""
    np.testing.assert_allclose(np.asarray(actual), np.asarray(desired), rtol=rtol, atol=atol, verbose=True)


__getattr__ = refusal(__name__, __all__)
