"""The contracts of one function: what was inferred, what operators ask for, what the program asserts, what is written.

| origin     | says                                                       | a call that violates it           |
|------------|------------------------------------------------------------|-----------------------------------|
| `inferred` | what the accesses of the function ask of values            | outside: undefined is no finding  |
| `operator` | what an operator of Relax asks for (`Operator.domains`)    | the same                          |
| `asserted` | what the program asserts                                   | ends in its assertion             |
| `written`  | what the caller asks for                                   | is the caller's fault             |
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.diag import RefmlcError, Span
from refmlc.oracle.contracts.language import ContractClause, clause_text, line_text, references
from refmlc.oracle.contracts.project import projected
from refmlc.oracle.contracts.values import Elements, Values, exact, holds

INFERRED, OPERATOR, ASSERTED, WRITTEN = "inferred", "operator", "asserted", "written"
SHOWN = 3


@dataclass(frozen=True)
class ArgumentContract:
    """Clauses that belong together, where they come from, and the place that asks for them.

    `func`: the only function that it is of; empty: any that has its names.
    """

    clauses: tuple[ContractClause, ...]
    origin: str = INFERRED
    place: Span | None = None
    source: str = ""
    func: str = ""

    @property
    def text(self) -> str:
        """The line in the language of contracts."""
        return line_text(self.clauses)

    def __str__(self) -> str:
        source = self.source or (f"{file_name(self.place)}:{self.place.line}" if self.place is not None else "")
        return f"contract: {self.text}" + (f" (from {source})" if source else "")


@dataclass(frozen=True)
class ContractViolation:
    """A contract that arguments violate, and the elements that do."""

    contract: ArgumentContract
    clause: ContractClause
    values: str

    def __str__(self) -> str:
        return f"the arguments violate `{self.contract.text}`: {self.values}"


@dataclass(frozen=True)
class Contracts:
    """The contracts of a function. `unexpressed`: places whose need has no natural form: only calls tell."""

    rows: tuple[ArgumentContract, ...] = ()
    unexpressed: tuple[Span | None, ...] = ()
    accesses: int = 0

    @property
    def clauses(self) -> tuple[ContractClause, ...]:
        """All clauses."""
        return tuple(clause for row in self.rows for clause in row.clauses)

    @property
    def names(self) -> frozenset[str]:
        """The parameters and sizes that contracts speak of."""
        return frozenset(value.name for clause in self.clauses for value in references(clause))

    @property
    def lines(self) -> tuple[str, ...]:
        """What a report says: each contract, and how many were inferred from how many accesses."""
        if not self.rows and not self.accesses:
            return ()
        inferred = sum(row.origin == INFERRED for row in self.rows)
        count = f"{inferred} contract{'' if inferred == 1 else 's'} inferred from {self.accesses} uses of values"
        beyond = ", ".join(dict.fromkeys(f"{file_name(place)}:{place.line}" for place in self.unexpressed if place))
        return (*map(str, self.rows), count + (f"; none says all that is needed at {beyond}" if beyond else ""))

    def of(self, *origins: str) -> "Contracts":
        """Those of some origins."""
        return Contracts(tuple(row for row in self.rows if row.origin in origins))

    def with_rows(self, rows: Iterable[ArgumentContract]) -> "Contracts":
        """These and more."""
        return Contracts((*self.rows, *rows), self.unexpressed, self.accesses)

    def project(
        self, values: Mapping[str, object], movable: Iterable[str], *, ends: str = ""
    ) -> dict[str, Elements] | None:
        """Values moved into the contracts: those of `movable` only, none where they satisfy them already.

        `values`: arrays and numbers by name, sizes too; a contract that speaks of another name is left out. `ends`: as
        in `projected`. None: the sizes leave no value, or none was found.
        """
        arrays = {name: exact(np.asarray(value)) for name, value in values.items()}
        result = projected(self._known(arrays), arrays, frozenset(movable), ends=ends)
        return None if result is None else {name: result[name] for name in movable if name in result}

    def violation(self, values: Mapping[str, object]) -> ContractViolation | None:
        """The first contract that the values violate; None: none does. Fails: RM112 (its shapes do not fit)."""
        arrays = {name: exact(np.asarray(value)) for name, value in values.items()}
        for row in self.rows:
            for clause in row.clauses:
                if not all(value.name in arrays for value in references(clause)):
                    continue
                mask = holds(clause, arrays)
                if not bool(np.all(mask)):
                    return ContractViolation(row, clause, _shown(clause, mask, arrays))
        return None

    def _known(self, values: Values) -> Sequence[ContractClause]:
        """The clauses that speak of these values only, and fit their shapes."""
        return [clause for clause in self.clauses if _fits(clause, values)]


def file_name(place: Span) -> str:
    """The name of the file of a place, without its folders."""
    return place.source.name.rsplit("/", 1)[-1]


def _fits(clause: ContractClause, values: Values) -> bool:
    if not all(value.name in values for value in references(clause)):
        return False
    try:
        holds(clause, values)
    except RefmlcError:
        return False
    return True


def _shown(clause: ContractClause, mask: Elements, values: Values) -> str:
    """The values that violate a clause: the element, or the first few."""
    parts: list[str] = []
    where = tuple(int(at) for at in np.argwhere(~mask)[0]) if mask.ndim else ()
    for value in dict.fromkeys(references(clause)):
        array = values[value.name]
        if array.ndim == 0:
            parts.append(f"{value.name} = {array}")
        elif not value.items and array.shape == mask.shape:
            parts.append(f"{value.name}[{', '.join(map(str, where))}] = {array[where]}")
        else:
            few = ", ".join(map(str, array.reshape(-1)[:SHOWN].tolist()))
            parts.append(f"{value.name} = [{few}{', …' if array.size > SHOWN else ''}]")
    return f"`{clause_text(clause)}` does not hold for {', '.join(parts)}"
