"""The scalar operators, one row each, by the names that `Apply.op` has. A family is a file; this is their sum."""

from collections.abc import Mapping
from types import MappingProxyType

from refmlc.ops.contract import ScalarOp
from refmlc.ops.scalar.arith import ARITH
from refmlc.ops.scalar.bitwise import BITWISE
from refmlc.ops.scalar.compare import COMPARISONS
from refmlc.ops.scalar.convert import CONVERSIONS, converter
from refmlc.ops.scalar.division import DIVISIONS
from refmlc.ops.scalar.fixed import FIXED
from refmlc.ops.scalar.floating import FLOATING
from refmlc.ops.scalar.integral import INTEGRAL
from refmlc.ops.scalar.transcendental import TRANSCENDENTAL

SCALAR_OPS: Mapping[str, ScalarOp] = MappingProxyType(
    {
        row.contract.name: row
        for row in (
            *ARITH,
            *DIVISIONS,
            *BITWISE,
            *COMPARISONS,
            *INTEGRAL,
            *TRANSCENDENTAL,
            *FLOATING,
            *FIXED,
            *CONVERSIONS,
        )
    }
)

__all__ = ["SCALAR_OPS", "converter"]
