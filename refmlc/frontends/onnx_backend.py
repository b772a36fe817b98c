"""refmlc as a backend of ONNX, as `onnx.backend.base` describes one; ONNX's own tests run through it.

    import refmlc.frontends.onnx_backend as backend
    outputs = backend.run_model(model, [x])

How a model is imported for a run:

| step | the import knows                                                                             |
|------|----------------------------------------------------------------------------------------------|
| 1    | the model alone                                                                              |
| 2    | the shapes of the inputs too, where the model leaves one open and step 1 is not supported    |
| 3    | the elements of an input too, when a shape, an axis or a count is computed from it           |

Whatever is known becomes a constant of the module, which computes everything else itself: ONNX's evaluator computes no
result. Modules are kept for further runs with inputs of the same shapes, and the same elements of what step 3 fixed.

Fails: RM501 (`refmlc.Unsupported`) for what is not supported, by name; RM111 for inputs that do not fit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from refmlc.diag import Unsupported, fail
from refmlc.diag.catalogue import BAD_INPUT
from refmlc.frontends.onnx import from_onnx
from refmlc.frontends.onnx.constant_values import ComputedFromData
from refmlc.lang.ir import IRModule
from refmlc.lazy import provided

KEPT = 16
"""How many modules of one model are kept."""


class Prepared(BackendRep):  # type: ignore[misc]  # mypy does not look into ONNX
    """A model that can be run."""

    def __init__(self, model: onnx.ModelProto, tier: str) -> None:
        self._model = model
        self._tier = tier
        field = {item.name for item in model.graph.initializer}
        self._inputs = [item.name for item in model.graph.input if item.name not in field]
        self._machines: dict[object, tuple[Any, list[str]]] = {}
        self._fixed: frozenset[str] = frozenset()

    def run(self, inputs: Sequence[object] | Mapping[str, object], **kwargs: Any) -> tuple[Any, ...]:  # noqa: ANN401 - ONNX's signature
        """The outputs for inputs in their order or by name: arrays, lists of them for sequences, None for optionals."""
        if kwargs:
            raise fail(BAD_INPUT, f"a run has no option `{min(kwargs)}`")
        values = self._by_name(inputs)
        machine, names = self._machine(values)
        result = machine["main"](*(values[name] for name in names))
        outputs = (result,) if len(self._model.graph.output) == 1 else result
        return tuple(_array(output) for output in outputs)

    def module(self, inputs: Sequence[object] | Mapping[str, object]) -> IRModule:
        """The module that computes the outputs for these inputs."""
        return self._imported(self._by_name(inputs))[0]

    def _by_name(self, inputs: Sequence[object] | Mapping[str, object]) -> dict[str, object]:
        values = dict(inputs) if isinstance(inputs, Mapping) else dict(zip(self._inputs, inputs, strict=False))
        if len(inputs) != len(self._inputs) or set(values) != set(self._inputs):
            arguments = sorted(inputs) if isinstance(inputs, Mapping) else f"{len(inputs)} inputs"
            raise fail(BAD_INPUT, f"the model takes {self._inputs}; {arguments} are given")
        return {name: _value(value) for name, value in values.items()}

    def _machine(self, values: Mapping[str, object]) -> tuple[Any, list[str]]:
        """What runs the model for these inputs, and which of them are its arguments."""
        key = self._key(values)
        if key not in self._machines:
            module, fixed = self._imported(values)
            self._fixed |= fixed
            arguments = [name for name in self._inputs if name not in fixed and values[name] is not None]
            if len(self._machines) >= KEPT:
                self._machines.clear()
            machine = provided("vm.machine")(provided("vm.build")(module, self._tier))
            key = self._key(values)
            self._machines[key] = machine, arguments
        return self._machines[key]

    def _key(self, values: Mapping[str, object]) -> object:
        """Equal for inputs that one module computes."""
        fixed = tuple((name, _bytes(values[name])) for name in self._inputs if name in self._fixed)
        return fixed, tuple(_shape_key(values[name]) for name in self._inputs)

    def _imported(self, values: Mapping[str, object]) -> tuple[IRModule, frozenset[str]]:
        """The module for these inputs, and those that it has as constants. Fails: as `from_onnx`."""
        shapes: dict[str, Any] = {}
        fixed: frozenset[str] = frozenset()
        while True:
            known = {name: value for name, value in values.items() if name in fixed and isinstance(value, np.ndarray)}
            try:
                return from_onnx(self._model, shapes, known=known), frozenset(known)
            except Unsupported as refused:
                needed = refused.inputs - fixed if isinstance(refused, ComputedFromData) else frozenset()
                if needed:
                    fixed |= needed
                elif not shapes and values:
                    shapes = {name: _extents(value) for name, value in values.items()}
                else:
                    raise


class RefmlcBackend(Backend):  # type: ignore[misc]  # as above
    """Models of ONNX, computed by refmlc."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:  # noqa: ANN401, ARG003 - ONNX's signature
        """False where an operator of the model is certainly not supported."""
        try:
            from_onnx(model)
        except ComputedFromData:
            return cls.supports_device(device)
        except Unsupported:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(
        cls,
        model: onnx.ModelProto,
        device: str = "CPU",
        tier: str = "auto",
        **kwargs: Any,  # noqa: ANN401 - ONNX's signature
    ) -> Prepared:
        """The model, ready to run; `tier`: as `refmlc.build` takes it. Fails: RM111."""
        if kwargs or not cls.supports_device(device):
            option = f"option `{min(kwargs)}`" if kwargs else f"device {device!r}"
            raise fail(BAD_INPUT, f"this backend of ONNX has no {option}")
        return Prepared(model, tier)

    @classmethod
    def run_model(
        cls,
        model: onnx.ModelProto,
        inputs: Any,  # noqa: ANN401 - ONNX's signature
        device: str = "CPU",
        **kwargs: Any,  # noqa: ANN401 - ONNX's signature
    ) -> tuple[Any, ...]:
        """The outputs of a model for inputs."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,  # noqa: ANN401 - ONNX's signature
        device: str = "CPU",
        outputs_info: object = None,  # noqa: ARG003 - types follow from the inputs
        **kwargs: Any,  # noqa: ANN401 - ONNX's signature
    ) -> tuple[Any, ...]:
        """The outputs of one node; `opset_version`: of its operator, the newest by default."""
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        named = [name for name in node.input if name]
        values = dict(zip(named, map(_value, inputs), strict=True))
        graph = onnx.helper.make_graph(
            [node],
            "node",
            [onnx.helper.make_value_info(name, _type(value)) for name, value in values.items()],
            [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name],
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, version)])
        return cls.run_model(model, list(values.values()), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device is the CPU."""
        return device == "CPU"


is_compatible = RefmlcBackend.is_compatible
prepare = RefmlcBackend.prepare
run_model = RefmlcBackend.run_model
run_node = RefmlcBackend.run_node
supports_device = RefmlcBackend.supports_device


def _value(value: object) -> object:
    """An input as arrays. Fails: RM111."""
    match value:
        case None | np.ndarray():
            return value
        case onnx.TensorProto():
            return onnx.numpy_helper.to_array(value)
        case list() | tuple():
            return [_value(item) for item in value]
        case bool() | int() | float() | np.generic():
            return np.asarray(value)
    raise fail(BAD_INPUT, f"an input is an array or a list of arrays; this is {type(value).__name__}")


def _extents(value: object) -> object:
    """The shape of an array; of a list, those of what is in it."""
    if isinstance(value, list):
        return [_extents(item) for item in value]
    return value.shape if isinstance(value, np.ndarray) else None


def _shape_key(value: object) -> object:
    if isinstance(value, list):
        return ("list", *map(_shape_key, value))
    return (str(value.dtype), value.shape) if isinstance(value, np.ndarray) else None


def _bytes(value: object) -> object:
    return value.tobytes() if isinstance(value, np.ndarray) else None


def _type(value: object) -> onnx.TypeProto:
    """The type of an input in ONNX's words."""
    helper = onnx.helper
    if isinstance(value, list):
        return helper.make_sequence_type_proto(_type(value[0]) if value else helper.make_tensor_type_proto(1, None))
    if not isinstance(value, np.ndarray):
        raise fail(BAD_INPUT, "an input of a node is left out by its name, not by None")
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _array(value: Any) -> Any:  # noqa: ANN401 - what a machine gives
    return [_array(item) for item in value] if isinstance(value, tuple | list) else value.numpy()
