"""A chapter as code blocks with the outputs that it prints after them."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.script.spellings import Generation

_OLD = re.compile(r"tvm\.nd\.|relax\.build\(|T\.block\(|script import .*\btir\b")


@dataclass(frozen=True)
class Output:
    """The output that the chapter prints after a block: `text`, `html` (as plain text already), or `image`."""

    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class Block:
    """A block of code. `marked`: the document says itself that it is executed."""

    number: int
    line: int
    text: str
    outputs: tuple[Output, ...] = ()
    marked: bool = False


@dataclass(frozen=True)
class Document:
    name: str
    blocks: tuple[Block, ...]

    @property
    def code(self) -> str:
        return "\n".join(block.text for block in self.blocks)

    @property
    def generation(self) -> Generation:
        """The generation of the language, by what the code calls; 0.27 where nothing is of an older one."""
        if "T.Buffer[" in self.code or "relax.vm.build" in self.code:
            return "2022"
        return "2023" if _OLD.search(self.code) else "0.27"

    @property
    def class_names(self) -> tuple[str, ...]:
        """The strings of the lists that are called `class_names`: what a prediction prints."""
        lists = re.findall(r"class_names = (\[.*?\])", self.code, re.DOTALL)
        return tuple(dict.fromkeys(name for list_text in lists for name in ast.literal_eval(list_text)))

    @property
    def draws_an_image(self) -> bool:
        """Whether it takes an image at random."""
        return "shuffle=True" in self.code


def read_text(path: Path) -> str:
    """The text of a document. Fails: RM109 where it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise fail(BAD_FILE, f"{path}: {reason}") from None
