"""Cases as JSON, recipes of arguments, and that what is made from a seed needs no Hypothesis."""

import json
import subprocess
import sys

import numpy as np
import pytest

from refmlc.diag import Malformed
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, SCALARS
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies import Array, Case, Number, Same, ShapeOf, TupleOf, rolled
from refmlc.strategies.arguments import argument_data, argument_of, arguments

RECIPES = [
    Array(FLOAT32, (2, 3)),
    Array(INT32, (), "edges", 7, -100, 100, "partial"),
    Array(SCALARS["float8_e4m3fn"], (0, 4), "any", 3),
    Array(BOOL, (5,), "small", 1, 0, 1, "locked"),
    Number(INT32, -3),
    Number(FLOAT32, -0.0),
    Number(FLOAT32, 0.1),
    Number(FLOAT32, float("-inf")),
    Same(0),
    ShapeOf((2, 0)),
    TupleOf((Number(INT32, 1), TupleOf(()), Array(FLOAT32, (1,)))),
]


@pytest.mark.parametrize("seed", range(0, 120, 40))
def test_a_case_comes_back_from_json(seed):
    for number in range(seed, seed + 40):
        case = rolled(number, None)
        back = Case.from_json(case.to_json())
        assert structural_equal(back.module, case.module), f"seed {number}"
        # The text of a number tells -0 from 0, and NaN is like itself.
        assert repr(back.calls) == repr(case.calls)
        assert (back.func, back.aim, back.name) == (case.func, case.aim, case.name)


def test_constants_come_back():
    module = read(
        "from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n"
        "    with R.dataflow():\n        y = R.add(x, R.const([1.5, -2.0], 'float32'))\n        R.output(y)\n"
        "    return y\n",
        "m.py",
    )
    back = Case.from_json(Case(module, "main", ((Array(FLOAT32, (2,)),),)).to_json())
    assert structural_equal(back.module, module)


@pytest.mark.parametrize("one", RECIPES, ids=str)
def test_a_recipe_comes_back_from_data(one):
    assert repr(argument_of(json.loads(json.dumps(argument_data(one))))) == repr(one)


def test_a_number_that_is_nan_comes_back():
    back = argument_of(argument_data(Number(FLOAT32, float("nan"))))
    assert isinstance(back, Number)
    assert np.isnan(back.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"text": "", "func": "main", "calls": [[{"array": "float32"}]]}',
        '{"text": "", "func": "main", "calls": [[{"array": "float32", "shape": ["2"], "way": "any"}]]}',
        '{"text": "", "func": "main", "calls": [[{"array": "float32", "shape": [2], "way": "other"}]]}',
        '{"text": "", "func": "main", "calls": [[{"array": "float31", "shape": [2], "way": "any"}]]}',
        '{"text": "", "func": "main", "calls": [[{"number": "float32", "value": "one"}]]}',
    ],
)
def test_what_is_no_case_is_said_to_be_none(text):
    with pytest.raises(Malformed):
        Case.from_json(text)


def test_the_arguments_of_a_call_are_fresh_and_the_same():
    recipe = (Array(FLOAT32, (2, 3), "small", 5), Same(0), ShapeOf((4,)), TupleOf((Number(INT32, 2), Same(0))))
    first, second = arguments(recipe), arguments(recipe)
    assert isinstance(first[0], Tensor)
    assert first[1] is first[0] is first[3][1]
    assert first[2] == Shape((4,))
    assert isinstance(first[2], Shape)
    assert first[3][0] == 2
    assert second[0] is not first[0]
    assert np.array_equal(first[0].numpy(), second[0].numpy())


def test_integers_lie_within_their_limits():
    for way in ("steps", "small", "any", "edges", "tame"):
        for low, high in ((-3, 5), (0, 0), (INT32.minimum, INT32.maximum)):
            for seed in range(20):
                found = Array(INT32, (9,), way, seed, low, high).values()
                assert low <= found.min() <= found.max() <= high


def test_every_form_gives_the_values_that_it_says():
    for form in ("compact", "strided", "locked", "offset"):
        one = Array(INT32, (2, 3), "steps", 0, 0, 9, form)
        assert one.tensor().numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Array(INT32, (4,), "steps", 0, 0, 9, "fresh").tensor().shadow.tobytes() == bytes(4)
    partial = Array(INT32, (4,), "steps", 0, 0, 9, "partial").tensor()
    assert [bool(one) for one in partial.shadow] == [True, False, True, False]


def test_a_seed_gives_the_same_case_each_time_and_seeds_differ():
    texts = {rolled(seed).to_json() for seed in range(30)}
    assert len(texts) == 30
    assert all(rolled(seed).to_json() in texts for seed in range(30))


def test_a_case_whose_entry_is_no_prim_func_says_so():
    case = Case(IRModule({"main": tir.PrimFunc((), {}, tir.Evaluate(tir.IntImm(INT32, 0)))}), "main", ((),))
    assert isinstance(case.prim_func, tir.PrimFunc)
    with pytest.raises(KeyError):
        _ = Case(case.module, "other", ()).prim_func


def test_what_is_made_from_a_seed_needs_no_hypothesis():
    program = "import sys; from refmlc.strategies import rolled; rolled(1); print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
