"""Nests by hand, their literal C, and both compiled: what the tests of the tile generator share.

The literal C is the meaning in the plainest form: the loops in order, each operator a helper of `kernels_c`. It shares
no code with the generator.
"""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cffi
import ml_dtypes
import numpy as np

from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.native.compile.wall import check_unit
from refmlc.native.kernels import header_of
from refmlc.native.nest import Affine, Axis, Nest, Store
from refmlc.native.options import ISAS, Options
from refmlc.native.tile import Tiled, emit_nest

HEADERS = Path(__file__).parents[4] / "kernels_c"
LINKED = ("-shared", "-fPIC", "-lm")
_FLAGS_OF = {"flags": frozenset(Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split())}
_NEEDED = {"avx512": "avx512bw", "avx512halves": "avx512bw", "avx2": "avx2"}
SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
HERE_ISAS = [
    n for n in ("avx512", "avx512halves", "avx2", "sse2", "none") if _NEEDED.get(n, "fpu") in _FLAGS_OF["flags"]
]

FLAGS = (
    "-O2" if SOAK else "-O1",
    "-std=gnu11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
)
ISAS_TO_TEST = [n for n in HERE_ISAS if SOAK or n != "avx512"]
"""What differs between the two forms of AVX-512 is one instruction."""

# ------------------------------------------------------------------------------------------------ constructors


def var(name, kind="int32"):
    return tir.Var(name, dtype(kind))


def buffer(name, kind="float32"):
    return tir.Buffer(name, dtype(kind), (tir.IntImm(dtype("int64"), 1),))


def op(name, *args):
    result = "bool" if name in ("eq", "ne", "lt", "le", "gt", "ge", "not", "isnan") else args[0].dtype.element
    return tir.Apply(name, args, dtype(result))


def cast(kind, value):
    return tir.Cast(dtype(kind), value)


def const(kind, value):
    row = dtype(kind)
    return tir.FloatImm(row, float(value)) if row.is_float else tir.IntImm(row, int(value))


class Making:
    """A nest while it is put together: loads and stores give their offsets."""

    def __init__(self):
        self.offsets = {}
        self.init, self.stores, self.lets = [], [], []
        self.guarded = set()

    def load(self, source, offset, constant=0, *, guarded=False):
        node = tir.BufferLoad(source, ())
        self.offsets[node] = Affine(offset, constant)
        if guarded:
            self.guarded.add(node)
        return node

    def _store(self, target, offset, value):
        return Store(tir.BufferStore(target, value, ()), target, Affine(offset), value)

    def start(self, target, offset, value):
        self.init.append(self._store(target, offset, value))

    def store(self, target, offset, value):
        self.stores.append(self._store(target, offset, value))

    def let(self, name, value):
        bound = tir.Var(name, value.dtype)
        self.lets.append(tir.Bind(bound, value))
        return bound

    def nest(self, spatial, reduce=()):
        block = tir.SBlock("block", (), None, None, tir.SeqStmt(()))
        axes = [tuple(Axis(v, n) for v, n in group) for group in (spatial, reduce)]
        made = tuple(map(tuple, (self.init, self.stores, self.lets)))
        guarded = frozenset(self.guarded)
        return Nest(block, None, axes[0], axes[1], made[0], made[1], self.offsets, guarded, made[2])


# --------------------------------------------------------------------------------------------------- literal C


def _literal_value(node, nest, names):
    def go(part):
        return _literal_value(part, nest, names)

    match node:
        case tir.IntImm():
            return f"(({'bool' if node.dtype.kind == 'bool' else 'rm_' + node.dtype.element}){node.value})"
        case tir.FloatImm():
            text = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(str(node.value), node.value.hex())
            return f"((rm_{node.dtype.element}){text})"
        case tir.Var():
            return names[node]
        case tir.BufferLoad():
            return (
                f"rm_get_{node.buffer.dtype.element}({node.buffer.name}, {_literal_offset(nest.offsets[node], names)})"
            )
        case tir.Apply() if node.op == "not":
            return f"(!{go(node.args[0])})"
        case tir.Apply():
            infix = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.get(node.op)
            args = [go(arg) for arg in node.args]
            if infix:
                return f"({args[0]} {infix} {args[1]})"
            return f"rm_{node.op}_{node.args[0].dtype.element}({', '.join(args)})"
        case tir.Cast():
            if node.dtype.element == node.value.dtype.element:
                return go(node.value)
            return f"rm_cast_{node.value.dtype.element}_{node.dtype.element}({go(node.value)})"
        case tir.And():
            return f"({go(node.a)} && {go(node.b)})"
        case tir.Or():
            return f"({go(node.a)} || {go(node.b)})"
        case tir.Select() | tir.IfThenElseExpr():
            return f"({go(node.condition)} ? {go(node.true_value)} : {go(node.false_value)})"
        case _:
            raise TypeError(type(node))


def _literal_offset(offset, names):
    return " + ".join([f"(int64_t){k} * {names[v]}" for v, k in offset.terms.items()] + [str(offset.constant)])


def literal(nest):
    """The loops as written."""
    names = {axis.var: f"x_{n}" for n, axis in enumerate((*nest.spatial, *nest.reduce))}
    lines = [
        f"for (int64_t {names[axis.var]} = 0; {names[axis.var]} < {axis.extent}; ++{names[axis.var]}) {{"
        for axis in (*nest.spatial, *nest.reduce)
    ]

    def write(store):
        where, element = _literal_offset(store.offset, names), store.buffer.dtype.element
        return f"rm_put_{element}({store.buffer.name}, {where}, {_literal_value(store.value, nest, names)});"

    if nest.init:
        first = " && ".join(f"{names[axis.var]} == 0" for axis in nest.reduce) or "1"
        lines += [f"if ({first}) {{", *map(write, nest.init), "}"]
    for number, let in enumerate(nest.lets):
        kind = let.value.dtype.element
        lines.append(
            f"const {'bool' if kind == 'bool' else 'rm_' + kind} l_{number} = {_literal_value(let.value, nest, names)};"
        )
        names[let.var] = f"l_{number}"
    lines += map(write, nest.stores)
    return [*lines, *("}" for _ in (*nest.spatial, *nest.reduce))]


# ------------------------------------------------------------------------------------------------ running


@dataclass
class Pair:
    """A nest compiled twice: `tiled(arrays)`, `literal(arrays)` run on arrays by buffer name."""

    form: Tiled
    tiled_c: object
    literal_c: object
    ffi: object
    order: list

    def tiled(self, arrays):
        return self.tiled_c(self.pointers(arrays))

    def literal(self, arrays):
        return self.literal_c(self.pointers(arrays))

    def pointers(self, arrays):
        return self.ffi.new("void *[]", [self.ffi.from_buffer(arrays[name]) for name in self.order])


def buffers_of(nest):
    stores = [store.buffer for store in (*nest.init, *nest.stores)]
    return list(dict.fromkeys([*stores, *(load.buffer for load in nest.offsets)]))


def _expressions(nest):
    return [s.value for s in (*nest.init, *nest.stores)] + [let.value for let in nest.lets]


def frame(nests, forms):
    """What a unit of these nests has before its functions."""
    nodes = [node for nest in nests for value in _expressions(nest) for node in walk(value)]
    used = {node.dtype.element for node in nodes if hasattr(node, "dtype")}
    used |= {b.dtype.element for nest in nests for b in buffers_of(nest)}.union(*(form.dtypes for form in forms))
    applied = {header_of(n.op) for n in nodes if isinstance(n, tir.Apply)}
    casts = {(n.value.dtype.element, n.dtype.element) for n in nodes if isinstance(n, tir.Cast)}
    casts = {pair for pair in casts.union(*(form.casts for form in forms)) if pair[0] != pair[1]}
    headers = sorted({"rm_guard.h", "rm_dtypes.h", "rm_convert.h"}.union(applied, *(form.headers for form in forms)))
    definitions = dict.fromkeys(line for form in forms for line in form.definitions)
    return [
        *(f"#define RM_USE_{name}" for name in sorted(used - {"bool", "handle"})),
        *(f'#include "{name}"' for name in headers),
        *(f"RM_DEFINE_CAST({a}, {b})" for a, b in sorted(casts)),
        *definitions,
    ]


def function(name, nest, body):
    """A C function of a nest's buffers."""
    pointers = [
        f"rm_{b.dtype.element}_cell *const restrict {b.name} = (rm_{b.dtype.element}_cell *)buffers[{n}];"
        for n, b in enumerate(buffers_of(nest))
    ]
    state = ["rm_run state = {0}, *const run = &state;", "(void)run;", "int status = RM_DONE;"]
    head = [f"int {name}(void **buffers) {{", *state, *pointers]
    return [*head, *body, "goto leave;", "leave:", "return status;", "}"]


def unit(nests, forms):
    """C with `tiled_n` and `literal_n` for each nest."""
    lines = frame(nests, forms)
    for number, (nest, form) in enumerate(zip(nests, forms, strict=True)):
        lines += function(f"tiled_{number}", nest, form.lines)
        lines += function(f"literal_{number}", nest, literal(nest))
    return "\n".join(lines) + "\n"


def options(isa, **more):
    return Options(isa=ISAS[isa], **more)


def form_of(nest, isa, **more):
    """The tiled form. Fails where there is none."""
    form = emit_nest(nest, options(isa, **more), lambda b: b.name)
    assert isinstance(form, Tiled), form
    check_unit(enclosed(nest, form))
    return form


def enclosed(nest, form):
    """The form in a function as the wall before the compiler knows them."""
    taken = [f"rm_{each.dtype.element}_cell *restrict const {each.name}" for each in buffers_of(nest)]
    head = f"int64_t f0_nest({', '.join(['rm_run *const run', *taken])}) {{"
    body = ["  int64_t status = RM_DONE;", *(f"  {line}" if line[0] != "#" else line for line in form.lines)]
    return "\n".join([*form.definitions, head, *body, "leave: RM_UNUSED;", "  return status;", "}"])


def pairs(nests, isa, compiler="gcc", flags=(), **more):
    """Nests compiled for an instruction set, in one unit."""
    forms = [form_of(nest, isa, **more) for nest in nests]
    names = [f"{kind}_{n}" for n in range(len(nests)) for kind in ("tiled", "literal")]
    library, ffi = compiled(unit(nests, forms), names, isa, compiler, flags)
    calls = [getattr(library, name) for name in names]
    orders = [[b.name for b in buffers_of(nest)] for nest in nests]
    return [
        Pair(*row, ffi, order)
        for row, order in zip(zip(forms, calls[::2], calls[1::2], strict=True), orders, strict=True)
    ]


def pair(nest, isa, compiler="gcc", flags=(), **more):
    return pairs([nest], isa, compiler, flags, **more)[0]


def compiled(text, names, isa, compiler="gcc", flags=()):
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "unit.c"), Path(folder, "unit.so")
        source.write_text(text)
        command = [compiler, *FLAGS, *ISAS[isa].flags, *flags, f"-I{HEADERS}", str(source), "-o", str(library), *LINKED]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + text
        ffi = cffi.FFI()
        ffi.cdef("\n".join(f"int {name}(void **buffers);" for name in names))
        return ffi.dlopen(str(library)), ffi


def differing(made, sizes, rng, special=True):
    """The buffers in which the tiled nest leaves other bits than the literal one."""
    arrays = {name: array_of(kind, size, rng, special) for name, (kind, size) in sizes.items()}
    one, other = ({name: array.copy() for name, array in arrays.items()} for _ in range(2))
    assert (made.tiled(one), made.literal(other)) == (0, 0)
    return [name for name in sizes if not same(one[name], other[name])]


def array_of(kind, shape, rng, special=True):
    """Values of a dtype, small integers of integer ones; with zeros of both signs, infinities, NaN, subnormals."""
    row = dtype(kind)
    if row.kind == "bool":
        return rng.integers(0, 2, shape).astype(np.uint8)
    if not row.is_float:
        low = -9 if row.kind == "int" else 0
        return rng.integers(low, 10, shape).astype(kind)
    numpy_type = getattr(ml_dtypes, kind, None) or kind
    values = rng.standard_normal(shape).astype(numpy_type)
    if special and values.size:
        odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, row.format.smallest, -row.format.smallest], numpy_type)
        where = rng.random(values.shape) < 0.02
        values[where] = rng.choice(odd, int(where.sum()))
    return values


def bits(array):
    """The array as integers, all NaN the same."""
    if array.dtype.kind in "iub":
        return array
    codes = array.view(f"u{array.dtype.itemsize}").copy()
    codes[np.isnan(array.astype(np.float64))] = ~codes.dtype.type(0)
    return codes


def same(one, other):
    return np.array_equal(bits(one), bits(other))
