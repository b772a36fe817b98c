"""Losses: the distance of predictions from targets.

| operator                       | the loss is                                                               |
|--------------------------------|---------------------------------------------------------------------------|
| `nn.cross_entropy_with_logits` | `-sum(predictions * labels)`, over the number of rows where there are any |
| `nn.nll_loss`                  | `-predictions[target] * weights[target]`, 0 where the target is ignored   |

Order: sums are in row-major order, in the dtype of the predictions.
"""

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.library.definition import Operator, computed
from refmlc.lang.library.reduction import count_of, reduced
from refmlc.lang.library.shapes import must_agree
from refmlc.lang.te import Tensor, Value

REDUCTIONS = ("mean", "sum", "none")


def cross_entropy_with_logits(predictions: Tensor, labels: Tensor) -> Tensor:
    """The sum of all products with the opposite sign, of at least two dimensions divided by the first extent.

    Fails: RM201, RM202.
    """
    name = "nn.cross_entropy_with_logits"
    if predictions.dtype != labels.dtype:
        operands = f"these are {predictions.dtype} and {labels.dtype}"
        raise fail(TYPE_MISMATCH, f"`{name}` takes tensors of one dtype; {operands}")
    if predictions.ndim != labels.ndim:
        operands = f"these have {predictions.ndim} and {labels.ndim} dimensions"
        raise fail(SHAPE_MISMATCH, f"`{name}` takes tensors of one shape; {operands}")
    for place, (have, want) in enumerate(zip(predictions.shape, labels.shape, strict=True)):
        must_agree(have, want, f"dimension {place} of the predictions and the labels")
    products = computed(predictions.shape, lambda *i: predictions(*i) * labels(*i), "T_multiply")
    total, minus = reduced(products, None, te.sum), te.const(-1, predictions.dtype)
    if predictions.ndim < 2:
        return computed((), lambda: total() * minus, "loss")
    count = count_of(predictions, [0], predictions.dtype)
    return computed((), lambda: te.div(total() * minus, count), "loss")


def check_targets(name: str, predictions: Tensor, targets: Tensor, weights: Tensor | None, reduction: str) -> None:
    """Fails: RM105, RM201, RM202 where the targets are not those of the predictions."""
    if reduction not in REDUCTIONS:
        raise fail(BAD_ARGUMENTS, f'`{name}` has the reductions {", ".join(REDUCTIONS)}; this is "{reduction}"')
    if predictions.ndim < 1 or targets.ndim != predictions.ndim - 1:
        operands = f"these have {predictions.ndim} and {targets.ndim} dimensions"
        raise fail(SHAPE_MISMATCH, f"`{name}` takes targets of one dimension less than the predictions; {operands}")
    if not targets.buffer.dtype.is_integer:
        raise fail(TYPE_MISMATCH, f"`{name}` takes integers as targets; these are {targets.dtype}")
    rest = [extent for place, extent in enumerate(predictions.shape) if place != class_axis(predictions)]
    for place, (have, want) in enumerate(zip(targets.shape, rest, strict=True)):
        must_agree(have, want, f"dimension {place} of the targets, and the predictions")
    if weights is None:
        return
    if weights.dtype != predictions.dtype or weights.ndim != 1:
        raise fail(TYPE_MISMATCH, f"`{name}` takes a vector of {predictions.dtype} as weights")
    must_agree(weights.shape[0], predictions.shape[class_axis(predictions)], f"the weights and the classes of `{name}`")


def class_axis(predictions: Tensor) -> int:
    """The axis of the classes: the second one, or the only one."""
    return min(1, predictions.ndim - 1)


def counted_weights(targets: Tensor, weights: Tensor | None, ignore_index: int, dtype: str) -> Tensor:
    """The weight of each target; 0 where it is ignored."""

    def element(*i: Value) -> Value:
        target = targets(*i)
        weight = te.const(1, dtype) if weights is None else weights(target)
        return te.if_then_else(target != ignore_index, weight, te.const(0, dtype))

    return computed(targets.shape, element, "target_weights")


def nll_loss(
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Tensor:
    """The prediction for the target class, times the weight of the class, with the opposite sign.

    Shapes: predictions (n, c, …) and targets (n, …), or (c,) and (); weights (c,). "none" gives a loss for each
    target, "sum" their sum, "mean" the sum divided by that of the weights that count. Fails: RM105, RM201, RM202.
    """
    check_targets("nn.nll_loss", predictions, targets, weights, reduction)
    axis, dtype = class_axis(predictions), predictions.dtype
    zero = te.const(0, dtype)

    def element(*i: Value) -> Value:
        target = targets(*i)
        value = zero - predictions(*i[:axis], target, *i[axis:])
        value = value if weights is None else value * weights(target)
        return te.if_then_else(target != ignore_index, value, zero)

    losses = computed(targets.shape, element, "nll_loss")
    if reduction == "none":
        return losses
    total = reduced(losses, None, te.sum, name="nll_loss_red")
    if reduction == "sum":
        return total
    whole = reduced(counted_weights(targets, weights, ignore_index, dtype), None, te.sum, name="weights_red")
    return computed((), lambda: te.div(total(), whole()), "T_divide")


LOSSES = (
    Operator("nn.cross_entropy_with_logits", cross_entropy_with_logits, "LIB-043"),
    Operator("nn.nll_loss", nll_loss, "LIB-044", ("nn.nll_loss",)),
)
