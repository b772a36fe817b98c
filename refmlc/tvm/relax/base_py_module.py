"""`BasePyModule`: functions of Python beside TensorIR and Relax in one class, called with tensors of PyTorch.

| function of the class          | called on an instance                                                      |
|--------------------------------|-----------------------------------------------------------------------------|
| TensorIR                       | as it is: with tensors for inputs and outputs                              |
| Relax                          | with tensors of PyTorch or refmlc; gives tensors of PyTorch                |
| Python (`@I.pyfunc`)           | as a method; a Relax function calls it by `R.call_py_func`, by its name    |

Reading the class executes none of them. `call_tir` and `call_dps_packed` make their outputs by `out_ty`; symbolic
extents of it are those that the arguments give the buffers of the function.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import getattr_static
from types import FunctionType
from typing import ClassVar, Self

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lazy import load
from refmlc.run.memory.registry import get_func, register_func
from refmlc.run.memory.tensor import Tensor
from refmlc.tvm.arrays import empty, from_dlpack, tensor
from refmlc.tvm.build_functions import Executable, build
from refmlc.tvm.devices import checked_device, checked_target
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.script.types import as_type


class BasePyModule:
    """The base of such a class. An instance builds the functions of TensorIR; those of Relax at their first call."""

    ir_mod: ClassVar[IRModule] = IRModule({})
    pyfuncs: ClassVar[Mapping[str, Callable[..., object]]] = {}

    @classmethod
    def of_module(cls, module: IRModule) -> type[Self]:
        """The class with the `module` that was read from it: the result of `I.ir_module`."""
        cls.ir_mod = module
        externs = [name for name, func in module.functions.items() if isinstance(func, relax.ExternFunc)]
        members = {name: getattr_static(cls, name, None) for name in externs}
        cls.pyfuncs = {name: member for name, member in members.items() if isinstance(member, FunctionType)}
        return cls

    def __init__(self, device: object = None, target: object = None) -> None:
        """Build it. Fails: as `relax.build`, RM112 for another device."""
        checked_device(device)
        checked_target(target)
        self.device = device
        self._relax: Executable | None = None
        programs = {name: func for name, func in self.ir_mod.functions.items() if isinstance(func, tir.PrimFunc)}
        self.compiled_tir_funcs: dict[str, Callable[..., object]] = {}
        if programs:
            built = build(IRModule(programs))
            self.compiled_tir_funcs = {name: built[name] for name in programs}
        for name, func in self.ir_mod.functions.items():
            if isinstance(func, tir.PrimFunc):
                setattr(self, name, self.compiled_tir_funcs[name])
            elif isinstance(func, relax.Function):
                setattr(self, name, self._relax_function(name))

    def _relax_function(self, name: str) -> Callable[..., object]:
        def called(*args: object) -> object:
            if self._relax is None:
                self._register()
                kept = {key: func for key, func in self.ir_mod.functions.items() if key not in self.pyfuncs}
                self._relax = build(IRModule(kept, self.ir_mod.attrs, self.ir_mod.global_infos))
            return self._convert_tvm_to_pytorch(self._relax[name](*self._converted(args)))

        called.__name__ = name
        return called

    def _register(self) -> None:
        """The functions of Python by their names, for `R.call_py_func`."""
        for name in self.pyfuncs:
            register_func(name, self._registered(name), override=True)

    def _registered(self, name: str) -> Callable[..., object]:
        def called(*args: object) -> object:
            result = self.call_py_func(name, [self._convert_tvm_to_pytorch(arg) for arg in args])
            return self._convert_pytorch_to_tvm(result)

        return called

    # ------------------------------------------------------------------------------------------------- calls

    def call_tir(self, tir_func: object, args: object, out_ty: object) -> object:
        """Call a function of TensorIR by its name or itself; its outputs, as tensors of PyTorch. Fails: RM105."""
        name = tir_func if isinstance(tir_func, str) else self._name_of(tir_func)
        func = self.ir_mod.functions.get(name)
        if not isinstance(func, tir.PrimFunc):
            known = ", ".join(self.compiled_tir_funcs)
            raise fail(BAD_ARGUMENTS, f"the module has no TensorIR function `{name}`; it has {known}")
        inputs = self._converted(args)
        outputs = _output_tensors(out_ty, _written_shapes(func, inputs))
        self.compiled_tir_funcs[name](*inputs, *outputs)
        return self._outputs(outputs)

    def _name_of(self, func: object) -> str:
        return next((name for name, member in self.compiled_tir_funcs.items() if member is func), "?")

    def call_dps_packed(self, func_name: str, args: object, out_ty: object) -> object:
        """Call a method, or a registered function, which writes its outputs. Fails: RM402."""
        method = getattr(self, func_name, None)
        if callable(method):
            return method(*(args if isinstance(args, tuple | list) else (args,)))
        inputs = self._converted(args)
        outputs = _output_tensors(out_ty, ())
        get_func(func_name)([*inputs, *outputs])
        return self._outputs(outputs)

    def call_py_func(self, func_name: str, args: Sequence[object]) -> object:
        """Call a function of Python. Fails: RM105 where the module has none of that name."""
        if func_name not in self.pyfuncs:
            raise fail(BAD_ARGUMENTS, f"the module has no Python function `{func_name}`")
        return self.pyfuncs[func_name](self, *args)

    def _outputs(self, outputs: Sequence[Tensor]) -> object:
        results = [self._convert_tvm_to_pytorch(output) for output in outputs]
        return results[0] if len(results) == 1 else results

    # ----------------------------------------------------------------------------------------------- tensors

    def _converted(self, args: object) -> list[object]:
        return [self._convert_pytorch_to_tvm(arg) for arg in (args if isinstance(args, tuple | list) else (args,))]

    def _convert_pytorch_to_tvm(self, tensors: object) -> object:
        """Tensors of refmlc for tensors of PyTorch; lists of them too."""
        match tensors:
            case Tensor() | int() | float():
                return tensors
            case list() | tuple():
                return [self._convert_pytorch_to_tvm(item) for item in tensors]
            case np.ndarray():
                return tensor(tensors)
        detach = getattr(tensors, "detach", None)
        return from_dlpack(tensors if detach is None else detach().contiguous())

    def _convert_tvm_to_pytorch(self, tvm_tensors: object) -> object:
        """Tensors of PyTorch for tensors of refmlc; lists of them too."""
        match tvm_tensors:
            case Tensor():
                return load("torch:from_numpy")(tvm_tensors.numpy())
            case list() | tuple():
                return [self._convert_tvm_to_pytorch(item) for item in tvm_tensors]
        return tvm_tensors

    # -------------------------------------------------------------------------------------------------- text

    def list_functions(self) -> dict[str, list[str]]:
        """The names of the functions, by language."""
        kinds = {"tirx": tir.PrimFunc, "relax": relax.Function, "extern": relax.ExternFunc}
        functions = self.ir_mod.functions.items()
        return {title: [name for name, func in functions if isinstance(func, kind)] for title, kind in kinds.items()}

    def script(self) -> str:
        """The text of the module; functions of Python are external functions in it."""
        return self.ir_mod.script()

    def show(self) -> None:
        """Show the text."""
        self.ir_mod.show()


def _written_shapes(func: tir.PrimFunc, inputs: Sequence[object]) -> list[list[int | None]]:
    """The extents of the buffers after the inputs; None where the inputs do not say one."""
    values: dict[tir.Var, int] = {}
    for param, value in zip(func.params, inputs, strict=False):
        buffer = func.buffer_map.get(param)
        if buffer is not None and isinstance(value, Tensor):
            pairs = zip(buffer.shape, value.shape, strict=False)
            values.update((extent, size) for extent, size in pairs if isinstance(extent, tir.Var))
    written = [func.buffer_map[param] for param in func.params[len(inputs) :] if param in func.buffer_map]
    return [[_extent(extent, values) for extent in buffer.shape] for buffer in written]


def _extent(extent: tir.Expr, values: Mapping[tir.Var, int]) -> int | None:
    match extent:
        case tir.IntImm(value=value):
            return value
        case tir.Var():
            return values.get(extent)
        case _:
            return None


def _output_tensors(out_ty: object, shapes: Sequence[Sequence[int | None]]) -> list[Tensor]:
    """New tensors of the types; `shapes` says symbolic extents. Fails: RM105, RM504 where an extent is not known."""
    tensors = []
    for place, each in enumerate(out_ty if isinstance(out_ty, list) else [out_ty]):
        ty = as_type(each)
        if not isinstance(ty, TensorType) or ty.shape is None or ty.dtype is None:
            raise fail(BAD_ARGUMENTS, f"`out_ty` is a tensor type with a shape; this is {ty!r}")
        inferred = shapes[place] if place < len(shapes) else [None] * len(ty.shape)
        sizes = [_extent(extent, {}) for extent in ty.shape]
        sizes = [size if size is not None else other for size, other in zip(sizes, inferred, strict=True)]
        if None in sizes:
            raise fail(UNSUPPORTED_CONSTRUCT, "`out_ty` has a symbolic extent that no argument binds")
        tensors.append(empty([size for size in sizes if size is not None], str(ty.dtype)))
    return tensors


__all__ = ["BasePyModule"]

__getattr__ = refusal(__name__, __all__)
