"""Sums of products, said by letters: each letter is an index, letters that the result has not are summed over.

| subscripts     | the result                                                                                   |
|----------------|----------------------------------------------------------------------------------------------|
| `ij,jk->ik`    | the product of matrices                                                                      |
| `ii->i`        | the diagonal                                                                                 |
| `ij,ij`        | a number: without an arrow, letters that are there once remain, in the order of the alphabet |
| `...ij->...ji` | dots stand for further dimensions in front, which are broadcast                              |
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, Tensors, computed
from refmlc.lang.library.shapes import broadcast_extent, broadcast_indices, known
from refmlc.lang.te import Axis, Tensor, Value

DOTS = "..."


def _labels(term: str, rank: int | None, many: int) -> list[str]:
    """The letters of a term; dots as numbers, counted from the last. Fails: RM105."""
    before, dots, after = term.partition(DOTS)
    if not (before + after).isalpha() and before + after:
        raise fail(BAD_ARGUMENTS, f"the subscripts `{term}` of `einsum` must be letters, with dots at most once")
    if rank is not None:
        many = rank - len(before) - len(after)
    if many < 0 or (many and not dots and rank is not None):
        raise fail(BAD_ARGUMENTS, f"the subscripts `{term}` of `einsum` need a tensor of {rank} dimensions")
    inner = [str(place) for place in reversed(range(many))] if dots else []
    return [*before, *inner, *after]


def _parsed(subscripts: str, operands: Sequence[Tensor]) -> tuple[list[list[str]], list[str]]:
    """The labels of each operand, and of the result. Fails: RM105."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise fail(BAD_ARGUMENTS, f"`{subscripts}` takes {len(terms)} tensors; {len(operands)} are given")
    labels = [_labels(term, operand.ndim, 0) for term, operand in zip(terms, operands, strict=True)]
    all_labels = [label for operand in labels for label in operand]
    numbers = [label for label in all_labels if label.isdigit()]
    most = max((int(label) + 1 for label in numbers), default=0)
    if arrow:
        result = _labels(right, None, most)
    else:
        once = sorted(label for label in set(all_labels) if all_labels.count(label) == 1 and label.isalpha())
        result = [*(str(place) for place in reversed(range(most))), *once]
    if len(set(result)) != len(result) or not set(result) <= set(all_labels):
        raise fail(BAD_ARGUMENTS, f"each letter in the result of `{subscripts}` must be unique and occur in an operand")
    return labels, result


def _extents(labels: Sequence[Sequence[str]], operands: Sequence[Tensor]) -> dict[str, Value]:
    """What each label counts, in the order in which they come up. Fails: RM202."""
    extents_by_label: dict[str, list[Value]] = {}
    for own, operand in zip(labels, operands, strict=True):
        for label, extent in zip(own, operand.shape, strict=True):
            extents_by_label.setdefault(label, []).append(extent)
    return {label: broadcast_extent(own, f"the index `{label}` of `einsum`") for label, own in extents_by_label.items()}


def einsum(operands: Tensors, *, subscripts: str) -> Tensor:
    """The sum over all letters that the result has not of the product of the operands at their letters.

    Shapes: a letter has one extent; 1 is broadcast. Order: factors from the left; terms are added from 0 over the
    letters in the order in which they come up, the last innermost, in the dtype of the operands. Fails: RM105, RM201,
    RM202.
    """
    if not operands or len({operand.dtype for operand in operands}) != 1:
        raise fail(TYPE_MISMATCH, "`einsum` takes tensors of one dtype")
    labels, result = _parsed(subscripts, operands)
    extents = _extents(labels, operands)
    inner: dict[str, Axis] = {}
    conditions: list[Value] = []
    for label, extent in extents.items():
        if label not in result:
            size = known(extent)
            inner[label] = te.reduce_axis((0, extent if size else te.maximum(extent, 1)), label)
            if not size:
                conditions.append(inner[label] < extent)

    def element(*i: Value) -> object:
        where: dict[str, Value] = {**dict(zip(result, i, strict=True)), **inner}
        product: Value | None = None
        for own, operand in zip(labels, operands, strict=True):
            shape = [extents[label] for label in own]
            factor = operand(*broadcast_indices(operand.shape, [where[label] for label in own], shape))
            product = factor if product is None else product * factor
        if product is None or not inner:
            return product
        return te.sum(product, axis=list(inner.values()), where=te.all(*conditions) if conditions else None)

    return computed([extents[label] for label in result], element, "T_einsum")


EINSUM = (Operator("einsum", einsum, "LIB-960", ("einsum",)),)
