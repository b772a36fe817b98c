"""Modules beside C that was written by hand, so that the virtual machine is tested without the generator.

| function | TensorIR                            | its C                                          |
|----------|-------------------------------------|------------------------------------------------|
| `add`    | `B[i] = A[i] + k`                   | the same                                       |
| `bump`   | `A[i] = A[i] + 1`, unless A[2] is 9 | adds 1 everywhere, then looks: it spoils A     |
| `wary`   | `B[i] = A[i]`                       | spoils B, then stops without a reason          |
| `sparse` | `B[2 * i] = A[i]`, unless A[i] is 9 | the same, with a shadow of B                   |
| `window` | `B[i] = A[i]`, A has a stride       | the same                                       |
| `total`  | returns the sum of A as int64       | the same                                       |
"""

from dataclasses import replace

from refmlc.check.reading import read
from refmlc.codegen.options import ISAS, Grade
from refmlc.codegen.unit import BlockReport, BufferParam, ScalarParam, Unit
from refmlc.dtypes import INT64
from refmlc.vm import VirtualMachine, build
from refmlc.vm.native.compiled import Translation, load
from refmlc.vm.native.module import NativeModule

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
#include "rm_guard.h"

int64_t f_add(rm_run *run, const int32_t *a, int64_t k, int32_t *b, int64_t n) {
  int64_t status = RM_DONE;
  run->site = 77;
  if (rm_overlap(a, 4 * n, b, 4 * n)) return RM_OVERLAP;
  RM_PAY(n);
  for (int64_t i = 0; i < n; i++) b[i] = (int32_t)(a[i] + k);
leave:
  return status;
}

int64_t f_bump(rm_run *run, int32_t *a) {
  int64_t status = RM_DONE;
  for (int64_t i = 0; i < 4; i++) a[i] += 1;
  RM_CHECK(a[2] != 10, 1);
  RM_CHECK(a[3] < 100, 2);
leave:
  return status;
}

int64_t f_wary(rm_run *run, const int32_t *a, int32_t *b) {
  (void)a;
  b[0] = -1;
  run->site = 1;
  return RM_CHECK_FAILED;
}

int64_t f_sparse(rm_run *run, const int32_t *a, int32_t *b, uint8_t *written) {
  int64_t status = RM_DONE;
  for (int64_t i = 0; i < 4; i++) {
    RM_CHECK(a[i] != 9, 1);
    b[2 * i] = a[i];
    written[2 * i] = 1;
  }
leave:
  return status;
}

int64_t f_window(rm_run *run, const int32_t *a, int32_t *b, int64_t s) {
  (void)run;
  for (int64_t i = 0; i < 4; i++) b[i] = a[i * s];
  return RM_DONE;
}

int64_t f_total(rm_run *run, const int32_t *a) {
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
}
CHECKS = {"bump": 2, "wary": 1, "sparse": 1}


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
    report = BlockReport(name, None, Grade.GUARDED, CHECKS.get(name, 0))
    return Unit(name, f"f_{name}", tuple(params), dims, INT64 if name == "total" else None, (report,))


def module():
    """The module above."""
    return read(TEXT)


def native_module(mod, text=C):
    """`mod` with the C above as what it is compiled to."""
    return NativeModule(mod, "cr", lambda given, _: load(Translation(text, units(given)), ISAS["none"]))


def machine(mod=None, *, tier="native", native=None, **options):
    """A virtual machine that calls the C above."""
    mod = module() if mod is None else mod
    executable = replace(build(mod, "interp", **options), tier=tier, native=native or native_module(mod))
    return VirtualMachine(executable)
