"""Memory plans of Relax: a plan that respects lifetimes changes nothing; one that does not is found.

A program is a list of steps: step i adds two earlier values (0: the parameter). It is written once with `call_tir`
and once with tensors cut out of one storage, each in a slot that a plan chose; the results must agree. Moving a tensor
into the slot of one that is still read must end in the use of a tensor that is gone.
"""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

HEAD = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def add(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
        for i in range(3):
            C[i] = A[i] + B[i]

    @R.function(pure=False)
    def main(v0: R.Tensor((3,), "float32")):
        cls = Module
"""
START = np.array([1, 2, 5], "float32")


@st.composite
def programs(draw):
    """Pairs of operands, one pair a step; every step but the last is read later or not at all."""
    count = draw(st.integers(2, 6))
    return [tuple(draw(st.integers(0, step)) for _ in "ab") for step in range(count)]


def last_uses(steps):
    """For each value the last step that reads it; the result is read after all."""
    last = {value: step for step, pair in enumerate(steps) for value in pair}
    return {**last, len(steps): len(steps)}


def planned(steps):
    """A slot for each value: the first that no living value has."""
    last, slots = last_uses(steps), {}
    for step in range(len(steps)):
        living = {slot for value, slot in slots.items() if last.get(value, -1) >= step}
        slots[step + 1] = next(slot for slot in range(len(steps) + 1) if slot not in living)
    return slots


def fresh(steps):
    lines = [
        f'        v{i + 1} = R.call_tir(cls.add, (v{a}, v{b}), out_ty=R.Tensor((3,), "float32"))'
        for i, (a, b) in enumerate(steps)
    ]
    return HEAD + "\n".join([*lines, f"        return v{len(steps)}\n"])


def lowered(steps, slots):
    size = 12 * (len(steps) + 1)
    lines = [f'        s = R.memory.alloc_storage(R.shape([{size}]), 0, R.str("global"), R.dtype("uint8"))']
    last = last_uses(steps)
    for i, (a, b) in enumerate(steps):
        shape = 'R.shape([3]), R.dtype("float32")'
        lines.append(f"        v{i + 1} = R.memory.alloc_tensor(s, {12 * slots[i + 1]}, {shape}, 0)")
        lines.append(f"        cls.add(v{a}, v{b}, v{i + 1})")
        lines += [f"        R.memory.kill_tensor(v{value})" for value in sorted({a, b}) if last[value] == i]
    return HEAD + "\n".join([*lines, f"        return v{len(steps)}\n"])


def run(text):
    return Machine(read(text)).call("main", [START.copy()]).numpy().tolist()


@given(programs())
def test_a_plan_that_respects_lifetimes_changes_nothing(steps):
    weights = [1]
    for a, b in steps:
        weights.append(weights[a] + weights[b])
    assert run(fresh(steps)) == (START * weights[-1]).tolist()
    assert run(lowered(steps, planned(steps))) == (START * weights[-1]).tolist()


@given(programs(), st.data())
def test_a_plan_that_does_not_is_found(steps, data):
    last, slots = last_uses(steps), planned(steps)
    pairs = [(early, late) for late in slots for early in slots if early < late <= last.get(early, -1)]
    assume(pairs)
    early, late = data.draw(st.sampled_from(pairs))
    slots[late] = slots[early]
    with pytest.raises(RefmlcError) as caught:
        run(lowered(steps, slots))
    assert caught.value.code.id == "RM316"
