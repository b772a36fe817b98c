"""A row of the catalogue of codes."""

from dataclasses import dataclass

from refmlc.diag.examples import EXAMPLES

KINDS = {
    "1": "Malformed",
    "2": "IllFormed",
    "3": "Undefined",
    "4": "Trap",
    "5": "Unsupported",
    "6": "Exhausted",
    "7": "Mismatch",
    "9": "Internal",
}
"""The kind of failure that the first digit of a code says."""


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the catalogue. `clause` names the specification clause, empty for limits of refmlc itself."""

    id: str
    title: str
    clause: str
    explanation: str

    @property
    def kind(self) -> str:
        """The kind of failure, which is the name of its exception: `Malformed`, say."""
        return KINDS[self.id[2]]

    @property
    def example(self) -> str:
        """What breaks the rule, and how it reads corrected, as Markdown; empty for what no program can show."""
        return EXAMPLES.get(self.id, "")
