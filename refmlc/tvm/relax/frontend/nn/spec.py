"""`nn.spec`: what the methods of a module take when it is exported.

| written                                   | is                                               |
|-------------------------------------------|--------------------------------------------------|
| `spec.Tensor((1, "n"), "float32")`        | a tensor; equal names are one symbolic dimension |
| `int`, `spec.Int()`, `"int"`              | a number, which becomes a shape of one extent    |
| `spec.Object(object_type=Class)`          | any other value, wrapped in the class            |
| a tuple, a list, `spec.Tuple(name, …)`    | several                                          |
| `"$": {"param_mode": …, "effect_mode": …}` | how weights are passed: plain, packed, none     |
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS

MODES = ("plain", "packed", "none")


class Int:
    """A number."""

    def __repr__(self) -> str:
        return "int"


class Tensor:
    """A tensor of some shape and dtype."""

    def __init__(self, shape: Sequence[int | str], dtype: str) -> None:
        """The shape, with names for symbolic extents, and the dtype."""
        self.shape = list(shape)
        self.dtype = str(dtype)

    def __repr__(self) -> str:
        return f"Tensor([{', '.join(map(str, self.shape))}], '{self.dtype}')"


class Object:
    """A value of a class of `nn.Object`."""

    def __init__(self, object_type: type) -> None:
        """The class."""
        self.object_type = object_type

    def __repr__(self) -> str:
        return "object"


class Tuple:
    """Several values."""

    def __init__(self, name: str, elements: "list[Argument] | tuple[Argument, ...]") -> None:
        """The name of the variable, and what it holds. Fails: RM105."""
        if not isinstance(elements, tuple | list):
            raise fail(BAD_ARGUMENTS, f"the elements of a `spec.Tuple` are a tuple; this is {type(elements).__name__}")
        self.name = name
        self.elements = elements

    def __repr__(self) -> str:
        return repr(self.elements)


Argument = Int | Tensor | Object | Tuple


def argument(spec: object, name: str) -> Argument:
    """What a method takes for its parameter `name`. Fails: RM105."""
    if spec is Int or spec is int or spec == "int":
        return Int()
    if isinstance(spec, Int | Tensor | Object):
        return spec
    if isinstance(spec, Tuple):
        spec = spec.elements
    if isinstance(spec, tuple | list):
        items = [argument(item, f"{name}_{place}") for place, item in enumerate(spec)]
        return Tuple(name, tuple(items) if isinstance(spec, tuple) else items)
    raise fail(BAD_ARGUMENTS, f"the spec of the argument `{name}` is not understood: {spec!r}")


class MethodSpec:
    """What one method takes, and how weights are passed to its function."""

    def __init__(
        self,
        method: Callable[..., object],
        arg_names: Sequence[str],
        arg_specs: Sequence[Argument],
        param_mode: str = "plain",
        effect_mode: str = "plain",
    ) -> None:
        """The method. Fails: RM105 for a mode that there is not."""
        for mode in (param_mode, effect_mode):
            if mode not in MODES:
                raise fail(BAD_ARGUMENTS, f"a mode is one of {', '.join(MODES)}; this is {mode!r}")
        self.method = method
        self.arg_names = list(arg_names)
        self.arg_specs = list(arg_specs)
        self.param_mode = param_mode
        self.effect_mode = effect_mode

    def described(self, name: str) -> str:
        """The method as text."""
        pairs = zip(self.arg_names, self.arg_specs, strict=False)
        return f"{name}({', '.join(f'{parameter}: {spec}' for parameter, spec in pairs)})"

    def __repr__(self) -> str:
        return self.described("MethodSpec")

    @staticmethod
    def from_raw(spec: "MethodSpec | Mapping[str, object]", method: Callable[..., object]) -> "MethodSpec":
        """A method with what its parameters are by name. Fails: RM105 for a name that is none of them."""
        if isinstance(spec, MethodSpec):
            return spec
        modes = cast("Mapping[str, str]", spec.get("$", {}))
        names = list(signature(method).parameters)
        unknown = [name for name in spec if name != "$" and name not in names]
        if unknown:
            raise fail(BAD_ARGUMENTS, f"the method takes {names}; the spec names {unknown}")
        specs = [argument(spec[name], name) for name in names if name in spec]
        return MethodSpec(method, names, specs, modes.get("param_mode", "plain"), modes.get("effect_mode", "plain"))


class ModuleSpec:
    """What the methods of a module take."""

    def __init__(self, module: object, method_names: Sequence[str], method_specs: Sequence[MethodSpec]) -> None:
        """The module, and its methods in order."""
        self.module = module
        self.method_names = list(method_names)
        self.method_specs = list(method_specs)

    @staticmethod
    def from_raw(spec: object, module: object) -> "ModuleSpec":
        """The methods of `module` by name. Fails: RM105."""
        if isinstance(spec, ModuleSpec):
            return spec
        if not isinstance(spec, Mapping):
            raise fail(BAD_ARGUMENTS, f"a spec names methods and their arguments; this is {type(spec).__name__}")
        methods = []
        for name, raw in spec.items():
            method = getattr(module, name, None)
            if not callable(method):
                raise fail(BAD_ARGUMENTS, f"the module `{type(module).__name__}` has no method `{name}`")
            methods.append(MethodSpec.from_raw(cast("Mapping[str, object]", raw), method))
        return ModuleSpec(module, list(spec), methods)

    def __repr__(self) -> str:
        pairs = zip(self.method_names, self.method_specs, strict=True)
        return "ModuleSpec:\n" + "\n".join(f"  {method.described(name)}" for name, method in pairs)
