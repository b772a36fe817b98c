"""A generated case: a program, and recipes of arguments for one or more calls. As JSON it is small and complete.

| key      | holds                                             |
|----------|---------------------------------------------------|
| `format` | the version of this format; without it, 1         |
| `text`   | the module as TVMScript                           |
| `func`   | the function that is called                       |
| `calls`  | for each call its recipes (`arguments`)           |
| `aim`    | the code that the program aims at, or empty       |
| `name`   | its name, such as `seed7`                         |
"""

import json
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.versions import KEY, FileFormat
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Printer
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.strategies.arguments import Argument, Data, argument_data, argument_of, arguments

FORMAT = FileFormat("generated case", missing=1)


@dataclass(frozen=True)
class Case:
    """A program and its calls.

    `aim`: the code of the undefined behaviour that it is made to show (it may miss it); empty: it is defined.
    """

    module: IRModule
    func: str
    calls: tuple[tuple[Argument, ...], ...]
    aim: str = ""
    name: str = ""

    @property
    def prim_func(self) -> tir.PrimFunc:
        """The called function. Fails: TypeError for one of Relax."""
        function = self.module.functions[self.func]
        if not isinstance(function, tir.PrimFunc):
            raise TypeError(f"`{self.func}` is not a prim_func")
        return function

    def arguments(self, number: int = 0) -> list[object]:
        """Arguments for call `number`, fresh ones each time: tensors, numbers, shapes, tuples."""
        return arguments(self.calls[number])

    def to_json(self) -> str:
        """The case as one line of JSON."""
        calls: list[Data] = [[argument_data(recipe) for recipe in call] for call in self.calls]
        text = show(self.module, show_meta=True)  # else it has no values of constants
        data: dict[str, Data] = {KEY: FORMAT.version, "text": text, "func": self.func, "calls": calls}
        return json.dumps({**data, "aim": self.aim, "name": self.name})

    @classmethod
    def from_json(cls, text: str) -> "Case":
        """The case of `to_json`, with a structurally equal module and equal recipes. Fails: RM109."""
        try:
            data = json.loads(text)
        except ValueError as problem:
            raise fail(BAD_FILE, f"not a case: {problem}") from None
        match data:
            case {"text": str(source), "func": str(func), "calls": list(calls), **rest}:
                FORMAT.require({KEY: rest[KEY]} if KEY in rest else {}, str(rest.get("name", "case")))
                recipes = tuple(tuple(argument_of(recipe) for recipe in call) for call in calls)
                return cls(read(source, "case.py"), func, recipes, str(rest.get("aim", "")), str(rest.get("name", "")))
        raise fail(BAD_FILE, "not a case: it needs `text`, `func` and `calls`")

    def __repr__(self) -> str:
        aim = f", aims at {self.aim}" if self.aim else ""
        return f"<Case {self.name or self.func}: {', '.join(self.module.functions)}; {len(self.calls)} calls{aim}>"

    def __str__(self) -> str:
        lines = [show(self.module), f"aim: {self.aim or 'none'}"]
        for call in self.calls:
            lines += ["called with", *(f"  {recipe}" for recipe in call)]
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Printer, _cycle: bool) -> None:
        """The text, where Hypothesis prints a case."""
        printer.text(str(self))
