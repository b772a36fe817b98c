"""Losses and their gradients."""

import numpy as np

from refmlc.oracle.exact.definitions.arrays import Array, filled, form_of, numbers
from refmlc.oracle.exact.definitions.definition import PYTORCH, SUM, ExactDefinition, NoDefinition
from refmlc.oracle.exact.definitions.numbers import ExactNumber, Format, constant, quotient, total
from refmlc.oracle.exact.definitions.reduction import count

ZERO = constant(0, None)


def _floats(x: Array) -> Format:
    form = form_of(x)
    if form is None:
        raise NoDefinition("a loss of integers")
    return form


def cross_entropy(predictions: Array, labels: Array) -> Array:
    """The sum of the products with the opposite sign, by the number of rows."""
    form, items, others = _floats(predictions), numbers(predictions), numbers(labels)
    whole = total([-(a * b) for a, b in zip(items.reshape(-1), others.reshape(-1), strict=True)], form)
    if predictions.ndim > 1:
        whole = quotient(whole, count(list(items), form))
    return filled((), [whole])


class _Targets:
    """The weight of each target and its class, in row-major order."""

    def __init__(self, predictions: Array, targets: Array, weights: Array | None, ignore: int) -> None:
        self.form, self.items = _floats(predictions), numbers(predictions)
        self.axis = min(1, predictions.ndim - 1)
        vector = None if weights is None else numbers(weights)
        self.classes = {at: int(targets[at]) for at in np.ndindex(*targets.shape)}
        one = constant(1, None)
        self.weights: dict[tuple[int, ...], ExactNumber] = {
            at: ZERO if c == ignore else one if vector is None else vector[c] for at, c in self.classes.items()
        }
        self.counted = {at: c for at, c in self.classes.items() if c != ignore}

    def prediction(self, at: tuple[int, ...]) -> ExactNumber:
        """The prediction for the class of a target."""
        found: ExactNumber = self.items[(*at[: self.axis], self.classes[at], *at[self.axis :])]
        return found

    @property
    def whole(self) -> ExactNumber:
        """The sum of the weights that count."""
        return total([self.weights[at] for at in self.counted], self.form)


def nll_loss(
    predictions: Array,
    targets: Array,
    weights: Array | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Array:
    """-weight of the class * prediction for it; the mean is by the weights that count."""
    rows = _Targets(predictions, targets, weights, ignore_index)
    losses = {at: -(rows.prediction(at) * rows.weights[at]) for at in rows.counted}
    if reduction == "none":
        return filled(targets.shape, (losses.get(at, ZERO) for at in rows.classes))
    whole = total(losses.values(), rows.form)
    return filled((), [whole if reduction == "sum" else quotient(whole, rows.whole)])


def nll_loss_backward(
    gradient: Array,
    predictions: Array,
    targets: Array,
    weights: Array | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Array:
    """-weight * gradient at the class of each target, 0 elsewhere; of the mean by the weights that count."""
    rows, slopes = _Targets(predictions, targets, weights, ignore_index), numbers(gradient)
    result = filled(predictions.shape, (ZERO for _ in range(predictions.size)))
    for at, label in rows.counted.items():
        slope = slopes.reshape(-1)[0] if reduction != "none" else slopes.item(*at)
        slope = quotient(slope, rows.whole) if reduction == "mean" else slope
        result[(*at[: rows.axis], label, *at[rows.axis :])] = -(rows.weights[at] * slope)
    return result


LOSSES = (
    ExactDefinition(
        "nn.cross_entropy_with_logits", cross_entropy, "TVM 0.27 documentation: -sum(predictions * labels) / n", SUM
    ),
    ExactDefinition("nn.nll_loss", nll_loss, f"{PYTORCH} torch.nn.NLLLoss", SUM),
    ExactDefinition("grad.nll_loss_backward", nll_loss_backward, f"{PYTORCH} gradient of torch.nn.NLLLoss", SUM),
)
