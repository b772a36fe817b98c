"""`nn.Module` and its containers: trees of weights, which are traced to a function for each method.

| class                            | holds                                                      |
|----------------------------------|------------------------------------------------------------|
| `Module`                         | weights and modules as attributes                          |
| `ModuleList`, `ModuleDict`       | modules                                                    |
| `ParameterList`, `ParameterDict` | weights                                                    |
| `Effect`                         | what changes between calls: TVM's debug mode and its cache |

Names of weights are the paths of attributes: `layers.0.fc.weight`, in the order in which they were set.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.tvm.relax.frontend.nn.tensor import Parameter


class Effect:
    """What changes between calls. A module that has one is refused when it is exported."""


class Module:
    """A part of a model: subclass it, set weights and modules in `__init__`, and define `forward`."""

    define_subroutine: bool = False

    def _children(self) -> Iterable[tuple[str, object]]:
        return self.__dict__.items()

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """The weights by their paths."""
        for name, child in self._children():
            if isinstance(child, Parameter):
                yield f"{prefix}{name}", child
            elif isinstance(child, Module):
                yield from child.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> Iterator[Parameter]:
        """The weights."""
        return (parameter for _, parameter in self.named_parameters())

    def state_dict(self, *, prefix: str = "", destination: dict[str, Parameter] | None = None) -> dict[str, Parameter]:
        """The weights by their paths, as a dictionary."""
        into: dict[str, Parameter] = {} if destination is None else destination
        into.update(self.named_parameters(prefix))
        return into

    def load_state_dict(self, state_dict: Mapping[str, Parameter], strict: bool = True) -> tuple[list[str], list[str]]:
        """Take values of weights; the paths that are missing, and that are not expected. Fails: RM105 if `strict`."""
        own = self.state_dict()
        for name in own.keys() & state_dict.keys():
            if state_dict[name].data is None:
                raise fail(BAD_ARGUMENTS, f"the parameter `{name}` has no values")
            own[name].data = state_dict[name].data
        absent = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        if strict and (absent or unexpected):
            raise fail(BAD_ARGUMENTS, f"the parameters {absent} are missing, {unexpected} are not expected")
        return absent, unexpected

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Trace `forward`. Fails: RM112 where there is none."""
        forward = getattr(self, "forward", None)
        if forward is None:
            raise fail(BAD_USAGE, f"the module `{type(self).__name__}` has no method `forward`")
        return forward(*args, **kwargs)

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of all weights."""
        for _, child in self._children():
            change = getattr(child, "to", None)
            if callable(change):
                change(dtype=dtype)
        if dtype is not None and isinstance(getattr(self, "dtype", None), str):
            self.dtype = dtype

    def export_tvm(
        self, spec: object, debug: bool = False, allow_extern: bool = False
    ) -> tuple[IRModule, list[tuple[str, Parameter]]] | tuple[IRModule, list[tuple[str, Parameter]], list[object]]:
        """The module with a function for each method of `spec`, and the weights by name.

        Fails: RM501 with `debug`, and where a module has effects.
        """
        module, parameters = load("refmlc.tvm.relax.frontend.nn.export:exported")(self, spec, debug=debug)
        return (module, parameters, []) if allow_extern else (module, parameters)

    def jit(
        self,
        spec: object,
        device: object = "cpu",
        pipeline: object = "default_build",
        out_format: str = "torch",
        debug: bool = False,
    ) -> object:
        """The built module, called with tensors of PyTorch. Fails: RM105 without values of a weight."""
        if out_format != "torch":
            raise fail(BAD_ARGUMENTS, f"`out_format` is torch; this is {out_format}")
        return load("refmlc.tvm.relax.frontend.nn.compiled:TorchModule").of(self, spec, device, pipeline, debug=debug)


def children_of(module: Module) -> list[tuple[str, object]]:
    """The members of a module by name. No method: a name of ours could be that of a member."""
    return list(module._children())  # noqa: SLF001 - of this file


def modules_of(module: Module) -> Iterator[Module]:
    """A module and all below it."""
    yield module
    for _, child in children_of(module):
        if isinstance(child, Module):
            yield from modules_of(child)


def effects_of(module: Module) -> Iterator[str]:
    """The names of the effects of a module and of those below it."""
    for part in modules_of(module):
        yield from (name for name, child in children_of(part) if isinstance(child, Effect))


class _Listed(Module):
    """A list of children."""

    def __init__(self, children: Iterable[object]) -> None:
        self._listed = list(children)

    def _children(self) -> Iterable[tuple[str, object]]:
        return ((str(place), child) for place, child in enumerate(self._listed))

    def __iter__(self) -> Iterator[object]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __getitem__(self, idx: int) -> object:
        return self._listed[idx]

    def __setitem__(self, idx: int, child: object) -> None:
        self._listed[idx] = child

    def append(self, child: object) -> None:
        """One more."""
        self._listed.append(child)

    def extend(self, children: Iterable[object]) -> None:
        """Several more."""
        for child in children:
            self.append(child)


class ModuleList(_Listed):
    """Modules in order; called, one after the other."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        """The list."""
        super().__init__(modules)

    @property
    def modules(self) -> list[object]:
        """The modules."""
        return self._listed

    def forward(self, x: object) -> object:
        """Each called on the result of the one before."""
        for module in self._listed:
            x = cast("Module", module)(x)
        return x


class ParameterList(_Listed):
    """Weights in order."""

    def __init__(self, params: Iterable[Parameter] | None = None) -> None:
        """The list. Fails: RM105 where a member is no parameter."""
        super().__init__(())
        self.extend(params or ())

    def append(self, child: object) -> None:
        """One more. Fails: RM105."""
        super().append(_parameter(child))

    def __setitem__(self, idx: int, child: object) -> None:
        super().__setitem__(idx, _parameter(child))


def _parameter(value: object) -> Parameter:
    if isinstance(value, Parameter):
        return value
    raise fail(BAD_ARGUMENTS, f"a member is an `nn.Parameter`; this is {type(value).__name__}")


class _Named(Module):
    """Children by names."""

    def __init__(self, children: Mapping[str, object]) -> None:
        self._named: dict[str, object] = {}
        self.update(children)

    def _children(self) -> Iterable[tuple[str, object]]:
        return self._named.items()

    def __len__(self) -> int:
        return len(self._named)

    def __contains__(self, key: object) -> bool:
        return key in self._named

    def __getitem__(self, key: str) -> object:
        return self._named[key]

    def __setitem__(self, key: str, child: object) -> None:
        self._named[key] = child

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._named.keys()

    def values(self) -> Iterable[object]:
        """The members."""
        return self._named.values()

    def items(self) -> Iterable[tuple[str, object]]:
        """Names and members."""
        return self._named.items()

    def get(self, key: str, default: object = None) -> object:
        """A member, or `default`."""
        return self._named.get(key, default)

    def update(self, children: Mapping[str, object]) -> None:
        """More members."""
        for key, child in children.items():
            self[key] = child

    def clear(self) -> None:
        """No members."""
        self._named.clear()

    def pop(self, key: str) -> object:
        """Take a member out."""
        return self._named.pop(key)


class ModuleDict(_Named):
    """Modules by names; iteration gives the modules, as in TVM."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        """The modules."""
        super().__init__(modules or {})

    def __iter__(self) -> Iterator[object]:
        return iter(self._named.values())


class ParameterDict(_Named):
    """Weights by names."""

    def __init__(self, params: Mapping[str, Parameter] | None = None) -> None:
        """The weights. Fails: RM105 where a member is no parameter."""
        super().__init__(params or {})

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __setitem__(self, key: str, child: object) -> None:
        super().__setitem__(key, _parameter(child))
