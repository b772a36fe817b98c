"""Recurrent layers, one step written after the other.

LSTM, PyTorch's order of the gates (input, forget, cell, output), each a part of one product:

    gates = x @ w_ih.T + b_ih + (h @ w_hh.T + b_hh)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g);  h = sigmoid(o) * tanh(c)
"""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.aten.linear import linear
from refmlc.frontends.aten.movement import select
from refmlc.frontends.aten.nans import own_nan
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.ir import relax

Tensor = relax.Expr
State = tuple[Tensor, ...]
Step = Callable[[Emitter, Tensor, State, Sequence[Tensor]], State]


def lstm_step(e: Emitter, x: Tensor, state: State, weights: Sequence[Tensor]) -> State:
    """The hidden state and the cell after one more input."""
    h, c = state
    gates = _gates(e, x, h, weights)
    parts = e.call("split", gates, indices_or_sections=4, axis=1)
    i, f, g, o = (e.item(parts, place) for place in range(4))
    remaining = e.call("multiply", e.call("sigmoid", f), c)
    cell = e.call("add", remaining, e.call("multiply", e.call("sigmoid", i), e.call("tanh", g)))
    return e.call("multiply", e.call("sigmoid", o), e.call("tanh", cell)), cell


def _gates(e: Emitter, x: Tensor, h: Tensor, weights: Sequence[Tensor]) -> Tensor:
    return e.call("add", linear(e, x, weights[0], *weights[2:3]), linear(e, h, weights[1], *weights[3:4]))


def gru_step(e: Emitter, x: Tensor, state: State, weights: Sequence[Tensor]) -> State:
    """The hidden state after one more input: `(h - n) * z + n`."""
    (h,) = state
    ours = e.call("split", linear(e, x, weights[0], *weights[2:3]), indices_or_sections=3, axis=1)
    theirs = e.call("split", linear(e, h, weights[1], *weights[3:4]), indices_or_sections=3, axis=1)
    r, z = (e.call("sigmoid", e.call("add", e.item(ours, at), e.item(theirs, at))) for at in range(2))
    n = e.call("tanh", e.call("add", e.item(ours, 2), e.call("multiply", r, e.item(theirs, 2))))
    return (e.call("add", e.call("multiply", e.call("subtract", h, n), z), n),)


def plain_step(name: str) -> Step:
    """The hidden state after one more input: a function of the gates, which keeps NaN."""

    def step(e: Emitter, x: Tensor, state: State, weights: Sequence[Tensor]) -> State:
        gates = _gates(e, x, state[0], weights)
        return (own_nan(e, gates, e.call(name, gates)),)

    return step


def layers(step: Step, *, several: bool) -> Rule:
    """`(x, state, weights, has_biases, layers, dropout, training, both ways, batch_first)`."""

    def rule(  # noqa: PLR0913, PLR0917 - PyTorch's arguments
        e: Emitter,
        x: Tensor,
        start: Operand,
        params: Sequence[Tensor],
        has_biases: Operand,
        num_layers: int,
        dropout: float,
        train: Operand,
        bidirectional: Operand,
        batch_first: Operand = False,
    ) -> Operand:
        if train and dropout:
            raise fail(UNSUPPORTED_OP, "dropout in training is random: call `model.eval()` before the export")
        states = list(start) if several and isinstance(start, list | tuple) else [start]
        time, count = (1 if batch_first else 0), (4 if has_biases else 2)
        steps = e.shape(x)[time]
        if not isinstance(steps, int):
            raise fail(UNSUPPORTED_OP, "a recurrent layer takes a known number of steps")
        inputs = [_tensor(select(e, x, time, at)) for at in range(steps)]
        last: list[State] = []
        ways = 2 if bidirectional else 1
        for layer in range(num_layers):
            runs = []
            for way in range(ways):
                at = layer * ways + way
                state = tuple(_tensor(select(e, _tensor(item), 0, at)) for item in states)
                weights = params[at * count : (at + 1) * count]
                outs, state = _run(e, step, inputs[::-1] if way else inputs, state, weights)
                runs.append(outs[::-1] if way else outs)
                last.append(state)
            inputs = [
                item[0] if ways == 1 else e.call("concat", list(item), axis=1) for item in zip(*runs, strict=True)
            ]
        ends = [e.call("stack", [item[part] for item in last], axis=0) for part in range(len(states))]
        return relax.Tuple((e.call("stack", inputs, axis=time), *ends))

    return rule


def _run(
    e: Emitter, step: Step, inputs: Sequence[Tensor], state: State, weights: Sequence[Tensor]
) -> tuple[list[Tensor], State]:
    """The outputs of one layer, and its last state."""
    outs = []
    for item in inputs:
        state = step(e, item, state, weights)
        outs.append(state[0])
    return outs, state


def _tensor(value: Operand) -> Tensor:
    if not isinstance(value, relax.Expr):
        raise fail(UNSUPPORTED_OP, "a packed sequence is not supported in a recurrent layer")
    return value


RECURRENT: Mapping[str, Rule] = {
    "lstm": layers(lstm_step, several=True),
    "gru": layers(gru_step, several=False),
    "rnn_tanh": layers(plain_step("tanh"), several=False),
    "rnn_relu": layers(plain_step("nn.relu"), several=False),
}
