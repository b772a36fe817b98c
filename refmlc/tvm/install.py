"""`install_tvm`: `import tvm` gives `refmlc.tvm` where real TVM is not there."""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lazy import load

ELSEWHERE: Mapping[str, str] = {
    "tvm_ffi": "refmlc.tvm.ffi",
    "tvm.contrib.utils": "refmlc.tvm.support.folders",
    "tvm.dlight": "refmlc.tvm.s_tir.dlight",
    "tvm.s_tir.dlight.base": "refmlc.tvm.s_tir.dlight.rules",
    "tvm.s_tir.meta_schedule": "refmlc.tvm.meta_schedule",
    "tvm.support.utils": "refmlc.tvm.support.folders",
}
"""Modules of TVM that stand under another name here, with what is below them."""


def place_of(fullname: str) -> str:
    """The module of ours for a module of TVM."""
    start = max((name for name in ELSEWHERE if f"{fullname}.".startswith(f"{name}.")), key=len, default="")
    return f"{ELSEWHERE[start]}{fullname[len(start) :]}" if start else f"refmlc.{fullname}"


class _Finder(MetaPathFinder, Loader):
    """Finds `tvm` and what is below it as modules of `refmlc.tvm`, the same objects under both names; and `tvm_ffi`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of ours. Fails: ModuleNotFoundError, with what is covered, for one that is not there."""
        del path, target
        if fullname.partition(".")[0] not in ("tvm", "tvm_ffi"):
            return None
        if not _is_there(place_of(fullname)):
            message = f"`{fullname}` is not covered: refmlc provides `tvm` here and has no such module"
            raise ModuleNotFoundError(message, name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of ours in the place of the new one."""
        sys.modules[module.__name__] = load(place_of(module.__name__))


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what is before the last dot is no package
        return False


def install_tvm(*, anyway: bool = False) -> None:
    """Answer `import tvm` with `refmlc.tvm`.

    Fails: RM112 where real TVM is there, which is to be used then; `anyway`: only where it is imported already.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "tvm" in sys.modules or (not anyway and find_spec("tvm") is not None):
        helps = "`import refmlc.tvm as tvm` works beside real TVM"
        raise fail(BAD_USAGE, "real TVM is installed: `import tvm` imports it", None, helps)
    sys.meta_path.insert(0, _Finder())
