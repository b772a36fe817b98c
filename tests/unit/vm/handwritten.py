"""Modules beside C that was written by hand, so that the virtual machine is tested without the generator.

| function | TensorIR                            | its C                                          |
|----------|-------------------------------------|------------------------------------------------|
| `add`    | `B[i] = A[i] + k`                   | the same                                       |
| `bump`   | `A[i] = A[i] + 1`, unless A[2] is 9 | adds 1 everywhere, then looks: it spoils A     |
| `wary`   | `B[i] = A[i]`                       | spoils B, then stops without a reason          |
| `sparse` | `B[2 * i] = A[i]`, unless A[i] is 9 | the same, with a shadow of B                   |
| `window` | `B[i] = A[i]`, A has a stride       | the same                                       |
| `total`  | returns the sum of A as int64       | the same                                       |
| `twice`  | `B[i] = A[i] * 2`                   | the same; stops where A[0] is 9                |
| `chain`  | Relax: `twice` of `twice`           | one function, `g_chain`; stops where A[0] is 9 |
| `pair`   | Relax: `twice` and `twice` of it    | one function, `g_pair`                         |
"""

from dataclasses import replace

from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.fuse.plan import Fused, Operand
from refmlc.native.options import ISAS, Grade
from refmlc.native.tier.compiled_module import Translation, load, with_entries
from refmlc.native.tier.native_module import NativeModule
from refmlc.native.unit import BlockReport, BufferParam, ScalarParam, Unit
from refmlc.vm import VirtualMachine, build

TEXT = """
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @T.prim_func
    def add(a: T.handle, k: T.int32, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int32")
        B = T.match_buffer(b, (n,), "int32")
        for i in range(n):
            B[i] = A[i] + k

    @T.prim_func
    def bump(A: T.Buffer((4,), "int32")):
        for i in range(4):
            if A[2] == 9:
                T.evaluate(A[5])
            A[i] = A[i] + 1

    @T.prim_func
    def wary(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
        for i in range(4):
            B[i] = A[i]

    @T.prim_func
    def sparse(A: T.Buffer((4,), "int32"), B: T.Buffer((8,), "int32")):
        for i in range(4):
            if A[i] == 9:
                T.evaluate(A[5])
            B[2 * i] = A[i]

    @T.prim_func
    def window(a: T.handle, B: T.Buffer((4,), "int32")):
        s = T.int64()
        A = T.match_buffer(a, (4,), "int32", strides=(s,))
        for i in range(4):
            B[i] = A[i]

    @T.prim_func
    def total(A: T.Buffer((4,), "int32")) -> T.int64:
        S = T.alloc_buffer((1,), "int64")
        S[0] = T.int64(0)
        for i in range(4):
            S[0] = S[0] + T.Cast("int64", A[i])
        return S[0]

    @T.prim_func
    def twice(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int32")
        B = T.match_buffer(b, (n,), "int32")
        for i in range(n):
            B[i] = A[i] * 2

    @R.function
    def chain(x: R.Tensor(("n",), "int32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "int32"))
            z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((n,), "int32"))
            R.output(z)
        return z

    @R.function
    def pair(x: R.Tensor(("n",), "int32")) -> R.Tuple(R.Tensor(("n",), "int32"), R.Tensor(("n",), "int32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "int32"))
            z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((n,), "int32"))
            R.output(y, z)
        return (z, y)

    @R.function
    def main(x: R.Tensor(("n",), "int32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.add, (x, R.prim_value(1)), out_sinfo=R.Tensor((n,), "int32"))
            z = R.call_dps_packed("env.twice", (y,), out_sinfo=R.Tensor((n,), "int32"))
            w = R.call_tir(cls.add, (z, R.prim_value(2)), out_sinfo=R.Tensor((n,), "int32"))
            R.output(w)
        return w
"""

C = """
#define RM_USE_int32
#include "rm_guard.h"
#include "rm_dtypes.h"

int64_t f0_add(rm_run *run, const rm_int32 *a, int64_t k, rm_int32 *b, int64_t n) {
  int64_t status = RM_DONE;
  run->site = 77;
  if (rm_overlap(a, 4 * n, b, 4 * n)) return RM_OVERLAP;
  RM_PAY(n);
  for (int64_t i = 0; i < n; i++) b[i] = (rm_int32)(a[i] + k);
leave:
  return status;
}

int64_t f0_bump(rm_run *run, rm_int32 *a) {
  int64_t status = RM_DONE;
  for (int64_t i = 0; i < 4; i++) a[i] += 1;
  RM_CHECK(a[2] != 10, 1);
  RM_CHECK(a[3] < 100, 2);
leave:
  return status;
}

int64_t f0_wary(rm_run *run, const rm_int32 *a, rm_int32 *b) {
  (void)a;
  b[0] = -1;
  run->site = 1;
  return RM_CHECK_FAILED;
}

int64_t f0_sparse(rm_run *run, const rm_int32 *a, rm_int32 *b, uint8_t *written) {
  int64_t status = RM_DONE;
  for (int64_t i = 0; i < 4; i++) {
    RM_CHECK(a[i] != 9, 1);
    b[2 * i] = a[i];
    written[2 * i] = 1;
  }
leave:
  return status;
}

int64_t f0_window(rm_run *run, const rm_int32 *a, rm_int32 *b, int64_t s) {
  (void)run;
  for (int64_t i = 0; i < 4; i++) b[i] = a[i * s];
  return RM_DONE;
}

int64_t f0_twice(rm_run *run, const rm_int32 *a, rm_int32 *b, int64_t n) {
  int64_t status = RM_DONE;
  RM_PAY(n);
  RM_CHECK(n == 0 || a[0] != 9, 1);
  for (int64_t i = 0; i < n; i++) b[i] = a[i] * 2;
leave:
  return status;
}

int64_t g0_chain(rm_run *run, const rm_int32 *x, rm_int32 *z, rm_int32 *y, int64_t n) {
  const int64_t status = f0_twice(run, x, y, n);
  return status ? status : f0_twice(run, y, z, n);
}

int64_t g0_pair(rm_run *run, const rm_int32 *x, rm_int32 *y, rm_int32 *z, void *workspace, int64_t n) {
  const int64_t status = f0_twice(run, x, y, n);
  return workspace && status ? status : f0_twice(run, y, z, n);
}

int64_t f0_total(rm_run *run, const rm_int32 *a) {
  run->result_int = 0;
  for (int64_t i = 0; i < 4; i++) run->result_int += a[i];
  return RM_DONE;
}
"""

USES = {  # of each buffer: loaded, stored, tracked, covered
    "add": ("l", "sc"),
    "bump": ("ls",),
    "wary": ("l", "sc"),
    "sparse": ("l", "st"),
    "window": ("l", "sc"),
    "total": ("l",),
    "twice": ("l", "sc"),
}
CHECKS = {"bump": 2, "wary": 1, "sparse": 1, "twice": 1}


def units(module):
    """What the C above says of itself."""
    return {name: _unit(module.functions[name], name, list(uses)) for name, uses in USES.items()}


def _unit(func, name, uses):
    params = []
    for var in func.params:
        buffer = func.buffer_map.get(var)
        if buffer is None:
            params.append(ScalarParam(var))
            continue
        use = uses.pop(0)
        params.append(BufferParam(var, buffer, *(letter in use for letter in "lstc")))
    parts = [part for buffer in func.buffer_map.values() for part in (*buffer.shape, *buffer.strides)]
    dims = tuple(dict.fromkeys(part for part in parts if hasattr(part, "name")))
    checks = CHECKS.get(name, 0)
    report = BlockReport(name, None, Grade.GUARDED, checks)
    return Unit(name, f"f0_{name}", tuple(params), dims, INT64 if name == "total" else None, (report,), checks)


def fused(module):
    """What the C above says of the blocks of `chain` and `pair`."""
    return tuple(_fused(module.functions[name], name) for name in ("chain", "pair"))


def _fused(function, name):
    (block,) = function.body.blocks
    (x,) = function.params
    (n,) = x.ty.shape
    y, z = (Operand(binding.var, INT32, (n,)) for binding in block.bindings)
    size = tir.Apply("mul", (tir.IntImm(INT64, 4), n), INT64)
    outputs = (z,) if name == "chain" else (y, z)
    both = tir.Apply("add", (size, size), INT64)
    inputs = (Operand(x, INT32, (n,)),)
    return Fused(name, block, 0, 2, f"g0_{name}", inputs, outputs, (n,), (), size, both, ("twice", "twice"))


def module():
    """The module above."""
    return read(TEXT)


def native_module(mod, text=C):
    """`mod` with the C above as what it is compiled to."""

    def compiler(given, _math):
        return load(with_entries(Translation(text, units(given), {}, fused(given)), given), ISAS["none"])

    return NativeModule(mod, "cr", compiler)


def machine(mod=None, *, tier="native", native=None, **options):
    """A virtual machine that calls the C above."""
    mod = module() if mod is None else mod
    executable = replace(build(mod, "interp", **options), tier=tier, native=native or native_module(mod))
    return VirtualMachine(executable)


def counts(vm):
    """Calls that C did, that did not fit, in which C stopped, without a reason."""
    found = vm.native.counts
    return found.native, found.declined, found.stopped, found.false_alarms
