"""From a definition follow: how a call is read, its type on symbolic shapes, the function, what a misfit is told."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.types import AnyType, PrimType, ShapeType, TensorType, TupleType
from refmlc.lang.library import OPERATORS, Operator, lowered, type_of
from refmlc.lang.library.definition import Numbers, Shape, Tensors, computed
from refmlc.lang.te import Tensor, Value

N = tir.Var("n", INT64)
MODULE = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor(("n", 4), "float32"):
    with R.dataflow():
        lv = R.add(x, y)
        gv = R.negative(lv)
        R.output(gv)
    return gv
"""


def of(*shape, dtype=FLOAT32):
    return TensorType(tuple(tir.IntImm(INT64, one) if isinstance(one, int) else one for one in shape), dtype)


def repeated(x: Tensor, times: Shape, *, offset: int = 0) -> Tensor:
    """The tensor in each row."""
    return computed((*times, *x.shape), lambda _i, j: x(j) + offset, "repeated")


def both(xs: Tensors, by: Value) -> tuple[Tensor, ...]:
    """Each tensor scaled."""
    return tuple(computed(x.shape, lambda i, x=x: x(i) * by, "scaled") for x in xs)


def shifted(x: Tensor, by: Numbers | None = None) -> Tensor:
    """The tensor from some places on."""
    return computed(x.shape, lambda *i: x(*(at - one for at, one in zip(i, by or [0], strict=True))), "shifted")


SHIFTED = Operator("shifted", shifted, "LIB-999")
REPEATED, BOTH = Operator("repeated", repeated, "LIB-999"), Operator("both", both, "LIB-999")


def test_the_signature_follows_from_the_function():
    assert REPEATED.signature == (("x", "x"), ("times", "s"), ("offset", "a"))
    assert REPEATED.attributes == {"offset": 0}
    assert BOTH.signature == (("xs", "xs"), ("by", "x"))


def test_a_tuple_of_numbers_is_an_argument():
    assert SHIFTED.signature == (("x", "x"), ("by", "xs"))
    known, unknown = PrimType(INT64, tir.IntImm(INT64, 2)), PrimType(INT64)
    for given in (TupleType((known,)), TupleType((unknown,)), ShapeType((N,))):
        assert structural_equal(lowered(SHIFTED, [of(4), given], {}).result, of(4))
    assert lowered(SHIFTED, [of(4)], {}).sizes == ()
    for op, given in ((SHIFTED, TupleType((of(4),))), (REPEATED, TupleType((of(4),))), (BOTH, TupleType((known,)))):
        with pytest.raises(RefmlcError) as found:
            lowered(op, [given, known] if op is BOTH else [of(4), given], {})
        assert found.value.code.id == "RM201"
    assert type_of(SHIFTED, [of(4), TupleType((known, of(4)))], {}) is None


def test_the_type_is_symbolic():
    found = type_of(OPERATORS["add"], [of(N, 4), of(4)], {})
    assert structural_equal(found, of(N, 4), map_free_vars=True)
    assert found.shape[0] is N


def test_a_size_that_no_tensor_binds_is_an_argument_where_the_body_needs_it():
    twice = tir.Apply("mul", (N, tir.IntImm(INT64, 2)), INT64)
    found = lowered(REPEATED, [of(4), ShapeType((twice,))], {})
    assert found.sizes == (N,)
    assert [param.name for param in found.func.params][-1] == "n"
    bound = lowered(REPEATED, [of(4), ShapeType((N,))], {})
    assert bound.sizes == ()


def test_the_variables_of_the_function_are_its_own():
    found = lowered(OPERATORS["negative"], [of(N)], {})
    (buffer, *_) = found.func.buffer_map.values()
    assert buffer.shape[0] is not N


def test_several_results_are_a_tuple():
    found = lowered(BOTH, [TupleType((of(3), of(5))), PrimType(FLOAT32)], {})
    assert structural_equal(found.result, TupleType((of(3), of(5))))
    assert len(found.func.params) == 5


@pytest.mark.parametrize("unknown", [None, AnyType(), TensorType(None, FLOAT32, 2), TensorType((N,), None)])
def test_nothing_follows_from_types_that_do_not_say_enough(unknown):
    assert type_of(OPERATORS["negative"], [unknown], {}) is None


@pytest.mark.parametrize(
    ("op", "types", "attrs", "code", "text"),
    [
        (OPERATORS["add"], [of(4)], {}, "RM206", "takes 2 arguments, 1 are given"),
        (OPERATORS["add"], [of(4), of(5)], {}, "RM202", "dimension 0 of the operands: 4 is not 5"),
        (OPERATORS["add"], [of(4), of(4, dtype=INT32)], {}, "RM201", "one dtype; these are float32 and int32"),
        (OPERATORS["add"], [of(4), ShapeType((N,))], {}, "RM201", "takes a tensor or a number as `b`"),
        (OPERATORS["exp"], [of(4, dtype=INT32)], {}, "RM201", "`exp` is not defined on int32"),
        (OPERATORS["exp"], [of(4)], {"axis": 1}, "RM105", "`exp` has no attribute `axis`"),
        (Operator("x", repeated, "LIB-999", reason="no reason"), [of(4)], {}, "RM501", "not supported: no reason"),
    ],
)
def test_misfits_are_told(op, types, attrs, code, text):
    with pytest.raises(RefmlcError) as found:
        lowered(op, types, attrs)
    assert found.value.code.id == code
    assert text in found.value.diagnostic.message


@pytest.mark.parametrize("tier", ["interp", "native"])
def test_a_module_of_operators_runs(tier):
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(MODULE), tier=tier))
    x, y = np.arange(8, dtype="float32").reshape(2, 4), np.ones(4, "float32")
    assert (machine["main"](x, y).numpy() == -(x + y)).all()


def test_a_misfit_is_found_at_its_place_before_the_run():
    with pytest.raises(RefmlcError) as found:
        refmlc.read(MODULE.replace("y: R.Tensor((4,)", "y: R.Tensor((5,)"))
    assert found.value.code.id == "RM202"
    assert found.value.diagnostic.span.line == 5


def test_the_declared_type_is_held_against_what_follows():
    with pytest.raises(RefmlcError) as found:
        refmlc.read(MODULE.replace("lv = R.add", 'lv: R.Tensor((3, 3), "float32") = R.add'))
    assert found.value.code.id == "RM202"


def test_shapes_that_only_the_run_knows():
    text = """
@R.function
def main(x: R.Tensor("float32", ndim=2), y: R.Tensor("float32")) -> R.Tensor("float32"):
    gv = R.add(x, y)
    return gv
"""
    machine = refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))
    x = np.arange(8, dtype="float32").reshape(2, 4)
    assert (machine["main"](x, x[:1]).numpy() == x + x[:1]).all()
    assert (machine["main"](x[:1], x).numpy() == x[:1] + x).all()
    with pytest.raises(RefmlcError) as found:
        machine["main"](x, x.T.copy())
    assert found.value.code.id == "RM202"
    assert found.value.diagnostic.span.line == 4
