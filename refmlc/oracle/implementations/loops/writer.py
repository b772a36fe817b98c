"""The lines of a function that is being translated, and the names in them. A name is a word of ours and a number."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.oracle.implementations.loops.operators import NotTaken


@dataclass
class Names:
    """The objects that the source of a module looks up by name."""

    objects: dict[str, object] = field(default_factory=dict)
    _known: dict[object, str] = field(default_factory=dict)
    _count: int = 0

    def fresh(self, word: str) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{word}_{self._count}"

    def bind(self, word: str, thing: object) -> str:
        """The name of `thing`; the same for the same thing, or one that is made anew for the same word of a dtype."""
        key: object = word if word.startswith("put_") else (word, id(thing))
        if key not in self._known:
            self._known[key] = self.fresh(word)
            self.objects[self._known[key]] = thing
        return self._known[key]


@dataclass
class Writer:
    """One function. `vars`: the names of variables; `buffers`: those of arrays; `places`: those of their pointers."""

    names: Names
    functions: Mapping[str, str]
    lines: list[str] = field(default_factory=list)
    vars: dict[Node, str] = field(default_factory=dict)
    buffers: dict[tir.Buffer, str] = field(default_factory=dict)
    places: dict[tir.Buffer, str] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)
    meter: str = ""
    _depth: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Indent the lines written inside; write `pass` if there are none."""
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def bind(self, word: str, thing: object) -> str:
        """The name of a thing."""
        return self.names.bind(word, thing)

    def declare(self, var: Node, word: str = "v") -> str:
        """A new name for a variable."""
        self.vars[var] = self.names.fresh(word)
        return self.vars[var]

    def var(self, var: tir.Var) -> str:
        """The name of a variable. Fails: `NotTaken`."""
        if var not in self.vars:
            raise NotTaken(f"variable `{var.name}`, which nothing binds")
        return self.vars[var]

    def declare_buffer(self, buffer: tir.Buffer) -> tuple[str, str]:
        """New names for a buffer: its array, and the pointer to its memory."""
        self.buffers[buffer], self.places[buffer] = self.names.fresh("b"), self.names.fresh("p")
        return self.buffers[buffer], self.places[buffer]

    def buffer(self, buffer: tir.Buffer) -> str:
        """The name of a buffer's array. Fails: `NotTaken`."""
        if buffer not in self.buffers:
            raise NotTaken(f"buffer `{buffer.name}`, which nothing declares")
        return self.buffers[buffer]
