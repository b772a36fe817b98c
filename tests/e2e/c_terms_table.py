"""The C of tiles held to literal C, on fingerprints: `c_terms_table.py [--only WORD] [--why] [--speed]`.

Each row of `operator_calls` is lowered at sizes with edges, in several dtypes; each function of TensorIR whose tiled C
is another text than its literal C is compared with it, once a fault that is put in was noticed. `--speed` instead: the
product of two matrices of 512 rows. Exit status 1 where two forms differ.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import biting
import click
import numpy as np
from operator_calls import rows

from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile import build, ffi
from refmlc.native.emit.module import emit_module
from refmlc.native.options import ISAS, Grade, Options
from refmlc.native.tier.compiled_module import c_type
from refmlc.native.unit import Status
from refmlc.prove.emitted import FormKind, forms_compared
from refmlc.prove.emitted.fingerprints import draw
from refmlc.prove.emitted.forms import compared
from refmlc.prove.emitted.run import GREATEST, compiled, emitted, executed
from refmlc.rewrite.transform import legalize_ops

LITERAL = Options(best=Grade.UNCHECKED)
EXTENTS = {"n": 5, "k": 38, "m": 3}
DTYPES = ("float32", "float16")
MATMUL = """
@T.prim_func
def main(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
    for i, j, k in T.grid(N, N, N):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def text(row, dtype):
    """A function that makes the call of a row on extents that no vector divides."""
    params = ", ".join(
        f"{param.name}: R.Tensor(({''.join(f'{EXTENTS.get(each, each)}, ' for each in param.extents)}), "
        f'"{param.dtype or dtype}")'
        for param in row.params
    )
    return f"@R.function\ndef main({params}):\n    r = R.{row.call.replace('{D}', dtype)}\n    return r\n"


def functions(only, dtypes, tiled):
    """Each function of TensorIR of a row that has a tiled form of its own: its title, its module, its name."""
    for row in rows():
        for dtype in dtypes if only in row.call else ():
            try:
                module = legalize_ops(read(text(row, dtype), "row.py"))
            except RefmlcError:
                continue  # no such dtype, or no lowering
            for name, func in module.functions.items():
                if isinstance(func, tir.PrimFunc):
                    forms = [emit_module(module, options, [name]).text for options in (LITERAL, tiled)]
                    if forms[0] != forms[1]:
                        yield f"{row.call} of {dtype}", module, name


def prove_itself():
    """Another order of the reduction is noticed, and another notation of an index is not."""
    module, secret = read(MATMUL.replace("N", "9"), "matmul.py"), draw()
    source = emitted(module, "main", LITERAL)
    first = executed(compiled(source), source.units["main"], {}, secret)

    def verdict(old, new):
        changed = type(source)(source.text.replace(old, new), source.units, source.declined)
        return compared(first, executed(compiled(changed), changed.units["main"], {}, secret), lambda: 0).kind

    biting.prove(
        "fingerprints of emitted C",
        notices=verdict("k = 0; k < 9; ++k", "k = 8; k >= 0; --k") is FormKind.DIFFER,
        passes=verdict("vk * 9", "9 * vk") is FormKind.PROVED,
    )


def speed(tiled, rows_of_matrix=512):
    """The seconds of the product of two matrices, on numbers and on fingerprints."""
    module = read(MATMUL.replace("N", str(rows_of_matrix)), "matmul.py")
    secret, operations = draw(), rows_of_matrix**3
    for title, options in (("literal", LITERAL), ("tiled", tiled)):
        source = emitted(module, "main", options)
        began = time.perf_counter()
        library = compiled(source)
        ready = time.perf_counter()
        executed(library, source.units["main"], {}, secret)
        taken = time.perf_counter() - ready
        numbers = on_numbers(source, options, rows_of_matrix)
        click.echo(
            f"{title}: {ready - began:.2f} s of g++, {taken:.2f} s on fingerprints, "
            f"{taken / operations * 1e9:.1f} ns per multiplication and addition; {numbers:.3f} s on numbers, "
            f"{taken / numbers:.0f} times less"
        )


def on_numbers(source, options, rows_of_matrix):
    """The seconds that the same C takes on numbers."""
    unit = source.units["main"]
    function = build(source.text, options.isa, cache=None).function(unit.symbol, c_type(unit))
    arrays = [np.ones((rows_of_matrix, rows_of_matrix), np.float32) for _ in range(3)]
    state = ffi().new("rm_run *", {"fuel": GREATEST, "turns": GREATEST, "memory": GREATEST})
    pointers = [ffi().cast("void *", ffi().from_buffer(array)) for array in arrays]
    began = time.perf_counter()
    if function(state, *pointers) != Status.DONE:
        raise SystemExit("the product of matrices does not end")
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--isa", default="avx2")
    parser.add_argument("--why", action="store_true", help="print each function that is not proved")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    prove_itself()
    tiled = Options(isa=ISAS[options.isa])
    if options.speed:
        speed(tiled)
        return
    kinds, times, held, elements = Counter(), [], 0, 0
    for title, module, name in functions(options.only, options.dtypes.split(","), tiled):
        began = time.perf_counter()
        proof = forms_compared(module, name, LITERAL, tiled)
        times.append(time.perf_counter() - began)
        kinds[proof.kind.value, proof.reason if proof.kind is FormKind.UNDECIDED else ""] += 1
        held, elements = held + (proof.held > 0), elements + proof.elements
        if options.why and proof.kind is not FormKind.PROVED:
            click.echo(f"{title}, `{name}`: {proof.kind.value}: {proof.reason}")
    for (kind, reason), count in kinds.most_common():
        click.echo(f"{count:5} {kind}{f': {reason}' if reason else ''}")
    click.echo(
        f"{sum(kinds.values())} functions, {elements} elements; {held} held to the interpreter; "
        f"median {statistics.median(times or [0]):.2f} s"
    )
    sys.exit(any(kind == FormKind.DIFFER.value for kind, _ in kinds))


if __name__ == "__main__":
    main()
