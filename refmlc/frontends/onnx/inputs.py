"""The inputs of a graph as parameters of `main`.

| input    | is                                                                                              |
|----------|-------------------------------------------------------------------------------------------------|
| tensor   | a parameter; named dimensions are symbolic ones, those without a name have one of their own     |
| sequence | a parameter that is a tuple: the shape of each tensor must be given                             |
| optional | its element, or no parameter where None is given                                                |
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import onnx

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.arrays import dtype_named
from refmlc.frontends.onnx.node import identifier
from refmlc.frontends.onnx.sequences import Nothing, TensorSequence
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType, TupleType, Type

Extents: TypeAlias = "Sequence[int] | Sequence[Extents] | None"
"""The shape of a tensor, of each tensor of a sequence, or None for an optional without an element."""


class Inputs:
    """The parameters, in their order; `names` has the name in the model of each."""

    def __init__(self, shapes: Mapping[str, Extents]) -> None:
        self._shapes = shapes
        self._symbols: dict[str, tir.Var] = {}
        self.names: dict[relax.Var, str] = {}

    def params(self, inputs: Sequence[onnx.ValueInfoProto]) -> list[relax.Var]:
        """The parameters for inputs of the model. Fails: RM501, RM109, RM111."""
        for value in inputs:
            if not self._is_nothing(value):
                ty = self._type(value.type, value.name, self._shapes.get(value.name, _UNKNOWN))
                self.names[relax.Var(identifier(value.name), ty)] = value.name
        return list(self.names)

    def values(self, builder: BlockBuilder, inputs: Sequence[onnx.ValueInfoProto]) -> dict[str, Operand]:
        """What the rules take for each input; the fields of tuples are bound in the open function."""
        e, result = Emitter(builder), dict.fromkeys((item.name for item in inputs), Nothing())
        values: dict[str, Operand] = {**result}
        for var, name in self.names.items():
            fields = var.ty.fields if isinstance(var.ty, TupleType) else None
            parts = None if fields is None else tuple(e.item(var, place) for place in range(len(fields)))
            values[name] = var if parts is None else TensorSequence(parts)
        return values

    def _is_nothing(self, value: onnx.ValueInfoProto) -> bool:
        optional = value.type.WhichOneof("value") == "optional_type"
        return optional and value.name in self._shapes and self._shapes[value.name] is None

    def _type(self, values: onnx.TypeProto, name: str, shape: object) -> Type:
        match values.WhichOneof("value"):
            case "tensor_type":
                return self._tensor(values.tensor_type, name, shape)
            case "sequence_type":
                if not isinstance(shape, Sequence):
                    message = f"the input `{name}` is a sequence: the shapes of its tensors must be given"
                    raise fail(UNSUPPORTED_OP, message)
                element = values.sequence_type.elem_type
                return TupleType(tuple(self._type(element, f"{name}_{at}", extent) for at, extent in enumerate(shape)))
            case "optional_type":
                if shape is _UNKNOWN:
                    message = f"the input `{name}` is an optional: its shape, or None, must be given"
                    raise fail(UNSUPPORTED_OP, message)
                return self._type(values.optional_type.elem_type, name, shape)
            case kind:
                raise fail(UNSUPPORTED_OP, f"the input `{name}` is a {kind}, which is not supported")

    def _tensor(self, tensor: "onnx.TypeProto.Tensor", name: str, shape: object) -> TensorType:
        target = list(shape) if isinstance(shape, Sequence) else None
        if not tensor.HasField("shape") and target is None:
            raise fail(UNSUPPORTED_OP, f"the rank of the input `{name}` is not known")
        dims = list(tensor.shape.dim)
        if target is not None and tensor.HasField("shape") and len(target) != len(dims):
            raise fail(BAD_INPUT, f"the input `{name}` has {len(dims)} dimensions, {len(target)} are given")
        extents: list[tir.Expr] = []
        for place in range(len(dims) if target is None else len(target)):
            dim = dims[place] if place < len(dims) else None
            extent = target[place] if target is not None else _extent(dim)
            if extent is None:
                symbol = (dim.dim_param if dim is not None else "") or f"{name}_{place}"
                extents.append(self._symbols.setdefault(symbol, tir.Var(identifier(symbol), INT64)))
            elif extent < 0:
                raise fail(BAD_FILE, f"dimension {place} of the input `{name}` is {extent}")
            else:
                extents.append(tir.IntImm(INT64, int(extent)))
        return TensorType(tuple(extents), dtype_named(tensor.elem_type, f"the input `{name}`"))


_UNKNOWN = object()


def _extent(dim: "onnx.TensorShapeProto.Dimension | None") -> int | None:
    """The extent that a model says; None: a symbolic one."""
    return dim.dim_value if dim is not None and dim.WhichOneof("value") == "dim_value" else None
