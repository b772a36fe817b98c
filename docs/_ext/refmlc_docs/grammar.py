"""The node kinds of TensorIR and Relax on one page, as a grammar."""

from types import UnionType
from typing import get_args

from refmlc.lang.ir import relax, tir
from refmlc_docs.book import node_line
from refmlc_docs.markdown import fence, inline, prose

FAMILIES = {
    "tir": (("Expressions", tir.Expr), ("Statements", tir.Stmt)),
    "relax": (("Expressions", relax.Expr), ("Bindings", relax.Binding), ("Blocks of bindings", relax.Block)),
}


def grammar(language: str) -> str:
    """The kinds of `language`, family by family."""
    return "\n\n".join(_family(title, union) for title, union in FAMILIES[language])


def _family(title: str, union: UnionType) -> str:
    parts = [f"### {title}"]
    for kind in get_args(union):
        meaning = (kind.__doc__ or "").strip().partition("\n\n")[0]
        parts += [f"{inline(kind.__name__)}: {prose(meaning)}", fence(node_line(kind), "text", ":class: notation")]
    return "\n\n".join(parts)
