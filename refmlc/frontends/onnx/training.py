"""Steps of optimizers, of ONNX's domain for training: `Adagrad`, `Adam`, `Momentum`.

Inputs: the rate, the number of the step, then for n tensors the n values, their n gradients, and each of the states.
Outputs: the n values after the step, then the n of each state. The formulas are those of ONNX's texts, term by term.
"""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.lang.ir import relax

Step = Callable[[Sequence[relax.Expr]], Sequence[relax.Expr]]


class Formula:
    """Elementwise arithmetic in the dtype of the tensors; numbers are brought to it."""

    def __init__(self, e: Emitter, dtype: str) -> None:
        self._e = e
        self._dtype = dtype

    def __call__(self, name: str, *parts: relax.Expr | float) -> relax.Expr:
        """The operator `name` of Relax."""
        e, dtype = self._e, self._dtype
        return e.call(name, *(e.scalar(part, dtype) if isinstance(part, int | float) else part for part in parts))

    def number(self, value: relax.Expr) -> relax.Expr:
        """An input of one element, without dimensions, in the dtype."""
        return self._e.astype(self._e.reshape(value, []), self._dtype)


def _optimizer(states: int, step: Callable[[Node, Formula, relax.Expr, relax.Expr], Step]) -> OnnxRule:
    """The rule of an optimizer with that many states; `step` takes value, gradient and states of one tensor."""

    def rule(node: Node) -> Operand:
        count, left = divmod(len(node) - 2, states + 2)
        if left or count < 1:
            raise fail(BAD_INPUT, f"`{node.op}` has {len(node)} inputs: 2, and {states + 2} for each tensor are needed")
        formula = Formula(node.e, node.e.dtype(node.tensor(2)))
        rate, number = formula.number(node.tensor(0)), formula.number(node.tensor(1))
        once = step(node, formula, rate, number)
        columns = [[node.tensor(2 + kind * count + at) for kind in range(states + 2)] for at in range(count)]
        results = [once(column) for column in columns]
        return tuple(result[kind] for kind in range(states + 1) for result in results)

    return rule


def _adagrad(node: Node, f: Formula, rate: relax.Expr, number: relax.Expr) -> Step:
    norm, decay = node.real("norm_coefficient", 0.0), node.real("decay_factor", 0.0)
    epsilon = node.real("epsilon", 1e-6)
    factor = f("divide", rate, f("add", 1.0, f("multiply", number, decay)))

    def step(parts: Sequence[relax.Expr]) -> Sequence[relax.Expr]:
        x, gradient, state = parts
        regular = f("add", f("multiply", norm, x), gradient)
        squares = f("add", state, f("multiply", regular, regular))
        shifted = f("divide", f("multiply", factor, regular), f("add", f("sqrt", squares), epsilon))
        return f("subtract", x, shifted), squares

    return step


def _adam(node: Node, f: Formula, rate: relax.Expr, number: relax.Expr) -> Step:
    alpha, beta, epsilon = node.real("alpha", 0.9), node.real("beta", 0.999), node.real("epsilon", 1e-6)
    norm, after = node.real("norm_coefficient", 0.0), node.real("norm_coefficient_post", 0.0)
    fresh = f("sqrt", f("subtract", 1.0, f("power", beta, number)))
    scale = f("divide", fresh, f("subtract", 1.0, f("power", alpha, number)))
    later = f("greater", number, 0.0)
    adjusted = f("where", later, f("multiply", rate, f("where", later, scale, 1.0)), rate)

    def step(parts: Sequence[relax.Expr]) -> Sequence[relax.Expr]:
        x, gradient, mean, squares = parts
        regular = f("add", f("multiply", norm, x), gradient)
        mean = f("add", f("multiply", alpha, mean), f("multiply", 1.0 - alpha, regular))
        squares = f("add", f("multiply", beta, squares), f("multiply", f("multiply", 1.0 - beta, regular), regular))
        root = f("add", f("sqrt", squares), epsilon)
        shifted = f("subtract", x, f("divide", f("multiply", adjusted, mean), root))
        return f("multiply", 1.0 - after, shifted), mean, squares

    return step


def _momentum(node: Node, f: Formula, rate: relax.Expr, number: relax.Expr) -> Step:
    alpha, beta = node.real("alpha", 0.0), node.real("beta", 0.0)
    norm, mode = node.real("norm_coefficient", 0.0), node.text("mode", "")
    if mode not in ("standard", "nesterov"):
        raise fail(UNSUPPORTED_OP, f"the mode `{mode}` of `Momentum` is not supported")
    weight = f("where", f("greater", number, 0.0), beta, 1.0)

    def step(parts: Sequence[relax.Expr]) -> Sequence[relax.Expr]:
        x, gradient, speed = parts
        regular = f("add", f("multiply", norm, x), gradient)
        speed = f("add", f("multiply", alpha, speed), f("multiply", weight, regular))
        way = speed if mode == "standard" else f("add", regular, f("multiply", alpha, speed))
        return f("subtract", x, f("multiply", rate, way)), speed

    return step


TRAINING: Mapping[str, OnnxRule] = {
    "Adagrad": _optimizer(1, _adagrad),
    "Adam": _optimizer(2, _adam),
    "Momentum": _optimizer(1, _momentum),
}
