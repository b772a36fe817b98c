"""`tvm.te`: tensor expressions, all of `refmlc.te`."""

from refmlc import te
from refmlc.tvm.covered import missing


def __getattr__(name: str) -> object:
    """A name of `refmlc.te`."""
    if name not in te.__all__:
        raise missing(__name__, name, te.__all__)
    value: object = getattr(te, name)
    return value


def __dir__() -> list[str]:
    """The names of `refmlc.te`."""
    return list(te.__all__)
