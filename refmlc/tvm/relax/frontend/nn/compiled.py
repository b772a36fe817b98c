"""What `Module.jit` gives: the methods of a module, called with tensors of PyTorch."""

from collections.abc import Callable
from typing import Self

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lazy import load
from refmlc.run.memory.tensor import Tensor as Array
from refmlc.tvm.arrays import from_dlpack
from refmlc.tvm.build_functions import VirtualMachine, build
from refmlc.tvm.devices import Device, device as device_named
from refmlc.tvm.relax.frontend.nn import spec as specs
from refmlc.tvm.relax.frontend.nn.export import exported
from refmlc.tvm.relax.frontend.nn.module import Module
from refmlc.tvm.relax.pipeline import get_pipeline
from refmlc.tvm.relax.transform import Pass


class TorchModule:
    """A built module with its weights: `compiled["forward"](x)`."""

    def __init__(self, spec: specs.ModuleSpec, vm: VirtualMachine, params: list[Array]) -> None:
        """The methods, the machine, the values of the weights."""
        self.spec = spec
        self.vm = vm
        self.params = params

    @classmethod
    def of(cls, module: Module, spec: object, device: object, pipeline: object, *, debug: bool) -> Self:
        """Export a module, apply the pipeline (the name of one, passes, or None), and build the result.

        Fails: RM105 where a weight has no values, or for another pipeline; as `get_pipeline` for a name.
        """
        passes = get_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
        if not (passes is None or isinstance(passes, Pass)):
            raise fail(BAD_ARGUMENTS, f"`pipeline` is a name or a pass; this is {type(pipeline).__name__}")
        methods = specs.ModuleSpec.from_raw(spec, module)
        built, parameters = exported(module, methods, debug=debug)
        absent = [name for name, parameter in parameters if parameter.data is None]
        if absent:
            raise fail(BAD_ARGUMENTS, f"the parameters have no values: {', '.join(absent)}")
        target = device if isinstance(device, Device) else device_named(str(device))
        values = [parameter.data for _, parameter in parameters if parameter.data is not None]
        prepared = built if passes is None else passes(built)
        return cls(methods, VirtualMachine(build(prepared), target), values)

    def __getitem__(self, method_name: str) -> Callable[..., object]:
        """A method. Fails: RM105 where there is none."""
        if method_name not in self.spec.method_names:
            raise fail(BAD_ARGUMENTS, f"the spec has no method `{method_name}`")
        method = self.spec.method_specs[self.spec.method_names.index(method_name)]
        function = self.vm[method_name]

        def called(*args: object) -> object:
            if len(args) != len(method.arg_specs):
                raise fail(BAD_ARGUMENTS, f"`{method_name}` takes {len(method.arg_specs)} arguments, not {len(args)}")
            values = [_given(spec, arg) for spec, arg in zip(method.arg_specs, args, strict=True)]
            packed: list[object] = [tuple(self.params)] if method.param_mode == "packed" else []
            weights = self.params if method.param_mode == "plain" else packed
            return _as_torch(function(*values, *weights))

        return called


def _given(spec: specs.Argument, value: object) -> object:
    match spec:
        case specs.Tensor():
            return from_dlpack(value)
        case specs.Int():
            return (value,)
        case specs.Tuple() if isinstance(value, tuple | list):
            return tuple(_given(item, part) for item, part in zip(spec.elements, value, strict=True))
    raise fail(BAD_ARGUMENTS, f"the argument is a {spec}; this is {type(value).__name__}")


def _as_torch(value: object) -> object:
    if isinstance(value, tuple | list):
        return [_as_torch(item) for item in value]
    return load("torch:from_dlpack")(value) if isinstance(value, Array) else value
