"""The arguments of a call of PyTorch brought to the parameters of its rule: none of them is ignored.

| an argument                                         | goes                |
|-----------------------------------------------------|---------------------|
| at the place of a parameter that means it (`MEANT`) | there               |
| elsewhere, with a parameter of its name or meaning  | there               |
| that says where and how tensors lie, or is for      | nowhere (`IDLE`)    |
| gradients alone                                     |                     |
| with the value that it has where nobody gives it    | nowhere             |
| anything else                                       | RM501 with its name |

The names and the values come from PyTorch's own schema of an operator, or from the signature of its function.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.malformed_input import RAISED
from refmlc.frontends.rule import Rule

ABSENT = inspect.Parameter.empty
BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
IDLE = frozenset(
    {
        *("device", "pin_memory", "layout", "memory_format", "non_blocking", "copy", "implicit", "inplace"),
        *("cudnn_enable", "cudnn_enabled", "requires_grad", "sparse", "sparse_grad", "scale_grad_by_freq"),
        *("padding_idx", "path", "_stacklevel"),
    }
)
"""Arguments that do not change a result: places, layouts in memory, gradients, orders of evaluation."""

LISTED = frozenset({"size", "shape", "dims", "repeats", "dim", "start", "end", "step", "other"})
"""What rules take one by one, or as one list, after their other arguments."""

DENSE = (None, "torch.strided")

MEANT: Mapping[str, tuple[str, ...]] = {
    "self": ("x", "a", "value"),
    "input": ("x", "a", "indices"),
    "C": ("_channels",),
    "HxW": ("_places",),
    "N": ("_batch",),
    "a": ("x", "a"),
    "axis0": ("dim0",),
    "axis1": ("dim1",),
    "axis": ("dim",),
    "b": ("b", "index"),
    "batch1": ("a",),
    "batch2": ("b",),
    "dim": ("dim_or_other",),
    "exponent": ("b",),
    "fill_value": ("value",),
    "half_to_float": ("to_float32",),
    "hx": ("start",),
    "index": ("indices",),
    "keepdims": ("keepdim",),
    "mat1": ("a",),
    "mat2": ("b",),
    "momentum": ("_momentum",),
    "normalized_shape": ("shape",),
    "ord": ("p",),
    "other": ("b", "dim_or_other"),
    "pad": ("widths",),
    "running_mean": ("mean",),
    "running_var": ("variance",),
    "s": ("value",),
    "split_size": ("size",),
    "scale_factors": ("scales",),
    "split_size_or_sections": ("size",),
    "split_sizes": ("size",),
    "tensor": ("b",),
    "tensor1": ("a",),
    "tensor2": ("b",),
    "value": ("src",),
    "training": ("train", "_training"),
    "transposed": ("turned",),
    "vec": ("b",),
    "vec2": ("b",),
}
"""The names that rules have for what PyTorch calls otherwise."""


@dataclass(frozen=True)
class Argument:
    """One argument that PyTorch declares: its name, whether it is only given by name, and its value without a word."""

    name: str
    by_name: bool = False
    default: object = ABSENT


def declared(target: object) -> Sequence[Argument] | None:
    """The arguments of an operator by its schema, of a function by its signature; None where neither is there."""
    schema = getattr(target, "_schema", None)
    if schema is not None:
        return [
            Argument(
                argument.name, argument.kwarg_only, argument.default_value if argument.has_default_value() else ABSENT
            )
            for argument in schema.arguments
        ]
    try:
        result = inspect.signature(target).parameters.values() if callable(target) else ()
    except (TypeError, ValueError):  # written in C
        return None
    if not result or any(item.kind not in (*BY_PLACE, inspect.Parameter.KEYWORD_ONLY) for item in result):
        return None
    return [Argument(item.name, item.kind not in BY_PLACE, item.default) for item in result]


def applied(
    rule: Rule,
    e: Emitter,
    args: Sequence[Operand],
    named: Mapping[str, Operand],
    arguments: Sequence[Argument] | None = None,
) -> Operand:
    """The rule of its arguments; `arguments`: what PyTorch declares. Fails: RM501 for one that the rule ignores."""
    places = [argument.name for argument in arguments or () if not argument.by_name]
    defaults = {argument.name: argument.default for argument in arguments or ()}
    bound = _Bound(rule, defaults)
    for at, value in enumerate(args):
        bound.place(at, places[at] if at < len(places) else None, value)
    for name, value in named.items():
        bound.name(name, value)
    with understood():
        return rule(e, *bound.args, **bound.named)


@contextmanager
def understood() -> Iterator[None]:
    """Apply a rule in this block. Fails: RM501 where it meets arguments of a kind that it does not know."""
    try:
        yield
    except RAISED as bad:
        reason = " ".join(str(bad).split())[:200]
        raise fail(
            UNSUPPORTED_OP, f"it is not supported with these arguments ({type(bad).__name__}: {reason})"
        ) from bad


class _Bound:
    """The arguments that a rule gets."""

    def __init__(self, rule: Rule, defaults: Mapping[str, object]) -> None:
        parameters = list(inspect.signature(rule).parameters.values())[1:]
        self.places = [parameter.name for parameter in parameters if parameter.kind in BY_PLACE]
        self.names = [
            parameter.name for parameter in parameters if parameter.kind in (*BY_PLACE, inspect.Parameter.KEYWORD_ONLY)
        ]
        self.any_place = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
        self.any_name = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
        self.defaults = defaults
        self.args: list[Operand] = []
        self.named: dict[str, Operand] = {}

    def place(self, at: int, name: str | None, value: Operand) -> None:
        """Take the argument at a place, which PyTorch calls `name` where that is known."""
        here = self.places[at] if at < len(self.places) else None
        if self.any_place and at >= len(self.places) and (name is None or self.any_name or name in LISTED):
            self.args.append(value)
        elif here is not None and here not in self.named and (name is None or here in (name, *MEANT.get(name, ()))):
            self._put(here, value, in_order=at == len(self.args))
        elif name is None:
            raise fail(UNSUPPORTED_OP, f"its argument {at + 1} is not supported")
        else:
            self.name(name, value)

    def name(self, name: str, value: Operand) -> None:
        """Take an argument by its name. Fails: RM501."""
        placed = self.places[: len(self.args)]
        free = [item for item in self.names if item not in placed and item not in self.named]
        result = next((item for item in (name, *MEANT.get(name, ())) if item in free), None)
        if result is not None:
            self._put(result, value, in_order=False)
        elif self.any_place and not self.args and name in LISTED:
            self.args.append(value)
        elif not self._is_idle(name, value):
            raise fail(UNSUPPORTED_OP, f"its argument `{name}` is not supported")

    def _put(self, name: str, value: Operand, *, in_order: bool) -> None:
        if in_order:
            self.args.append(value)
        else:
            self.named[name] = value

    def _is_idle(self, name: str, value: Operand) -> bool:
        """Whether it says nothing about the result."""
        if name == "layout":
            return value is None or str(value) in DENSE
        return self.any_name or name in IDLE or is_default(value, self.defaults.get(name))


def is_default(value: Operand, default: object) -> bool:
    """Whether the value is what holds where nobody gives one."""
    if value is None or value is False:
        return default in (None, False, ABSENT)
    return type(value) is type(default) and isinstance(value, bool | int | float | str) and value == default
