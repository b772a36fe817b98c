"""Two programs by what they ask of their arguments: the second may ask for no more than the first.

| a call that the first program defines                           | is                                            |
|-----------------------------------------------------------------|-----------------------------------------------|
| violates a contract of the second, which is undefined there     | a finding (RM705), which says the contract    |
| violates a contract of the second, which is defined there too   | nothing: what is inferred may be too narrow   |
| no such call was tried, and the first asks for nothing of these | a note: no finding without an executed call   |

The calls at the ends of the contracts of the first program are among those that are tried (`oracle.arguments`).
"""

from collections.abc import Sequence
from functools import lru_cache

from refmlc.lang.ir import IRModule
from refmlc.oracle.contracts.assumptions import values_of_call
from refmlc.oracle.contracts.contract import INFERRED, OPERATOR, Contracts, ContractViolation
from refmlc.oracle.contracts.language import references
from refmlc.oracle.contracts.program import contracts_of


@lru_cache(maxsize=32)
def asked_by(module: IRModule, func: str) -> Contracts:
    """What the program asks of values besides what it asserts."""
    return contracts_of(module, func).of(INFERRED, OPERATOR)


def violated_by_call(module: IRModule, func: str, arguments: Sequence[object]) -> ContractViolation | None:
    """The first contract of the program that the arguments violate; None: none does."""
    asked = asked_by(module, func)
    return asked.violation(values_of_call(module.functions[func], arguments)) if asked.rows else None


def stronger_contract(before: IRModule, after: IRModule, func: str, arguments: Sequence[object]) -> str:
    """What `after` asks for and the arguments violate, though they satisfy `before`, in words; empty: nothing."""
    violation = violated_by_call(after, func, arguments)
    if violation is None or violated_by_call(before, func, arguments) is not None:
        return ""
    return f"it needs a stronger contract than the program before: {violation.contract}; {violation}"


class ContractWatch:
    """Sees the calls that both programs are tried on; `lines` says what the second asks for that none of them tells."""

    def __init__(self, before: IRModule, after: IRModule, func: str) -> None:
        self._after, self._func = after, func
        known = asked_by(before, func)
        texts, names = {row.text for row in known.rows}, known.names
        self._untold = [
            row
            for row in asked_by(after, func).rows
            if row.text not in texts
            and not names & {value.name for clause in row.clauses for value in references(clause)}
        ]

    def see(self, arguments: Sequence[object]) -> None:
        """A call was tried with these arguments."""
        if self._untold:
            values = values_of_call(self._after.functions[self._func], arguments)
            self._untold = [row for row in self._untold if Contracts((row,)).violation(values) is None]

    @property
    def lines(self) -> tuple[str, ...]:
        """The contracts that the second program alone has, of which no call says whether it needs them."""
        return tuple(f"it asks for more than the program before, which no call shows: {row}" for row in self._untold)
