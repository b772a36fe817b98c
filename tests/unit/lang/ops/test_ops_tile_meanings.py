"""Every tile primitive has operands, a meaning and a rule."""

from refmlc.lang.ops.tile_operators import TILE_MEANINGS, TILE_OPERATORS
from refmlc.run.interp.tirx.primitives.execution import ASYNCHRONOUS, RULES

THIRTY = """add binary_chain binary_reduce cast copy copy_async exp exp2 fdiv fill fma gemm gemm_async log2 max
maximum memset min minimum mul permute_layout reciprocal reduce_negate select silu sqrt sub sum unary_reduce zero"""


def test_the_operators_that_tvm_registers_have_operands_and_a_meaning():
    assert sorted(TILE_OPERATORS) == sorted(TILE_MEANINGS) == THIRTY.split()


def test_each_is_executed_or_unsupported_by_name():
    assert sorted([*RULES, *ASYNCHRONOUS]) == THIRTY.split()
