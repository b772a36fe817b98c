"""`tvm.te`: tensor expressions, all of `refmlc.lang.te`."""

from collections.abc import Sequence

from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.tvm.former import as_2022, is_2022
from refmlc.tvm.missing_names import missing


def create_prim_func(ops: "Sequence[te.Tensor | te.Value]", index_dtype_override: str | None = None) -> tir.PrimFunc:
    """The TensorIR function of tensors, as `refmlc.lang.te.create_prim_func`; there is no other dtype of indices."""
    if index_dtype_override:
        raise missing(__name__, "create_prim_func(index_dtype_override)")
    func = te.create_prim_func(ops)
    return as_2022(func, "main", emitted=False) if is_2022() else func


def size_var(name: str = "size", dtype: str = "int32", span: object = None) -> te.Value:
    """A variable that stands for a size. A call that gives a negative one is refused for any variable of a shape."""
    del span
    return te.var(name, dtype)


def __getattr__(name: str) -> object:
    """A name of `refmlc.lang.te`."""
    if name not in te.__all__:
        raise missing(__name__, name, te.__all__)
    value: object = getattr(te, name)
    return value


def __dir__() -> list[str]:
    """The names of `refmlc.lang.te`."""
    return [*te.__all__, "size_var"]
