"""Meta-values where TensorIR wants an expression, a dtype, a shape, a range, a region.

| wanted     | taken                                                                                  |
|------------|----------------------------------------------------------------------------------------|
| expression | a node; a literal (`promote.literal`); a string (`StringImm`); a `Region` as a vector; |
|            | a primitive variable of Relax, which means its own variable; a buffer of one element   |
|            | as its element (`is_single`)                                                           |
| dtype      | `"float32"`, `T.float32`, `T.float32()`, `T.handle("float32").ty`                      |
| integer    | a host int, an integer constant                                                        |
| region     | `A[i, 0:4]`, a load, a whole buffer                                                    |
"""

from collections.abc import Sequence
from dataclasses import replace

from refmlc.diag import Diagnostic, RefmlcError, Related, Span, error, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, RANK_MISMATCH, UNKNOWN_DTYPE, UNSUPPORTED_DTYPE
from refmlc.lang.dtypes import INT32, SCALARS, DType, dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.types import PrimType
from refmlc.lang.ops import promote
from refmlc.lang.script.reader.attributes import DTYPE_NAMES
from refmlc.lang.script.reader.suggestion import suggestion
from refmlc.lang.script.reader.tir_values import Region, VarSpec
from refmlc.lang.script.reader.values import Construct, Meta, Slice, described

EXPRESSIONS = (
    tir.Var,
    tir.IntImm,
    tir.FloatImm,
    tir.StringImm,
    tir.Apply,
    tir.Cast,
    tir.And,
    tir.Or,
    tir.Select,
    tir.IfThenElseExpr,
    tir.Let,
    tir.BufferLoad,
    tir.BufferData,
    tir.Ramp,
    tir.Broadcast,
    tir.Shuffle,
    tir.Call,
)
SHORT_DTYPES = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "bf16": "bfloat16",
    "float8": "float8_e4m3",
    "e4m3_float8": "float8_e4m3fn",
    "e5m2_float8": "float8_e5m2",
}


def mismatch(value: Meta, wanted: str, span: Span) -> RefmlcError:
    """The finding RM105 that `value` stands where `wanted` is."""
    return fail(BAD_ARGUMENTS, f"{described(value)} stands where {wanted} is wanted", span)


def operand_of(value: Meta, span: Span) -> promote.Operand:
    """`value` as an operand: a node, or a literal that takes its dtype from its neighbour."""
    match value:
        case int() | float():
            return value
        case Region():
            return vector_load(value)
        case tir.ThreadVar(var=tir.Var() as var):
            return var
        case relax.Var(ty=PrimType(value=known)) if known is not None:
            return known
        case str():
            return tir.StringImm(value, span=span)
        case tir.Buffer() if is_single(value):
            return element_of(value, span)
    if isinstance(value, EXPRESSIONS):
        return value
    raise mismatch(value, "an expression", span)


def is_single(buffer: tir.Buffer) -> bool:
    """Whether TVM 0.27 prints an access to this buffer as the name alone: one element, and nothing else said of it.

    Decision: TVM's printer writes `A` for `A[0]` where A is such a buffer of a function that is not `s_tir`, and
    `A.source` for the buffer itself; where a value is wanted its reader refuses the name of a parameter. refmlc reads
    the element, the only meaning that such a text has.
    """
    one = len(buffer.shape) == 1 and isinstance(buffer.shape[0], tir.IntImm) and buffer.shape[0].value == 1
    plain = not (buffer.strides or buffer.axis_separators or buffer.allocated_addr)
    laid_out = buffer.layout is Layout.DEFAULT or buffer.layout is Layout.ROW_MAJOR
    return one and plain and laid_out and buffer.align == 64 and buffer.offset_factor == 1


def element_of(buffer: tir.Buffer, span: Span) -> tir.BufferLoad:
    """The element of a buffer of one element."""
    return tir.BufferLoad(buffer, (tir.IntImm(INT32, 0),), span=span)


def expr_of(value: Meta, span: Span) -> tir.Expr:
    """`value` as an expression; a literal alone is int32 or float32."""
    return promote.literal(operand_of(value, span), span)


def pointer_of(value: Meta, span: Span) -> tir.Expr:
    """`value` as an argument of a call: a buffer is the pointer to its storage."""
    return tir.BufferData(value, span=span) if isinstance(value, tir.Buffer) else expr_of(value, span)


def int_of(value: Meta, span: Span, wanted: str = "an integer") -> int:
    """`value` as a host integer."""
    match value:
        case bool():
            pass
        case int():
            return value
        case tir.IntImm(value=number):
            return number
    raise mismatch(value, wanted, span)


def str_of(value: Meta, span: Span, wanted: str = "a string") -> str:
    """`value` as a string."""
    if isinstance(value, tir.StringImm):
        return value.value
    if isinstance(value, str):
        return value
    raise mismatch(value, wanted, span)


def dtype_named(name: str, span: Span) -> DType:
    """The dtype of that name. Fails with RM106."""
    try:
        return dtype(SHORT_DTYPES.get(name, "void" if name == "" else name))
    except KeyError:
        check_wide(name, span)
        helps = suggestion(name, SCALARS)
        raise error(Diagnostic(UNKNOWN_DTYPE, f"`{name[:60]}` is not a dtype", span, helps=helps)) from None


def check_wide(name: str, span: Span) -> None:
    """Refuse the dtypes of 128 bits by name: TVM has them, refmlc does not. Fails: RM503."""
    scalar, _, lanes = name.partition("x")
    if scalar in ("int128", "uint128") and (not lanes or lanes.isdecimal()):
        raise fail(UNSUPPORTED_DTYPE, f"`{scalar}` is not supported: values have at most 64 bits", span)


def dtype_construct(value: Meta) -> DType | None:
    """The dtype that a bare `T.float32x4` names; None for anything else."""
    if not isinstance(value, Construct) or not value.path.startswith("T."):
        return None
    if value.path in DTYPE_NAMES:
        return DTYPE_NAMES[value.path]
    name = value.path[2:]
    try:
        return dtype(SHORT_DTYPES.get(name, name))
    except KeyError:
        return None


def dtype_of(value: Meta, span: Span) -> DType:
    """`value` as a dtype. Fails with RM105, RM106."""
    match value:
        case DType():
            return value
        case str():
            return dtype_named(value, span)
        case tir.StringImm(value=name):
            return dtype_named(name, span)
        case VarSpec(result):
            return result
        case None:
            return dtype_named("void", span)
    named = dtype_construct(value)
    if named is None:
        if isinstance(value, Construct):
            check_wide(value.path.removeprefix("T."), span)
        failure = mismatch(value, "a dtype", span)
        helps = suggestion(value.path, DTYPE_NAMES) if isinstance(value, Construct) else ()
        raise error(replace(failure.diagnostic, helps=helps))
    return named


def tuple_of(value: Meta) -> tuple[Meta, ...]:
    """The items of a tuple or list; anything else is its own only item."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def indices_of(value: Meta, span: Span) -> tuple[tir.Expr, ...]:
    """The expressions of a tuple, list or single value."""
    return tuple(expr_of(item, span) for item in tuple_of(value))


# ------------------------------------------------------------------------------------------ accesses, regions


def wrong_rank(buffer: tir.Buffer, given: int, span: Span) -> RefmlcError:
    """The failure of an access with `given` indices. Code: RM208."""
    dims = f"{len(buffer.shape)} dimension{'' if len(buffer.shape) == 1 else 's'}"
    message = f"buffer `{buffer.name}` has {dims}, {given} {'index' if given == 1 else 'indices'} given"
    declared = (Related(f"`{buffer.name}` is declared here", buffer.span),) if buffer.span else ()
    return error(Diagnostic(RANK_MISMATCH, message, span, related=declared))


def access(buffer: tir.Buffer, index: Meta, span: Span) -> Meta:
    """`buffer[index]`: a load, or a `Region` where a slice stands in it."""
    items = tuple_of(index)
    if items != () and len(items) != len(buffer.shape):
        raise wrong_rank(buffer, len(items), span)
    if any(isinstance(item, Slice) for item in items):
        parts = tuple(item if isinstance(item, Slice) else expr_of(item, span) for item in items)
        return Region(buffer, parts, span)
    return tir.BufferLoad(buffer, tuple(expr_of(item, span) for item in items), span=span)


def vector_indices(region: Region) -> tuple[tir.Expr, ...]:
    """The indices of a vector access: each slice becomes a ramp, or its start where it has one element."""
    return tuple(
        _ramp(region, axis, part) if isinstance(part, Slice) else part for axis, part in enumerate(region.indices)
    )


def vector_load(region: Region) -> tir.BufferLoad:
    """A region where an expression is wanted: the vector of its elements."""
    return tir.BufferLoad(region.buffer, vector_indices(region), span=region.span)


def _ramp(region: Region, axis: int, part: Slice) -> tir.Expr:
    span = region.span
    start = expr_of(0 if part.start is None else part.start, span)
    step = 1 if part.step is None else int_of(part.step, span, "a constant step")
    stop = region.buffer.shape[axis] if part.stop is None else expr_of(part.stop, span)
    distance = _distance(start, stop)
    if distance is None:
        return _scalable_ramp(start, stop, step, span)
    lanes = -(-distance // step) if step > 0 else 0
    if not 1 <= lanes <= 1 << 16:
        raise fail(BAD_ARGUMENTS, f"a slice has {lanes} lanes", span)
    if lanes == 1:
        return start
    stride = promote.constant(step, start.dtype, span)
    return tir.Ramp(start, stride, tir.IntImm(INT32, lanes), start.dtype.with_lanes(lanes), span=span)


def _scalable_ramp(start: tir.Expr, stop: tir.Expr, step: int, span: Span) -> tir.Expr:
    """`A[i : i + T.vscale() * 4]`: as many lanes as the hardware has, a constant times `vscale`."""
    lanes = stop
    match start, stop:
        case tir.IntImm(value=0), _:
            pass
        case _, tir.Apply("add", (base, extent)) if structural_equal(base, start):
            lanes = extent
    if step != 1:
        match lanes:
            case tir.Apply("mul", (count, tir.IntImm(value=number))) if number == step:
                lanes = count
            case _:
                raise fail(BAD_ARGUMENTS, "the number of lanes of a slice is not constant", span)
    multiple = scalable_lanes(lanes)
    if multiple is None or not 1 <= multiple <= 1 << 16:
        raise fail(BAD_ARGUMENTS, "the number of lanes of a slice is not constant", span)
    stride = promote.constant(step, start.dtype, span)
    return tir.Ramp(start, stride, lanes, start.dtype.with_lanes(multiple, scalable=True), span=span)


def scalable_lanes(lanes: tir.Expr) -> int | None:
    """The constant that `vscale` is multiplied by, if `lanes` is such a product."""
    match lanes:
        case tir.Apply("mul", (tir.Call(callee="vscale"), tir.IntImm(value=count))):
            return count
        case tir.Apply("mul", (tir.IntImm(value=count), tir.Call(callee="vscale"))):
            return count
    return None


def _distance(start: tir.Expr, stop: tir.Expr) -> int | None:
    """`stop - start` where it is a constant: of constants, or of `x` and `x + c`."""
    match start, stop:
        case tir.IntImm(value=low), tir.IntImm(value=high):
            return high - low
    other, high = _plus(stop)
    if structural_equal(start, other):
        return high
    base, low = _plus(start)
    return high - low if structural_equal(base, other) else None


def _plus(value: tir.Expr) -> tuple[tir.Expr, int]:
    """`value` as an expression plus a constant."""
    match value:
        case tir.Apply("add", (base, tir.IntImm(value=number))):
            return base, number
        case _:
            return value, 0


def region_of(value: Meta, span: Span) -> tir.BufferRegion:
    """`value` as a region of a buffer."""
    match value:
        case tir.BufferRegion():
            return value
        case tir.Buffer(shape=shape):
            return tir.BufferRegion(
                value, tuple(tir.Range(promote.constant(0, n.dtype, None), n) for n in shape), span=span
            )
        case tir.BufferLoad(buffer=buffer, indices=indices):
            return tir.BufferRegion(buffer, tuple(_point(index) for index in indices), span=span)
        case Region(buffer=buffer, indices=parts):
            ranges = tuple(_range(buffer, axis, part, span) for axis, part in enumerate(parts))
            return tir.BufferRegion(buffer, ranges, span=span)
    raise mismatch(value, "a region of a buffer", span)


def _point(index: tir.Expr) -> tir.Range:
    match index:
        case tir.Ramp(base=base, stride=tir.IntImm(value=1), lanes=lanes):
            return tir.Range(base, promote.converted(lanes, base.dtype, None))
        case _:
            return tir.Range(index, promote.constant(1, index.dtype, None))


def _range(buffer: tir.Buffer, axis: int, part: tir.Expr | Slice, span: Span) -> tir.Range:
    if not isinstance(part, Slice):
        return _point(part)
    if part.step not in (None, 1):
        raise fail(BAD_ARGUMENTS, "a region has no steps", span)
    stop = buffer.shape[axis] if part.stop is None else operand_of(part.stop, span)
    start = 0 if part.start is None else operand_of(part.start, span)
    return range_of((start, stop), span)


def range_of(pair: Sequence[promote.Operand], span: Span) -> tir.Range:
    """The range from the first of `pair` to below the second; of `x` and `x + n` the extent is n."""
    low, high = promote.matched(pair[0], pair[1], span, adapting=True)
    distance = _distance(low, high)
    if distance is not None:
        return tir.Range(low, promote.constant(distance, low.dtype, span), span=span)
    match low, high:
        case tir.IntImm(value=0), _:
            return tir.Range(low, high, span=span)
        case _, tir.Apply("add", (base, extent)) if structural_equal(base, low):
            return tir.Range(low, extent, span=span)
    return tir.Range(low, tir.Apply("sub", (high, low), high.dtype, span=span), span=span)
