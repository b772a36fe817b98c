"""A row of the exact references: what an operator means by a definition that others wrote."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from refmlc.oracle.exact.definitions.functions import ACCURACY

NUMPY = "NumPy 2.4"
PYTORCH = "PyTorch 2.13"
ONNX = "ONNX 1.23"
PYTHON = "Python 3.11"

ROUNDED = "one rounding to nearest (IEEE 754): half an ulp"
SAME = "no element is computed: the bits"
INTEGER = "an integer or bool follows from comparisons: no rounding"
FORMULA = "running error of the formula (Higham 2002, 3.1), functions by OpenCL 3.0"
SUM = "n * u * sum(abs(terms)) in any order (Jeannerod and Rump 2013), u of the result's format"
WIDE_SUM = "n * u * sum(abs(terms)) in any order, u of float32 for narrower floats, then one rounding"


@dataclass(frozen=True)
class ExactDefinition:
    """The definition of operator `name`.

    `compute` takes the arguments in the order of the operator, and its attributes by name; missing ones are None. It
    gives an array of NumPy (these elements, bit by bit), one of exact numbers, or a tuple of both. `source`: who
    defines it, with the version. `bound`: the reason for the distance that is permitted.
    """

    name: str
    compute: Callable[..., object]
    source: str
    bound: str


@dataclass(frozen=True)
class NoDefinition(Exception):
    """The definition says nothing about this call, for `reason`."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def of_function(name: str) -> str:
    """The reason for the bound of one function."""
    return f"{ACCURACY[name]:g} ulp, of float16 less (OpenCL 3.0 environment, relative error as ulps)"


def rows(compute: Mapping[str, Callable[..., object]], source: str, bound: str) -> tuple[ExactDefinition, ...]:
    """Rows of one source and one reason; `{}` in the source is the operator's last name."""
    return tuple(
        ExactDefinition(name, function, source.replace("{}", name.rpartition(".")[2]), bound)
        for name, function in compute.items()
    )
