"""Other evaluations of generated programs, written out as programs, lie inside of the certificate of the original.

| variant | is                                                                                |
|---------|-----------------------------------------------------------------------------------|
| wide    | float32, float16 and bfloat16 expressions keep the next wider format until stored |
| fused   | a * b + c and c + a * b are `T.fma`                                               |
| mixed   | each operator one or the other, or as written, by a generator                     |

The interpreter executes them: a second, independent account of what `Freedom` grants.
"""

import random
from functools import cache

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, FLOAT64
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import rewrite
from refmlc.observe.bounds.certify import certify
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled
from refmlc.strategies.arguments import arguments

MANY, FIRST = 300, 2000  # seeds among which there are sums that round
WIDER = {"float16": FLOAT32, "bfloat16": FLOAT32, "float32": FLOAT64}
ROUNDING = ("add", "sub", "mul", "div", "sqrt")


class Widened:
    """Operators in the wider format. Casts of the program stay; one that was made here is taken back."""

    def __init__(self):
        self.made = set()

    def __call__(self, node):
        if isinstance(node, tir.Apply) and node.op in ROUNDING and str(node.dtype) in WIDER:
            args = tuple(self.in_wider(arg) for arg in node.args)
            cast = tir.Cast(node.dtype, tir.Apply(node.op, args, WIDER[node.dtype.element], span=node.span))
            self.made.add(cast)  # nodes are equal where they are the same
            return cast
        return node

    def in_wider(self, value):
        """`value` in the wider format."""
        return value.value if value in self.made else tir.Cast(WIDER[value.dtype.element], value)


def is_product(node):
    return isinstance(node, tir.Apply) and node.op == "mul"


def fused(node):
    if isinstance(node, tir.Apply) and node.op == "add" and node.dtype.is_float and not node.dtype.is_vector:
        first, second = node.args
        if is_product(first):
            return tir.Call("fma", (*first.args, second), node.dtype, span=node.span)
        if is_product(second):
            return tir.Call("fma", (*second.args, first), node.dtype, span=node.span)
    return node


def mixed(generator):
    widened = Widened()

    def change(node):
        return generator.choice((widened, fused, lambda same: same))(node)

    return change


def variants(func, seed):
    changes = {"wide": Widened(), "fused": fused, "mixed": mixed(random.Random(seed))}  # noqa: S311 - reproducible
    found = {name: rewrite(func, change) for name, change in changes.items()}
    return {name: variant for name, variant in found.items() if variant is not func}


def results(func, recipe):
    """The tensors among the arguments after the call; None where it fails."""
    args = arguments(recipe)
    try:
        Machine(IRModule({"main": func})).call("main", args)
    except RefmlcError:
        return None
    return {number: arg for number, arg in enumerate(args) if isinstance(arg, Tensor)}


def outside(found, results):
    """Elements of the variant's results that the certificate does not permit."""
    by_shape = {output.name: output for output in found.outputs}
    wrong, other = [], 0
    for name, tensor in results.items():
        if name not in by_shape:
            continue
        output = by_shape[name]
        values, reference = np.ravel(tensor.array), np.ravel(output.reference)
        for number, element in enumerate(output.elements):
            value = values[number].item()
            value = value if isinstance(value, bool | int | float) else float(value)
            other += values[number].tobytes() != reference[number].tobytes()
            if element is not None and not output.permits(number, value):
                wrong.append((name, number, value, element))
    return wrong, other


@cache
def campaign():
    """What lay outside, and how many variants ran and how many elements had other bits than the reference."""
    wrong, ran, other = [], {"wide": 0, "fused": 0, "mixed": 0}, 0
    for seed in range(MANY):
        case = rolled(FIRST + seed, "")
        try:
            found = certify(IRModule({"main": case.prim_func}), "main", arguments(case.calls[0]))
        except RefmlcError:
            continue
        names = {
            number: case.prim_func.buffer_map[param].name
            for number, param in enumerate(case.prim_func.params)
            if param in case.prim_func.buffer_map
        }
        for name, variant in variants(case.prim_func, seed).items():
            got = results(variant, case.calls[0])
            if got is None:
                continue
            here, differing = outside(found, {names[number]: tensor for number, tensor in got.items()})
            ran[name] += 1
            other += differing
            wrong += [(seed, name, *each) for each in here]
    return wrong, ran, other


def test_variants_lie_inside():
    wrong, _, _ = campaign()
    assert wrong == []


@pytest.mark.parametrize(("name", "least"), [("wide", 40), ("fused", 30), ("mixed", 30)])
def test_variants_are_many(name, least):
    assert campaign()[1][name] >= least


def test_variants_differ():
    assert campaign()[2] > 100
