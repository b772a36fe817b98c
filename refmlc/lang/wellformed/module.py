"""All static rules on all functions of a module."""

from refmlc.diag import Diagnostic, Related, fail
from refmlc.diag.catalogue import DEPTH_EXHAUSTED, DUPLICATE
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import Function
from refmlc.lang.wellformed.findings import Findings
from refmlc.lang.wellformed.graph_rules import GraphRules
from refmlc.lang.wellformed.tensor_stmts import FunctionRules


def check_module(module: IRModule) -> tuple[Diagnostic, ...]:
    """The certain static errors in `module`, one finding each.

    Order: of the text. Fails: RM602 when expressions nest deeper than the check can follow.
    """
    findings = Findings()
    try:
        for name, function in module.functions.items():
            match function:
                case tir.PrimFunc():
                    FunctionRules(module, findings).function(function)
                case Function():
                    GraphRules(module, findings).function(function, name)
                case _:
                    pass
    except RecursionError:
        raise fail(DEPTH_EXHAUSTED, f"`{name}` nests deeper than the static checks support", function.span) from None
    _symbols(module, findings)
    return findings.ordered()


def _symbols(module: IRModule, findings: Findings) -> None:
    """No two functions have one global symbol."""
    owners: dict[str, str] = {}
    for name, function in module.functions.items():
        symbol = function.attrs.get("global_symbol") if isinstance(function, tir.PrimFunc | Function) else None
        if not isinstance(symbol, str):
            continue
        if symbol in owners:
            first = module.functions[owners[symbol]]
            message = f"`{owners[symbol]}` and `{name}` have the global symbol `{symbol}`"
            related = [Related(f"`{owners[symbol]}` is defined here", first.span)] if first.span else []
            findings.report(DUPLICATE, message, function.span, related=related)
        owners.setdefault(symbol, name)
