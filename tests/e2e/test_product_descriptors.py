"""The descriptors of `tcgen05` are, bit by bit, those that the TVM at hand encodes (TIM-012, TIM-017)."""

import json
import os
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ops.matrix.descriptors import TCGEN05, encoded
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

SIDE = Path(__file__).parent / "tvm_side" / "product_descriptors.py"
KINDS = {"float16": 16, "bfloat16": 16, "tensor_float32": 8, "float8_e4m3fn": 32, "float8_e5m2": 32}
KINDS |= {"int8": 32, "uint8": 32, "float4_e2m1fn": 64}
WRITE = """
    if t == 0:
        T.cuda.tcgen05.encode_instr_descriptor{}(T.address_of(O[{}]), {})
"""
HEAD = """@T.prim_func
def f(O: T.Buffer(({},), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
"""

pytestmark = pytest.mark.needs("tvm")


def theirs(calls):
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    command = [os.environ["REFMLC_TVM_PYTHON"], str(SIDE)]
    done = subprocess.run(command, input=lines, check=True, capture_output=True, text=True, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


def dense():
    shapes = [
        (64, 8, 1),
        (64, 24, 1),
        (128, 16, 1),
        (128, 256, 1),
        (128, 32, 2),
        (256, 64, 2),
        (96, 16, 1),
        (64, 12, 1),
    ]
    for (a, b), (m, n, group), (turned_a, negative) in product(
        product(KINDS, KINDS), shapes, ((False, False), (True, False), (False, True))
    ):
        rest = {"trans_a": turned_a, "trans_b": not turned_a, "neg_a": negative, "neg_b": negative}
        d = "int32" if "int" in a else "float32"
        call = {"M": m, "N": n, "K": KINDS[a], "d_dtype": d, "a_dtype": a, "b_dtype": b, "cta_group": group, **rest}
        yield "dense", {**call, "sat_d": "int" in a, "is_sparse": False}


def scaled():
    for (a, b), scale, (m, n, group) in product(
        product(KINDS, KINDS), ("float8_e8m0fnu", "float8_e4m3fn"), ((128, 8, 1), (128, 224, 1), (256, 32, 2))
    ):
        rest = {"trans_a": False, "trans_b": False, "neg_a": True, "neg_b": False, "is_sparse": False}
        call = {"M": m, "N": n, "K": KINDS[a], "d_dtype": "float32", "a_dtype": a, "b_dtype": b, "sf_dtype": scale}
        yield "scaled", {**call, "cta_group": group, **rest}


def operands(name, call):
    """A call as the arguments of a text."""
    dtypes = [call["d_dtype"], call["a_dtype"], call["b_dtype"], *[call.get("sf_dtype")] * 2 * (name == "scaled")]
    numbers = [*["T.uint32(0)"] * 2 * (name == "scaled"), call["M"], call["N"], call["K"]]
    flags = [call["trans_a"], call["trans_b"], call["cta_group"], call["neg_a"], call["neg_b"]]
    if name == "dense":
        flags.append(call["sat_d"])
    return ", ".join([*(f'"{kind}"' for kind in dtypes), *map(str, numbers), *(str(int(flag)) for flag in flags), "0"])


def ours(calls):
    """The codes that a kernel writes; None of a call that is unsupported."""
    found = []
    for name, call in calls:
        out = np.zeros(1, "uint32")
        text = HEAD.format(1) + WRITE.format("_block_scaled" * (name == "scaled"), 0, operands(name, call))
        try:
            Machine(read(text, "f.py")).call("f", [out])
            found.append(int(out[0]))
        except RefmlcError as error:
            found.append(None if error.diagnostic.code.id == "RM502" else str(error))
    return found


def test_products():
    calls = [*dense(), *scaled()][::3]
    pairs = list(zip(calls, theirs(calls), ours(calls), strict=True))
    assert sum(code is not None for _, code, _ in pairs) > 80
    for call, expected, code in pairs:
        if code != expected:  # what TVM encodes and is not executed
            assert code is None, (call, expected, code)


def test_matrices():
    calls = [
        ("matrix", {"ldo": leading, "sdo": stride, "swizzle": mode})
        for leading, stride, mode in product((0, 1, 64, 16383), (0, 8, 64, 16383), range(4))
    ]
    for (_, call), expected in zip(calls, theirs(calls), strict=True):
        assert encoded(0, call["ldo"], call["sdo"], call["swizzle"], TCGEN05) == expected
