"""The scalar operators, one row each, by the names that `Apply.op` has. A family is a file; this is their sum."""

from collections.abc import Mapping
from types import MappingProxyType

from refmlc.lang.ops.contract import ScalarOp
from refmlc.lang.ops.scalar.arith import ARITH
from refmlc.lang.ops.scalar.bitwise import BITWISE
from refmlc.lang.ops.scalar.compare import COMPARISONS
from refmlc.lang.ops.scalar.convert import CONVERSIONS, converter
from refmlc.lang.ops.scalar.division import DIVISIONS
from refmlc.lang.ops.scalar.fixed import FIXED
from refmlc.lang.ops.scalar.floating import FLOATING
from refmlc.lang.ops.scalar.integral import INTEGRAL
from refmlc.lang.ops.scalar.transcendental import TRANSCENDENTAL

FAMILIES: Mapping[str, tuple[ScalarOp, ...]] = MappingProxyType(
    {
        "arith": ARITH,
        "division": DIVISIONS,
        "bitwise": BITWISE,
        "compare": COMPARISONS,
        "integral": INTEGRAL,
        "transcendental": TRANSCENDENTAL,
        "floating": FLOATING,
        "fixed": FIXED,
        "convert": CONVERSIONS,
    }
)
"""The rows by the file that they are in; the helpers of `kernels_c` are in the header of that name."""

SCALAR_OPS: Mapping[str, ScalarOp] = MappingProxyType(
    {row.contract.name: row for rows in FAMILIES.values() for row in rows}
)

__all__ = ["FAMILIES", "SCALAR_OPS", "converter"]
