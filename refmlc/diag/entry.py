"""Entry points: functions that users call. A failure leaves them without the frames of refmlc in between.

    Traceback (most recent call last):
      File "train.py", line 12, in <module>             the user's
      File "…/refmlc/diag/entry.py", line …              the entry point
      File "…/refmlc/lang/script/reader/names.py", line …     where the failure was raised
    refmlc.diag.errors.Malformed: error[RM104]: `BB` is not defined
    …

Frames of the user in between, as of a function that refmlc calls back, stay. All frames stay of a bug of refmlc
(RM9xx), and where REFMLC_TRACEBACK is set.
"""

import os
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import ParamSpec, TypeVar

from refmlc.diag.errors import Internal, RefmlcError
from refmlc.diag.frames import shorten

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def entry_point(function: Callable[P, R]) -> Callable[P, R]:
    """Make `function` an entry point."""

    @wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True  # pytest's name for it
        try:
            return function(*args, **kwargs)
        except RefmlcError as failure:
            raise shortened(failure)  # noqa: B904 - it is the same exception

    return entry


def shortened(failure: RefmlcError) -> RefmlcError:
    """`failure`, for an entry point to raise again, without the frames between that and the last one."""
    if isinstance(failure, Internal) or os.environ.get("REFMLC_TRACEBACK"):
        if failure.__traceback__ is not None:
            failure.__traceback__ = failure.__traceback__.tb_next  # the entry point's, which adds itself again
        return failure
    failure.__suppress_context__ = True
    if failure.__cause__ is not None:
        shorten(failure.__cause__)
    shorten(failure)
    return failure


def entry_points(kind: type[T]) -> type[T]:
    """Make each public method of the class `kind` an entry point."""
    for name, member in list(vars(kind).items()):
        if isinstance(member, FunctionType) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, entry_point(member))
    return kind
