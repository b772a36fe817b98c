"""An application of an operator of Relax, and what makes its inputs. Runs inside TVM's environment."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tvm import IRModule, relax, tirx

RANDOM = np.random.default_rng(27)


@dataclass
class Case:
    """An operator application."""

    name: str
    apply: Callable
    inputs: tuple[np.ndarray, ...]


def prim(value):
    """A float32 prim value."""
    return (
        relax.PrimValue(tirx.FloatImm("float32", value))
        if hasattr(relax, "PrimValue")
        else relax.prim_value(tirx.FloatImm("float32", value))
    )


def f32(*shape, low=-2.0, high=2.0):
    """Uniform float32."""
    return RANDOM.uniform(low, high, shape).astype("float32")


def of(dtype, *shape, low=-9, high=9):
    """Random values of any dtype."""
    if dtype == "bool":
        return RANDOM.integers(0, 2, shape).astype("bool")
    if dtype.startswith("float"):
        return RANDOM.uniform(low, high, shape).astype(dtype)
    return RANDOM.integers(max(low, 0) if dtype.startswith("u") else low, high, shape).astype(dtype)


def build(case: Case) -> IRModule:
    """A module whose `main` applies the operator."""
    builder = relax.BlockBuilder()
    params = [
        relax.Var(f"x{i}", relax.TensorType(value.shape, str(value.dtype))) for i, value in enumerate(case.inputs)
    ]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(case.apply(*params)))
        builder.emit_func_output(result)
    return builder.get()
