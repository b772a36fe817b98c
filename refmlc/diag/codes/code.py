"""A row of the catalogue of codes."""

from dataclasses import dataclass

from refmlc.diag.examples import EXAMPLES


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the catalogue. `clause` names the specification clause, empty for limits of refmlc itself."""

    id: str
    title: str
    clause: str
    explanation: str

    @property
    def example(self) -> str:
        """What breaks the rule, and how it reads corrected, as Markdown; empty for what no program can show."""
        return EXAMPLES.get(self.id, "")
