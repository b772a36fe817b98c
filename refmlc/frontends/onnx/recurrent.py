"""Recurrent layers of ONNX, with the steps of PyTorch's and the gates brought to their order.

| operator | gates of ONNX               | gates of the step           |
|----------|-----------------------------|-----------------------------|
| `RNN`    | one                         | the same                    |
| `GRU`    | update, reset, new          | reset, update, new          |
| `LSTM`   | input, output, forget, cell | input, forget, cell, output |

The number of steps is known when the model is imported. Sequences of different lengths, peepholes, clipping and other
activations than the usual ones are refused by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.aten.linear import linear
from refmlc.frontends.aten.recurrent import State, Step, gru_step, lstm_step, plain_step
from refmlc.frontends.emitter import Emitter, Operand, Size, same_sizes
from refmlc.frontends.onnx.elementwise import OnnxRule
from refmlc.frontends.onnx.node import Node
from refmlc.lang.ir import relax

WAYS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Whether each way goes from the last step to the first."""


@dataclass(frozen=True)
class Layer:
    """A kind of layer: the order of its gates, how many states it has, its usual activations, its step."""

    gates: tuple[int, ...]
    states: int
    activations: tuple[str, ...]
    step: Step


def rule(node: Node, layer: Layer) -> Operand:
    """All states, the last state; of an LSTM the last cell too. Fails: RM501."""
    e, direction = node.e, node.text("direction", "forward")
    if direction not in WAYS:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` in the direction `{direction}` is not supported")
    ways, batch_first = WAYS[direction], bool(node.whole("layout", 0))
    _check_activations(node, layer, len(ways))
    if e.rank(node.tensor(0)) != 3:
        raise fail(BAD_INPUT, f"`{node.op}` takes steps of a batch; this has {e.rank(node.tensor(0))} dimensions")
    x = _time_first(e, node.tensor(0), batch_first)
    steps, batch = e.shape(x)[:2]
    if not isinstance(steps, int):
        raise fail(UNSUPPORTED_OP, f"`{node.op}` takes a known number of steps")
    hidden = _check_weights(node, len(ways))
    zeros = e.call("full", e.sizes([batch, hidden]), e.scalar(0, e.dtype(x)), dtype=e.dtype(x))
    values = [node.optional(at) for at in range(5, 5 + layer.states)]
    starts = [None if item is None else (_permuted(e, item, (1, 0, 2)) if batch_first else item) for item in values]
    due = (len(ways), batch, hidden)
    if any(start is not None and not same_sizes(e.shape(start), due) for start in starts):
        raise fail(BAD_INPUT, f"an initial state of `{node.op}` has another shape than {due}")
    inputs = [_part(e, x, at) for at in range(steps)]
    all_outputs, ends = [], []
    for number, backwards in enumerate(ways):
        state: State = tuple(zeros if start is None else _part(e, start, number) for start in starts)
        weights, outputs = _weights(node, layer, number), []
        for step in reversed(inputs) if backwards else inputs:
            state = layer.step(e, step, state, weights)
            outputs.append(state[0])
        all_outputs.append(e.call("stack", outputs[::-1] if backwards else outputs, axis=0))
        ends.append(state)
    whole = e.call("stack", all_outputs, axis=1)
    lasts = [e.call("stack", [end[at] for end in ends], axis=0) for at in range(layer.states)]
    if batch_first:
        return (_permuted(e, whole, (2, 0, 1, 3)), *(_permuted(e, last, (1, 0, 2)) for last in lasts))
    return (whole, *lasts)


def rnn(node: Node) -> Operand:
    """A layer without gates, of `Tanh` or `Relu`."""
    named = node.take("activations", ("Tanh",))
    first = str(named[0]).lower() if isinstance(named, tuple) and named else "tanh"
    if first not in ("tanh", "relu") or (isinstance(named, tuple) and len({str(item).lower() for item in named}) != 1):
        raise fail(UNSUPPORTED_OP, f"`RNN` with the activations {named} is not supported")
    return rule(node, Layer((0,), 1, (), plain_step("tanh" if first == "tanh" else "nn.relu")))


def gru(node: Node) -> Operand:
    """A gated layer; `linear_before_reset` says whether the reset gate meets the state before the weights or after."""
    step = gru_step if node.whole("linear_before_reset", 0) else reset_first
    return rule(node, Layer((1, 0, 2), 1, ("sigmoid", "tanh"), step))


def lstm(node: Node) -> Operand:
    """A layer with a cell."""
    if node.whole("input_forget", 0):
        raise fail(UNSUPPORTED_OP, "an LSTM that couples its gates is not supported")
    return rule(node, Layer((0, 2, 3, 1), 2, ("sigmoid", "tanh", "tanh"), lstm_step))


def reset_first(e: Emitter, x: relax.Expr, state: State, weights: Sequence[relax.Expr]) -> State:
    """A step of a GRU whose reset gate scales the state before the weights: `(1 - z) * n + z * h`."""
    (h,) = state
    ours = e.call("split", linear(e, x, weights[0], *weights[2:3]), indices_or_sections=3, axis=1)
    r_and_z = e.call("split", linear(e, h, weights[1], *weights[3:4]), indices_or_sections=3, axis=1)
    r, z = (e.call("sigmoid", e.call("add", e.item(ours, at), e.item(r_and_z, at))) for at in range(2))
    scaled = linear(e, e.call("multiply", r, h), weights[1], *weights[3:4])
    new = e.item(e.call("split", scaled, indices_or_sections=3, axis=1), 2)
    n = e.call("tanh", e.call("add", e.item(ours, 2), new))
    return (e.call("add", e.call("multiply", e.call("subtract", h, n), z), n),)


def _check_activations(node: Node, layer: Layer, ways: int) -> None:
    """Fails: RM501 for activations that are not the usual ones."""
    named = node.take("activations")
    if named is None:
        return
    if not isinstance(named, tuple) or tuple(str(item).lower() for item in named) != layer.activations * ways:
        raise fail(UNSUPPORTED_OP, f"`{node.op}` with the activations {named} is not supported")


def _check_weights(node: Node, ways: int) -> Size:
    """The number of hidden units; every weight has `ways` directions. Fails: RM111."""
    e, shapes = node.e, [node.e.shape(node.tensor(at)) for at in (1, 2)]
    bias = node.optional(3)
    directions = [*(shape[0] for shape in shapes if len(shape) == 3), *(() if bias is None else e.shape(bias)[:1])]
    if any(len(shape) != 3 for shape in shapes) or any(count != ways for count in directions):
        raise fail(BAD_INPUT, f"the weights of `{node.op}` have the shapes {shapes}: {ways} directions are needed")
    hidden, named = shapes[1][2], node.whole("hidden_size", 0)
    if named and hidden != named:
        raise fail(BAD_INPUT, f"`hidden_size` is {named}, the weights of `{node.op}` have {hidden}")
    return hidden


def _weights(node: Node, layer: Layer, way: int) -> list[relax.Expr]:
    """Weights of the input and of the state, then the biases of both where there are any."""
    e = node.e
    weights = [_in_order(e, _part(e, node.tensor(at), way), layer.gates) for at in (1, 2)]
    bias = node.optional(3)
    if bias is None:
        return weights
    halves = e.call("split", _part(e, bias, way), indices_or_sections=2, axis=0)
    return weights + [_in_order(e, e.item(halves, at), layer.gates) for at in range(2)]


def _in_order(e: Emitter, x: relax.Expr, gates: tuple[int, ...]) -> relax.Expr:
    """The gates along the first axis in the order of the step."""
    if len(gates) == 1:
        return x
    parts = e.call("split", x, indices_or_sections=len(gates), axis=0)
    return e.call("concat", [e.item(parts, at) for at in gates], axis=0)


def _part(e: Emitter, x: relax.Expr, place: int) -> relax.Expr:
    """One place of the first axis, without that axis."""
    return e.call("squeeze", e.call("strided_slice", x, [0], [place], [place + 1], [1]), axis=0)


def _permuted(e: Emitter, x: relax.Expr, axes: tuple[int, ...]) -> relax.Expr:
    return e.call("permute_dims", x, axes=axes)


def _time_first(e: Emitter, x: relax.Expr, batch_first: bool) -> relax.Expr:
    return _permuted(e, x, (1, 0, 2)) if batch_first else x


RECURRENT: Mapping[str, OnnxRule] = {"RNN": rnn, "GRU": gru, "LSTM": lstm}
