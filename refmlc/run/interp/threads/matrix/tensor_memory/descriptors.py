"""The descriptor of a product in tensor memory, as a thread encodes it (TIM-017).

| call of one thread                                                         | meaning                                |
|----------------------------------------------------------------------------|----------------------------------------|
| `T.cuda.tcgen05.encode_instr_descriptor(p, d, a, b, m, n, k, …)`           | writes the descriptor to p             |
| `T.cuda.tcgen05.encode_instr_descriptor_block_scaled(p, d, a, b, s, t, …)` | the same, of a product with scales     |
| `T.cuda.runtime_instr_desc(p, i)`                                          | scales begin at byte i of a cell       |
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import OUT_OF_BOUNDS, UNINITIALISED, UNSUPPORTED_INTRINSIC
from refmlc.lang.ir import tir
from refmlc.lang.ops.matrix.forms import NAMES, NoSuchForm
from refmlc.lang.ops.matrix.tensor_products import KINDS, TensorForm, encoded
from refmlc.run.interp.tensorir import addresses
from refmlc.run.interp.tensorir.addresses import name_of, touching
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads.matrix.registers import word_of
from refmlc.run.memory.pointer import Pointer

WORD, LEAST = 4, 5
"""The bytes of a descriptor; the numbers that have no default."""
IDS = 3 << 29 | 3 << 4
"""The bits of a descriptor that say where scales begin."""
TF32 = ("tf32", "tensor_float32")
SCALED = {
    ("e2m1", "float8_e8m0fnu"): ("mxf4", 2, "e8m0"),
    ("e2m1", "float8_e4m3fn"): ("mxf4nvf4", 4, "e4m3"),
    ("f8", "float8_e8m0fnu"): ("mxf8f6f4", 1, "e8m0"),
}


def _encode(scope: Scope, node: tir.Call) -> Eval:
    """The descriptor of a product."""
    scaled = str(node.callee).endswith("block_scaled")
    args = node.args
    dtypes, numbers = args[1 : 6 if scaled else 4], args[8 if scaled else 4 :]
    try:
        code = encoded(_form([word_of(arg) for arg in dtypes], [_constant(arg) for arg in numbers], scaled=scaled))
    except NoSuchForm as reason:
        message = f"`T.{node.callee}` is not executed: {reason}"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    return _writing(scope, node, lambda _frame, _before: code)


def _form(dtypes: Sequence[str], numbers: Sequence[int], *, scaled: bool) -> TensorForm:
    """The form that the arguments say. Fails: NoSuchForm."""
    defaults = (1, 0, 0, 0) if scaled else (1, 0, 0, 0, 0)
    if not LEAST <= len(numbers) <= LEAST + len(defaults) or len(dtypes) != (5 if scaled else 3):
        raise NoSuchForm(f"{len(dtypes)} dtypes and {len(numbers)} numbers")
    m, n, k, *rest = numbers
    given = (*rest, *defaults[len(rest) - 2 :])
    turned_a, turned_b, group, negates_a, negates_b = given[:5]
    saturates, sparse = (False, given[5]) if scaled else given[5:7]
    if sparse:
        raise NoSuchForm("a sparse product")
    d, a, b = (_element(name) for name in dtypes[:3])
    kind, vector, scale = _kind(a, b), 0, ""
    if scaled:
        if dtypes[3] != dtypes[4]:
            raise NoSuchForm(f"scales of {dtypes[3][:20]} and {dtypes[4][:20]}")
        kind, vector, scale = SCALED.get(("f8" if kind == "f8f6f4" else a, dtypes[3]), ("", 0, ""))
    row = KINDS.get(kind)
    if row is None or k != row.k or not {a, b} <= {*row.elements.values()} or d not in row.sums:
        raise NoSuchForm(f"the dtypes {', '.join(dtypes)[:100]} with k = {k}")
    along_k, signs = (not turned_a, not turned_b), (-1 if negates_a else 1, -1 if negates_b else 1)
    return TensorForm(kind, group, False, m, n, a, b, d, bool(saturates), along_k, signs, vector, scale)


def _element(name: str) -> str:
    if name in TF32:
        return "tf32"
    return "e2m1" if name == "float4_e2m1fn" else NAMES.get(name, "")


def _kind(a: str, b: str) -> str:
    return next((kind for kind, row in KINDS.items() if {a, b} <= {*row.elements.values()}), "")


def _constant(arg: tir.Attr) -> int:
    value = arg.value if isinstance(arg, tir.IntImm) else arg
    if not isinstance(value, int):
        raise NoSuchForm("an argument that is no constant")
    return int(value)


def _moved_scales(scope: Scope, node: tir.Call) -> Eval:
    """The descriptor of other scales of the same columns."""
    byte = scope.int(cast("tir.Expr", node.args[1]))

    def changed(frame: Frame, before: int) -> int:
        first = byte(frame)
        return before & ~IDS & 0xFFFFFFFF | (first << 29 | first << 4) & 0xFFFFFFFF

    return _writing(scope, node, changed, reading=True)


def _writing(scope: Scope, node: tir.Call, code: Callable[[Frame, int], int], *, reading: bool = False) -> Eval:
    into, span = addresses.place_of(scope, node.args[0]), node.span
    writes = touching(scope, span, written=True)
    reads = touching(scope, span, written=False) if reading else None

    def write(frame: Frame) -> None:
        place = into(frame)
        storage, start = place.storage, place.byte_offset
        if not (storage.alive and storage.writable and 0 <= start <= storage.nbytes - WORD):
            message = f"a descriptor is at byte {start} of the memory of `{name_of(place)}`"
            raise fail(OUT_OF_BOUNDS, message, span)
        before = _before(place, span) if reading else 0
        if reads is not None:
            reads(frame, place, WORD, None)
        if writes is not None:
            writes(frame, place, WORD, None)
        storage.bytes[start : start + WORD] = code(frame, before).to_bytes(WORD, "little")
        storage.initialise(start, WORD)

    return write


def _before(place: Pointer, span: Span | None) -> int:
    if not place.storage.is_initialised(place.byte_offset, WORD):
        message = f"a descriptor in `{name_of(place)}` is changed, which was never written"
        raise fail(UNINITIALISED, message, span)
    return int.from_bytes(place.storage.bytes[place.byte_offset : place.byte_offset + WORD], "little")


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "cuda.tcgen05.encode_instr_descriptor": _encode,
    "cuda.tcgen05.encode_instr_descriptor_block_scaled": _encode,
    "cuda.runtime_instr_desc": _moved_scales,
}
