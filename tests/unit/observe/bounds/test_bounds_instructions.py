"""Certificates of kernels with instructions of PTX (PTX-019): what the error of an approximation permits, no more."""

import numpy as np
import pytest

from refmlc.diag import Unsupported
from refmlc.lang.script import read
from refmlc.observe.bounds import certify


def certificate(body, values, dtype="float32", of="float32"):
    text = f"@T.prim_func\ndef f(A: T.Buffer((4,), '{of}'), B: T.Buffer((4,), '{dtype}')):\n"
    lines = ["T.device_entry()", "b = T.cta_id([1])", "t = T.thread_id([4])", *body.split("\n")]
    module = read(text + "".join(f"    {line}\n" for line in lines), "f.py")
    outputs = certify(module, "f", [np.array(values, of), np.zeros(4, dtype)]).outputs
    return next(each for each in outputs if each.name == "B")


def permitted(tensor, number, *values):
    return [tensor.permits(number, float(value)) for value in values]


def test_an_approximation_has_the_results_that_its_error_permits():
    result = certificate("T.ptx.ex2.approx.f32(B[t], A[t])", [0.5, 1, 200, -np.inf])
    root = np.sqrt(np.float32(2))
    steps = [root + count * np.spacing(root) for count in range(-3, 4)]
    assert permitted(result, 0, *steps) == [False, True, True, True, True, True, False]
    assert permitted(result, 2, np.inf, np.finfo("float32").max, 1.0) == [True, True, False]
    assert permitted(result, 3, 0.0, 1e-45) == [True, False]
    assert not result.exact


def test_what_follows_an_approximation_holds_its_error():
    result = certificate("x: T.float32\nT.ptx.tanh.approx.f32(x, A[t])\nB[t] = x * T.float32(2)", [1, 0, 3, 4])
    exact = 2 * np.tanh(1.0)
    assert permitted(result, 0, exact * (1 - 2**-11), exact * (1 + 2**-11), exact * 1.001) == [True, True, False]
    assert permitted(result, 1, 0.0, 1e-9) == [True, False]


def test_exact_instructions_have_one_result():
    result = certificate("T.ptx.add.rz.f32(B[t], A[t], T.float32(0.1))", [1, 2, 3, np.nan])
    assert result.exact
    assert permitted(result, 0, result.reference[0], np.nextafter(result.reference[0], 2)) == [True, False]
    assert permitted(result, 3, np.nan) == [True]


def test_packed_halves_have_the_numbers_of_their_lanes():
    result = certificate("T.ptx.tanh.approx.f16x2(B[t], A[t])", [0, 0x3800, 0, 0], "uint32", "uint32")
    near = int(np.float16(np.tanh(0.5)).view("uint16"))
    assert permitted(result, 1, near, near + 1, near + 4) == [True, True, False]
    assert permitted(result, 0, 0, 1) == [True, False]
    result = certificate("T.ptx.ex2.approx.ftz.bf16x2(B[t], A[t])", [0x42804280] * 4, "uint32", "uint32")
    assert permitted(result, 0, 0x5F805F80, 0x5F815F7F, 0x5F905F80) == [True, True, False]


def test_a_choice_of_few_numbers_goes_through_an_exact_instruction():
    body = "x: T.float32\nT.ptx.rcp.approx.f32(x, A[t])\nT.ptx.setp.gt.f32(B[t], x, T.float32(0.33333334))"
    result = certificate(body, [3, 2, 8, 1], "uint32")
    assert permitted(result, 0, 0, 1) == [True, True]
    assert permitted(result, 1, 0, 1) == [False, True]


def test_what_has_many_members_is_anything_after_an_instruction():
    result = certificate("x: T.float32\nT.ptx.sin.approx.f32(x, A[t])\nT.ptx.neg.f32(B[t], x)", [100, 1, 2, 0])
    assert permitted(result, 0, 1e30, np.nan) == [True, True]
    assert permitted(result, 3, 0.0, 1.0) == [True, False]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("S = T.alloc_shared((4,), 'float32')\nS[t] = A[t]\nB[t] = S[t]", "memory that threads share is not certified"),
        ("T.ptx.bar.sync(0)", "a call with an effect is not certified"),
    ],
)
def test_threads_that_work_together_are_not_certified(body, words):
    with pytest.raises(Unsupported, match=words):
        certificate(body, [1, 2, 3, 4])
