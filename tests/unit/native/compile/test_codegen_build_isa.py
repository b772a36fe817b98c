"""Instruction sets: what a CPU's flags allow, what the environment may choose."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.native.compile import build, detect_isa
from refmlc.native.compile.isa import first_cpu, usable_isas
from refmlc.native.options import ISAS

AVX2 = "sse2 avx avx2 f16c fma"
AVX512 = f"{AVX2} avx512f avx512bw avx512dq avx512vl"
ZEN = {"vendor_id": "AuthenticAMD", "flags": AVX512}


@pytest.mark.parametrize(
    ("machine", "cpu", "best"),
    [
        ("x86_64", {"flags": AVX512}, "avx512"),
        ("amd64", {"flags": AVX2}, "avx2"),
        ("x86_64", {"flags": AVX512.replace("avx512bw", "")}, "avx2"),
        ("x86_64", {"flags": AVX2.replace("f16c", "")}, "sse2"),
        ("x86_64", {}, "sse2"),
        ("x86_64", {**ZEN, "cpu family": "25"}, "avx512halves"),
        ("x86_64", {**ZEN, "cpu family": "26"}, "avx512"),
        ("x86_64", {**ZEN, "cpu family": "25", "flags": AVX2}, "avx2"),
        ("aarch64", {}, "neon"),
        ("arm64", {}, "neon"),
        ("i686", {"flags": AVX512}, "none"),
        ("riscv64", {}, "none"),
    ],
)
def test_the_best_instruction_set_of_a_machine(machine, cpu, best):
    usable = usable_isas(machine, cpu)
    assert usable[0] == best
    assert usable[-1] == "none"
    assert set(usable) <= set(ISAS)


def test_flags_are_those_of_the_first_cpu(tmp_path):
    text = "processor\t: 0\nflags\t\t: fpu avx2\nbugs\t\t: none\n\nprocessor\t: 1\nflags\t\t: fpu\n"
    (tmp_path / "cpuinfo").write_text(text)
    assert first_cpu(tmp_path / "cpuinfo")["flags"] == "fpu avx2"
    assert first_cpu(tmp_path / "missing") == {}


def test_what_is_detected_runs(cache):
    isa = detect_isa()
    vector = f"rm_float32x{max(isa.vector_bytes, 16) // 4}"
    text = (
        '#define RM_USE_float32\n#include "rm_guard.h"\n#include "rm_dtypes.h"\n#include "rm_vector.h"\n'
        "int64_t f0_used(const double x) {\n"
        f"  {vector} v = {{0}};\n  v = v + (rm_float32)x;\n  v = v + v;\n  return v[0];\n}}\n"
    )
    assert build(text, isa, cache=cache).function("f0_used", "int64_t (*)(double)")(1.5) == 3


def test_the_environment_chooses_a_lesser_one(monkeypatch):
    monkeypatch.setenv("REFMLC_ISA", "none")
    assert detect_isa() == ISAS["none"]


@pytest.mark.parametrize("name", ["neon-and-more", "AVX512", "avx512,avx2"])
def test_the_environment_cannot_choose_what_is_not_there(name, monkeypatch):
    monkeypatch.setenv("REFMLC_ISA", name)
    with pytest.raises(RefmlcError) as caught:
        detect_isa()
    assert caught.value.diagnostic.code.id == "RM112"
