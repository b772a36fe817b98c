"""Calls of the operators of devices: `T.cuda.…`, `T.ptx.…`. They are rows of `lang/ops/intrinsics/device`.

| text                                                | the callee, and the dtype of the result               |
|-----------------------------------------------------|-------------------------------------------------------|
| `T.cuda.ballot_sync(mask, p)`                       | `cuda.ballot_sync`, as its row says                   |
| `T.cuda.func_call("f", x, source_code=…)`           | the same, of the type `return_type=`; void without    |
| `T.cuda.ldg(p, "float32")`                          | the same, the dtype that it names                     |
| `T.ptx.mma(…, "sync", "aligned", …)`                | `ptx.mma`, void                                       |
| `T.ptx.ld.global_.b32(d, p)`, `T.ptx["ld.global"]`  | `ptx.ld.global_.b32`, void                            |
| `T.ptx.addr(p, 4)`, `T.ptx.pred(x)`, `T.ptx.SINK`   | operands of instructions                              |

Decision: a call with modifiers in its name stays as it is written; the order in which TVM prints them as arguments is
its table's. A name that is in no row is refused in a text of 0.27, and so is a number of arguments that TVM's function
does not take. A call without modifiers that has `dtype=` is as versions before TIRx write it: its texts are operands.
"""

import keyword
from collections.abc import Collection, Sequence

from refmlc.diag import Diagnostic, RefmlcError, Span, error, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, NOT_TVMSCRIPT
from refmlc.lang.dtypes import HANDLE, VOID
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.offsets import own_index
from refmlc.lang.ir.ptx import SINK, PtxCall, spelled
from refmlc.lang.ops.intrinsics.device import NAMED_OPERATORS, PTX_FAMILIES, PTX_WORDS
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.suggestion import suggestion
from refmlc.lang.script.reader.table import CallHandler, SubscriptHandler
from refmlc.lang.script.reader.tir_calls import call, intrinsic_call, result_of
from refmlc.lang.script.reader.tir_operands import dtype_named, dtype_of, expr_of, int_of, str_of
from refmlc.lang.script.reader.tir_values import VarSpec
from refmlc.lang.script.reader.values import Construct, Meta

STRICT = ("cuda", "nki", "nvshmem", "ptx_legacy", "s_tir")
"""The families whose operators are all in the table; the names of the others are older, too."""

_WITHOUT_DTYPE = ("T.cuda.mma_fill_legacy", "T.cuda.mma_store_legacy")
"""Operators that TVM prints without the dtype, which their functions take first."""


def _named(ev: Evaluator, site: CallSite) -> Meta:
    name = site.name.removeprefix("T.")
    if name not in NAMED_OPERATORS and ev.generation == "0.27":
        raise _unknown(site, name, set(NAMED_OPERATORS))
    _check_count(ev, site)
    return intrinsic_call(ev, site)


def _counted(ev: Evaluator, site: CallSite) -> Meta:
    _check_count(ev, site)
    return intrinsic_call(ev, site)


def _check_count(ev: Evaluator, site: CallSite) -> None:
    """Refuse a number of arguments that TVM's function does not take. Fails: RM105."""
    row = NAMED_OPERATORS.get(site.name.removeprefix("T."))
    if row is not None and ev.generation == "0.27":
        unwritten = site.name in _WITHOUT_DTYPE and len(site.args) == row.least - 1 and not site.kwargs
        if not unwritten:
            _within(site, len(site.args) + len(site.kwargs), row.least, row.most, "argument")


def _within(site: CallSite, count: int, least: int, most: int | None, noun: str) -> None:
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        plural = "" if wanted.endswith("1") else "s"
        raise site.misfit(f"takes {wanted} {noun}{plural} and gets {count}")


def _unknown(site: CallSite, name: str, names: set[str]) -> RefmlcError:
    message = f"`{site.spelled}` is not an operator of a device that refmlc knows"
    return error(Diagnostic(NOT_TVMSCRIPT, message, site.span, helps=suggestion(name, names, "T.")))


def _instruction(ev: Evaluator, site: CallSite) -> Meta:
    """`T.ptx.family.modifier…(operands, …)`."""
    name = site.name.removeprefix("T.")
    family, *modifiers = name.split(".")[1:]
    if family in PTX_WORDS and not modifiers:
        args = site.only_positional(1, 2)
        result = VarSpec(HANDLE) if not isinstance(args[0], tir.Expr) else VarSpec(args[0].dtype)
        return call(name, site, args, result)
    is_older = "dtype" in site.kwargs and not modifiers
    if ev.generation == "0.27":
        if not is_older:
            _check_keywords(site)
        if family not in PTX_FAMILIES:
            raise _unknown(site, f"ptx.{family}", {f"ptx.{known}" for known in PTX_FAMILIES})
        _check_modifiers(site, family, modifiers, PTX_FAMILIES[family].modifiers)
    node = intrinsic_call(ev, site)
    ptx = PtxCall.of(node) if isinstance(node, tir.Call) else None
    if ptx is not None and ev.generation == "0.27":
        if not is_older:
            _check_modifiers(site, family, ptx.modifiers, {*map(spelled, PTX_FAMILIES[family].modifiers)})
        _within(site, len(ptx.operands), PTX_FAMILIES[family].least, PTX_FAMILIES[family].most, "operand")
    return node


def _check_modifiers(site: CallSite, family: str, modifiers: Sequence[str], known: Collection[str]) -> None:
    strange = next((item for item in modifiers if item not in known), None)
    if strange is not None:
        message = f"`{strange[:40]}` is no modifier of `T.ptx.{family}`"
        raise error(Diagnostic(NOT_TVMSCRIPT, message, site.span, helps=suggestion(strange, known)))


def _check_keywords(site: CallSite) -> None:
    """Refuse what TVM's functions of instructions do not take by name. Fails: RM105."""
    site.only_keywords("pred", "preserve_dst")
    if not isinstance(site.kwargs.get("pred", True), tir.Expr | bool):
        raise site.misfit("takes a condition for `pred`")
    if not isinstance(site.kwargs.get("preserve_dst", True), bool):
        raise site.misfit("takes True or False for `preserve_dst`")


def _text_of_ptx(_ev: Evaluator, construct: Construct, index: Meta, span: Span) -> Meta:
    """`T.ptx["st.weak.shared::cta.b32"]`: the instruction as PTX spells it."""
    parts = [_escaped(part) for part in str_of(index, span).split(".")]
    if not all(part.replace("_", "a").isalnum() and part.isascii() for part in parts):
        raise fail(BAD_ARGUMENTS, f"{str(index)[:40]!r} is no instruction of PTX", span)
    return Construct(f"{construct.path}.{'.'.join(parts)}", f"{construct.spelled}.{'.'.join(parts)}")


def _escaped(part: str) -> str:
    text = part.replace("::", "__")
    return f"{text}_" if keyword.iskeyword(text) or text in ("global", "async") else text


def _func_call(ev: Evaluator, site: CallSite) -> Meta:
    _check_count(ev, site)
    attrs = dict(site.kwargs)
    result = result_of(attrs.pop("return_type", "void"), site.span)
    if "source_code" not in attrs:
        raise site.misfit("gets no argument for `source_code`")
    return call("cuda.func_call", site, site.args, result, **attrs)


def _ldg(ev: Evaluator, site: CallSite) -> Meta:
    """`T.cuda.ldg(p, dtype)`; of a vector TVM prints pointers to 2 or 4 destinations, `p`, dtype, `"v2"`, and 2."""
    if site.kwargs or (len(site.args), site.args[-1:]) not in ((6, (2,)), (8, (4,))):
        _check_count(ev, site)
    plain = len(site.args) == 2 and not site.kwargs
    result = result_of(site.args[1], site.span) if plain else VarSpec(VOID)
    return call("cuda.ldg", site, site.args, result, **site.kwargs)


def _mov_sreg(_ev: Evaluator, site: CallSite) -> Meta:
    args = site.only_positional(2, 2)
    bits = int_of(args[0], site.span)
    return call("cuda.mov_sreg", site, args, VarSpec(dtype_named(f"int{bits}", site.span)))


def _ldmatrix(_ev: Evaluator, site: CallSite) -> Meta:
    """The dtype of the elements, by keyword or first; int8 where the text says none."""
    site.only_keywords("dtype")
    first = len(site.args) == 8
    declared = site.kwargs.get("dtype", site.args[0] if first else "int8")
    args = site.args[1:] if first and "dtype" not in site.kwargs else site.args
    return call("ptx_legacy.ldmatrix", site, args, result_of(declared, site.span))


def _ptr_byte_offset(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.ptr_byte_offset(A.data, 4, T.type_annotation("float16"))`: a pointer to elements of that dtype."""
    args = site.only_positional(3, 3)
    annotation = args[2].dtype if isinstance(args[2], tir.Call) else dtype_of(args[2], site.span)
    match args[0]:
        case tir.BufferData(buffer=tir.Buffer(scope=scope)) | tir.Buffer(scope=scope):
            pass
        case tir.Var(pointer=PointerType(scope=scope)):
            pass
        case _:
            scope = "global"
    return call("ptr_byte_offset", site, args, VarSpec(HANDLE, PointerType(annotation, scope)))


def _buffer_offset(_ev: Evaluator, site: CallSite) -> Meta:
    """`T.buffer_offset(A[i])`: an index, of the dtype of the shape."""
    args = site.only_positional(1, 2)
    load = args[0]
    shape = load.buffer.shape if isinstance(load, tir.BufferLoad) else ()
    return call("buffer_offset", site, args, VarSpec(own_index(shape)))


def _reduction(name: str, operator: str) -> CallHandler:
    """`T.cuda.warp_sum(x)`: `T.cuda.warp_reduce(x, "sum", 32)`; `T.cuda.cta_sum(x, n, p)` in the same way."""

    def handler(_ev: Evaluator, site: CallSite) -> Meta:
        more: dict[str, Meta] = {"width": 32} if name == "warp" else {"num_warps": REQUIRED, "scratch": REQUIRED}
        value, *rest = site.take(value=REQUIRED, **more).values()
        operand = expr_of(value, site.span)
        return call(f"cuda.{name}_reduce", site, (operand, operator, *rest), VarSpec(operand.dtype))

    return handler


CALLS: dict[str, CallHandler] = {
    **{f"T.cuda.{name}_{op}": _reduction(name, op) for name in ("warp", "cta") for op in ("sum", "max", "min")},
    "T.cuda.func_call": _func_call,
    "T.cuda.ldg": _ldg,
    "T.cuda.mov_sreg": _mov_sreg,
    "T.ptx_legacy.ldmatrix": _ldmatrix,
    "T.ptr_byte_offset": _ptr_byte_offset,
    "T.buffer_offset": _buffer_offset,
}
PREFIXES: dict[str, CallHandler] = {
    **{f"T.{family}.": _named for family in STRICT},
    **{f"T.{family}.": _counted for family in ("metal", "webgpu")},
    "T.ptx.": _instruction,
}
SUBSCRIPTS: dict[str, SubscriptHandler] = {"T.ptx": _text_of_ptx}
NAMES: dict[str, Meta] = {"T.ptx.SINK": tir.Call(SINK, (), VOID)}
