r"""The attributes of a call: which an operator takes, and values of which kind.

| annotation of the parameter | values                             |
|-----------------------------|------------------------------------|
| `int`                       | integers, and booleans as 0 and 1  |
| `float`                     | integers and floats                |
| `bool`                      | booleans, and integers             |
| `str`                       | strings, and dtypes                |
| `Sequence[X]`               | tuples and lists of what X takes   |
| `X \| Y`                    | what either takes                  |
| `object`                    | anything: the operator looks at it |
"""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import get_args, get_origin

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Operator, plain

KINDS: Mapping[object, tuple[type, ...]] = {
    int: (int,),
    float: (int, float),
    bool: (bool, int),
    str: (str, DType),
    NoneType: (NoneType,),
    object: (object,),
}
PLURALS = {int: "integers", float: "numbers"}
WORDS = {int: "an integer", float: "a number", bool: "a boolean", str: "a string", NoneType: "None"}


def attributes_of(op: Operator, attrs: Mapping[str, tir.Attr]) -> dict[str, object]:
    """The attributes as plain Python values. Fails: RM105 (one that there is not, that is missing, of another kind)."""
    values = {name: plain(value) for name, value in attrs.items()}
    for name, value in values.items():
        if name not in op.attributes:
            names = ", ".join(op.attributes) or "none"
            raise fail(BAD_ARGUMENTS, f"`{op.name}` has no attribute `{name}`", None, f"its attributes: {names}")
        annotation = op.parameters[name].annotation
        if not takes(annotation, value):
            raise fail(BAD_ARGUMENTS, f"`{name}` is {words(annotation)}, not {value!r}")
    for name, default in op.attributes.items():
        if default is op.parameters[name].empty and name not in values:
            raise fail(BAD_ARGUMENTS, f"`{op.name}` needs the attribute `{name}`")
    return values


def takes(annotation: object, value: object) -> bool:
    """Whether a parameter with this annotation takes the value."""
    if annotation in KINDS:
        return isinstance(value, KINDS[annotation])
    if get_origin(annotation) is Sequence:
        (each,) = get_args(annotation)
        return isinstance(value, (tuple, list)) and all(takes(each, item) for item in value)
    return any(takes(each, value) for each in get_args(annotation))


def words(annotation: object) -> str:
    """The accepted values of the parameter, in words."""
    if annotation in WORDS:
        return WORDS[annotation]
    if get_origin(annotation) is Sequence:
        (each,) = get_args(annotation)
        return f"several {PLURALS[each]}"
    return " or ".join(words(each) for each in get_args(annotation))
