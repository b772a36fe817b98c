"""Operators on values of any kind: null, print, assert, closures, conditions. RLX-211 … RLX-224, RLX-405 … RLX-407."""

import re

from refmlc.diag.catalogue import ASSERT_FAILED, OUT_OF_BOUNDS, UNSUPPORTED_CONSTRUCT
from refmlc.run.interp.graph.call_site import Site, flattened
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, Shape

_FIELD = re.compile(r"\{\{|\}\}|\{([0-9]{0,4})\}|[{}]")


def null(_site: Site) -> None:  # RLX-221
    """The value null, of any type."""


def same(_site: Site, value: object, *_device: object) -> object:  # RLX-224, RLX-405
    """The value itself: there is one device."""
    return value


def write(site: Site, form: object, *values: object) -> None:  # RLX-222
    """Write one line: the values after the text, or in its fields."""
    site.machine.output(_message(site, site.text(form), values, " "))


def check(site: Site, holds: object, form: object = "", *values: object) -> None:  # RLX-223
    """Stop unless the condition holds. Fails: RM401."""
    if not site.flag(holds):
        message = _message(site, site.text(form), values, ", ")
        raise site.failure(ASSERT_FAILED, message or "Assertion Failed")


def make_closure(site: Site, function: object, *captured: object) -> Closure:  # RLX-211
    """The function that is called with the given arguments, then with the captured ones."""
    callee = site.function(function)
    return Closure(callee.name, lambda args: callee([*args, *captured]), captured)


def invoke_closure(site: Site, closure: object, *args: object) -> object:  # RLX-212
    """The closure called with the arguments."""
    return site.function(closure)(args)


def call_tir_dyn(site: Site, function: object, *args: object) -> object:  # RLX-213
    """The function called with the arguments, each shape among them replaced by its extents."""
    return site.function(function)(flattened(args))


def read_if_cond(site: Site, value: object) -> bool:  # RLX-406
    """A condition as a bool."""
    return site.flag(value)


def tuple_getitem(site: Site, value: object, index: object) -> object:  # RLX-407
    """A field of a tuple. Fails: RM304."""
    fields, number = site.tuple(value), site.integer(index)
    if not 0 <= number < len(fields):
        raise site.failure(OUT_OF_BOUNDS, f"`{site.name}`: field {number} of a tuple of {len(fields)}")
    return fields[number]


def make_tuple(_site: Site, *fields: object) -> object:  # RLX-407
    """A tuple of the values."""
    return fields


def _rendered(site: Site, value: object) -> str:
    """A value as `print` writes it: tensors as NumPy does. Fails: RM305."""
    match value:
        case Tensor():
            return str(site.read(value).array)
        case Shape():
            return repr(value)
        case tuple():
            return f"({', '.join([_rendered(site, item) for item in value])})"
        case _:
            return str(value)


def _message(site: Site, form: str, values: tuple[object, ...], separator: str) -> str:
    """The values in the fields `{}` and `{n}` of `form`. Fails: RM304 (no such value), RM504 (another field)."""
    texts = [_rendered(site, value) for value in values]
    if not form:
        return separator.join(texts)
    following = iter(range(len(texts) + form.count("{")))

    def field(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[1] is None:
            raise site.failure(UNSUPPORTED_CONSTRUCT, f"`{site.name}`: the format {form!r} has other fields than {{}}")
        number = int(match[1]) if match[1] else next(following)
        if number >= len(texts):
            raise site.failure(OUT_OF_BOUNDS, f"`{site.name}`: the format {form!r} wants more than {len(texts)} values")
        return texts[number]

    return _FIELD.sub(field, form)
