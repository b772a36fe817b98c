"""The rules of TVM's simplifier as rows of our own: `data/*.toml`, a `[[rule]]` each.

| field     | type                | means                                                                              |
|-----------|---------------------|------------------------------------------------------------------------------------|
| `place`   | string              | the operator whose visitor has the rule, and its number there; a letter: the rule  |
|           |                     | is written as code of its own, not as a site of the macro                          |
| `left`    | string, or several  | TVMScript; several are alternatives that the rule rewrites alike                   |
| `right`   | string              | what it becomes                                                                    |
| `when`    | string              | TVM's condition, in exact integers; left out: none                                 |
| `of`      | string              | the dtypes that TVM applies it to, a key of `CLASSES`                              |
| `dtypes`  | list of strings     | these dtypes instead                                                               |
| `bools`   | list of strings     | variables of dtype bool                                                            |
| `vectors` | list of strings     | variables that are vectors                                                         |
| `needs`   | string              | a further condition that makes a refuted rule right, in exact integers             |
| `note`    | string              | what the row leaves out                                                            |

`c1`, `c2` … are constants; every other name is a variable of the dtype; literals have the dtype; `lanes` is a number of
lanes. `file` at the top of a file of rows names the file of TVM.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "float32", "float64")
CLASSES: Mapping[str, tuple[str, ...]] = {
    "index": ("int32", "int64"),
    "unsigned": ("uint32", "uint64"),
    "other": ("int8", "int16", *UNSIGNED, *FLOATS),
    "any": INTEGERS + FLOATS,
    "vector": INTEGERS + FLOATS,
    "bool": ("bool",),
}
NAME = re.compile(r"(?<![\w.])[a-z]\w*\b(?!\()")
CONSTANT = re.compile(r"c[1-9]")
WORDS = frozenset(("and", "or", "not", "lanes"))
OF_INTEGERS = ("floordiv", "floormod", "Ramp")


@dataclass(frozen=True)
class Rule:
    """One rewriting; the module's table says what the fields mean. `file` is TVM's, `lefts` the alternatives."""

    file: str
    place: str
    lefts: tuple[str, ...]
    right: str
    of: str
    when: str = ""
    dtypes: tuple[str, ...] = ()
    bools: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    needs: str = ""
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables and constants, in the order of their first use."""
        texts = (*self.lefts, self.right, self.when, self.needs)
        found = (name for text in texts for name in NAME.findall(text))
        return tuple(dict.fromkeys(name for name in found if name not in WORDS))

    @property
    def constants(self) -> tuple[str, ...]:
        """The names that are constants."""
        return tuple(name for name in self.names if CONSTANT.fullmatch(name))

    @property
    def is_vector(self) -> bool:
        """Whether the sides are vectors."""
        return "lanes" in self.lefts[0]

    @property
    def is_site(self) -> bool:
        """Whether the rule is a site of TVM's macro of rewriting."""
        return self.place.split()[-1].isdigit()

    @property
    def applied(self) -> tuple[str, ...]:
        """The dtypes that TVM applies the rule to, as far as the operators take them."""
        if self.dtypes:
            return self.dtypes
        if all(name in self.bools for name in self.names):
            return CLASSES["bool"]
        texts = (*self.lefts, self.right)
        if self.constants or any(operator in text for text in texts for operator in OF_INTEGERS):
            return tuple(name for name in CLASSES[self.of] if name not in FLOATS)
        return CLASSES[self.of]


@cache
def rules() -> tuple[Rule, ...]:
    """All rows, in the order of the files."""
    folder = files("refmlc.prove.rules") / "data"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    texts = ((folder / name).read_text(encoding="utf-8") for name in names)
    return tuple(rule for text in texts for rule in rules_of(text))


def rules_of(text: str) -> tuple[Rule, ...]:
    """The rows of a file's text."""
    table = tomllib.loads(text)
    return tuple(_rule(table["file"], row) for row in table["rule"])


def _rule(file: str, row: Mapping[str, object]) -> Rule:
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    left = fields.pop("left")
    return Rule(file, lefts=(left,) if isinstance(left, str) else left, **fields)  # type: ignore[arg-type]
