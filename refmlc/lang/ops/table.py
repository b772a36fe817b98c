"""The table of operators in `conformance/spec/operators.md`: generated from the contracts, never edited."""

from collections.abc import Iterable

from refmlc.lang.ops.contract import Accuracy, Contract
from refmlc.lang.ops.laws import LAWS

_HEAD = """# Scalar operators

Generated from the contracts in `refmlc/lang/ops/scalar`; the clauses stand in `num-*.toml`. Operands are of one dtype
where nothing else is said. "rounded" is the exact result rounded once, to nearest, ties to even; "n ulp" bounds the
error of the binary64 value in units in the last place, narrower formats round that value once.

| operator | TVMScript | operands | result | exact | meaning | undefined | laws | clause |
|----------|-----------|----------|--------|-------|---------|-----------|------|--------|
"""


def markdown_table(contracts: Iterable[Contract]) -> str:
    """The whole file: an introduction and a row per contract, in their order."""
    return _HEAD + "".join(f"| {' | '.join(_cell(text) for text in _row(row))} |\n" for row in contracts)


def _row(row: Contract) -> tuple[str, ...]:
    symbol = row.notation.symbol
    names = (row.text, *sorted(row.names - {row.text}))
    spelling = ", ".join([*(f"`T.{name}`" for name in names), *([f"`{symbol}`"] if symbol else [])])
    undefined = "; ".join(f"{case.code.id}: {case.text}" for case in row.undefined)
    laws = "; ".join(LAWS[name].text for name in row.laws)
    return (
        f"`{row.name}`",
        spelling,
        _operands(row),
        row.result,
        _exact(row),
        row.meaning,
        undefined,
        laws,
        row.clause,
    )


def _operands(row: Contract) -> str:
    first = ", ".join(sorted(row.dtypes if row.dtypes is not None else row.accepts))
    return first if row.rest is None else f"{first}; then {', '.join(sorted(row.rest))}"


def _exact(row: Contract) -> str:
    match row.accuracy:
        case Accuracy.EXACT:
            return "bits"
        case Accuracy.ROUNDED:
            return "rounded"
        case Accuracy.ULP:
            return f"{row.ulps:g} ulp"
        case Accuracy.ONE_OF:
            return "one of a set"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
