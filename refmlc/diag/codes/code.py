"""A row of the catalogue of codes."""

from dataclasses import dataclass

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
    """A row of the catalogue.

    `clause` names the specification clause, empty for limits of refmlc itself. `example` is Markdown: what breaks the
    rule, and how it reads corrected (`instead`) or what to do (`advice`); empty for what no program can show.
    """

    id: str
    title: str
    clause: str
    explanation: str
    example: str = ""

    @property
    def kind(self) -> str:
        """The kind of failure, which is the name of its exception: `Malformed`, say."""
        return KINDS[self.id[2]]


def instead(wrong: str, right: str) -> str:
    """An example: a program that breaks the rule, and how it reads corrected."""
    return f"Instead of\n\n```python\n{wrong}\n```\n\nwrite\n\n```python\n{right}\n```"


def advice(program: str, text: str) -> str:
    """An example that has no corrected form: a program, and what to do about it."""
    return f"For example\n\n```python\n{program}\n```\n\n{text}"
