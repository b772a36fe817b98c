"""Modules of real TVM: objects of its process, its text, its JSON.

| given                                         | read                                            |
|-----------------------------------------------|-------------------------------------------------|
| an object that has `script`                   | as the text that `script(show_meta=True)` gives |
| a string that begins with `{`                 | as JSON of `tvm.ir.save_json`                   |
| any other string                              | as TVMScript                                    |
| a module or a function of refmlc              | itself                                          |

TVM is never imported: an object gives its text through its own methods. What TVM's text leaves out (regions of
blocks, types of results) is deduced, as it is where TVM reads it.
"""

from typing import Protocol, runtime_checkable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.frontends.tvm_json import from_json
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.script import read
from refmlc.lang.wellformed.reader_checks import checked


@runtime_checkable
class Scriptable(Protocol):
    """The interface of a TVM object."""

    def script(self, *, show_meta: bool = False) -> str:
        """Its text."""
        ...


@entry_point
def from_tvm(module: object) -> IRModule:
    """The module that an object, a text or a JSON of TVM is. A function alone is a module of one.

    Fails: RM112 for what is none of these, else as reading the text does.
    """
    match module:
        case IRModule():
            return module
        case tir.PrimFunc() | relax.Function():
            return IRModule({"main": module})
        case str() if module.lstrip().startswith("{"):
            return checked(from_json(module))
        case str():
            return checked(read(module, "<TVM>"))
        case Scriptable():
            return checked(read(module.script(show_meta=True), f"<{type(module).__name__} of TVM>"))
        case _:
            what = f"this is {type(module).__name__}"
            raise fail(BAD_USAGE, f"a module of TVM is an object with `script`, its text, or its JSON; {what}")
