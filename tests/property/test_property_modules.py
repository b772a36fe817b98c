"""Generated modules of Relax: well-typed, defined, the same in text and in C; every construct occurs."""

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, find, given, settings

from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.script import read, show
from refmlc.lang.wellformed.module import check_module
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import Case, ir_modules, rolled_module
from refmlc.vm import VirtualMachine, build

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
SEEDS = range(3000 if SOAK else 40)
IN_C = range(400 if SOAK else 20)


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFMLC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def bits(value):
    """A result such that equal ones are equal bits; NaN is one class."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if not isinstance(value, Tensor):
        return repr(value)
    array = value.array
    codes = array.view(f"u{array.dtype.itemsize}") if array.dtype.kind != "b" else array
    if value.dtype.is_float:
        return str(value.dtype), [
            "nan" if number != number else code  # noqa: PLR0124 - the test for NaN
            for number, code in zip(array.astype(float).reshape(-1), codes.reshape(-1).tolist(), strict=True)
        ]
    return str(value.dtype), array.shape, codes.tolist()


@pytest.mark.parametrize("first", SEEDS[::40])
def test_modules_obey_the_rules_come_back_from_text_and_are_defined(first):
    for seed in range(first, min(first + 40, len(SEEDS))):
        case = rolled_module(seed)
        assert check_module(case.module) == (), case
        assert structural_equal(read(show(case.module), "case.py"), case.module), case
        for number in range(len(case.calls)):
            report = sanitize(case.module, case.func, case.arguments(number))
            assert (report.verdict, report.findings) == ("defined", ()), case


def named(case, prefix):
    """The functions of a case, with other names."""

    def change(node):
        return tir.GlobalVar(prefix + node.name, span=node.span) if isinstance(node, tir.GlobalVar) else node

    return {prefix + name: rewrite(func, change) for name, func in case.module.functions.items()}


def test_modules_give_the_same_bits_in_c():
    cases = {f"m{seed}_": rolled_module(seed) for seed in IN_C}
    functions = {name: func for prefix, case in cases.items() for name, func in named(case, prefix).items()}
    module = IRModule(functions)
    interp = VirtualMachine(build(module, tier="interp"))
    native = VirtualMachine(build(module, tier="native"))
    for prefix, case in cases.items():
        for number in range(len(case.calls)):
            wanted, found = case.arguments(number), case.arguments(number)
            right, given_ = interp[f"{prefix}main"](*wanted), native[f"{prefix}main"](*found)
            assert bits(given_) == bits(right), case
            assert bits(tuple(found)) == bits(tuple(wanted)), case


def constructs(case):
    """Names of what occurs in a module."""
    for name, function in case.module.functions.items():
        if not isinstance(function, relax.Function):
            continue
        for node in walk(function):
            match node:
                case relax.Call(relax.Op(op), args, _, types):
                    yield op
                    yield from ["tir_vars"] * (len(args) == 3)
                    yield from ["several outputs"] * bool(types and hasattr(types[0], "fields"))
                case relax.Call(tir.GlobalVar(callee)):
                    yield "recursion" if callee == name else "function"
                case _:
                    yield type(node).__name__
        yield from ["effects"] * (not function.pure)


def test_every_construct_occurs():
    found = Counter(construct for seed in range(150) for construct in set(constructs(rolled_module(seed))))
    wanted = ("call_tir", "call_tir_inplace", "shape_of", "assert_op", "tir_vars", "several outputs", "recursion")
    wanted += ("function", "If", "MatchCast", "Tuple", "TupleGetItem", "ShapeExpr", "PrimValue", "Constant")
    wanted += ("DataflowBlock", "BindingBlock", "effects")
    assert {name: found[name] for name in wanted if found[name] < 5} == {}


def test_a_seed_gives_the_same_module_and_other_seeds_give_others():
    texts = [str(rolled_module(seed)) for seed in range(20)]
    assert texts == [str(rolled_module(seed)) for seed in range(20)]
    assert len(set(texts)) == 20


def test_cases_survive_json():
    for seed in range(20):
        case = rolled_module(seed)
        back = Case.from_json(case.to_json())
        assert structural_equal(back.module, case.module)
        assert (back.func, back.calls) == (case.func, case.calls)


@settings(max_examples=300 if SOAK else 15, suppress_health_check=[HealthCheck.too_slow])
@given(ir_modules())
def test_drawn_modules_are_defined(case):
    assert check_module(case.module) == ()
    assert sanitize(case.module, case.func, case.arguments()).verdict == "defined"


# ------------------------------------------------------------------------------------------------- shrinking


def bindings(case):
    return [node for node in walk(case.module) if isinstance(node, relax.VarBinding | relax.MatchCast)]


def smallest(condition):
    """The smallest case that Hypothesis finds; what it finds is the same each time."""
    return find(
        ir_modules(),
        condition,
        settings=settings(max_examples=400, database=None, derandomize=True),
    )


def other_field(node):
    return relax.TupleGetItem(node.tuple_value, 0) if isinstance(node, relax.TupleGetItem) and node.index else node


def swapped(node):
    return relax.If(node.condition, node.false_branch, node.true_branch) if isinstance(node, relax.If) else node


def negated(node):
    """A kernel that stores a wrong bool."""
    if isinstance(node, tir.BufferStore) and node.value.dtype == BOOL:
        return tir.BufferStore(node.buffer, tir.Apply("not", (node.value,), BOOL), node.indices)
    return node


def differs(bug):
    """Whether an implementation with this bug gives another result, or fails."""

    def condition(case):
        wrong = rewrite(case.module, bug)
        if wrong is case.module:
            return False
        right = VirtualMachine(build(case.module, tier="interp", check=False))["main"](*case.arguments())
        found = VirtualMachine(build(wrong, tier="interp", check=False))["main"](*case.arguments())
        return bits(right) != bits(found)

    return condition


@pytest.mark.parametrize(
    ("bug", "most"),
    [
        pytest.param(other_field, 2, marks=pytest.mark.soak),
        pytest.param(negated, 2, marks=pytest.mark.soak),
        pytest.param(swapped, 3, marks=pytest.mark.soak),
    ],
    ids=["other_field", "negated", "swapped"],
)
def test_planted_bugs_shrink_to_a_few_bindings(bug, most):
    case = smallest(differs(bug))
    assert len(bindings(case)) <= most, case
    assert all(extent <= 3 for call in case.calls for one in call for extent in getattr(one, "shape", ())), case
    assert sum(isinstance(one, tir.PrimFunc) for one in case.module.functions.values()) <= most, case


def test_a_single_construct_shrinks_to_itself():
    case = smallest(lambda case: any(isinstance(node, relax.MatchCast) for node in walk(case.module)))
    assert len(bindings(case)) == 1, case
    assert len(case.module.functions) == 1, case
