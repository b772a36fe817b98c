"""Instruction sets: what a CPU's flags allow, what the environment may choose."""

import pytest

from refmlc.codegen.build import build, detect_isa
from refmlc.codegen.build.isa import _cpu_flags, usable_isas
from refmlc.codegen.options import ISAS
from refmlc.diag import RefmlcError

AVX2 = frozenset(("sse2", "avx", "avx2", "f16c", "fma"))
AVX512 = AVX2 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}


@pytest.mark.parametrize(
    ("machine", "flags", "best"),
    [
        ("x86_64", AVX512, "avx512"),
        ("amd64", AVX2, "avx2"),
        ("x86_64", AVX512 - {"avx512bw"}, "avx2"),
        ("x86_64", AVX2 - {"f16c"}, "sse2"),
        ("x86_64", frozenset(), "sse2"),
        ("aarch64", frozenset(), "neon"),
        ("arm64", frozenset(), "neon"),
        ("i686", AVX512, "none"),
        ("riscv64", frozenset(), "none"),
    ],
)
def test_the_best_instruction_set_of_a_machine(machine, flags, best):
    usable = usable_isas(machine, flags)
    assert usable[0] == best
    assert usable[-1] == "none"
    assert set(usable) <= set(ISAS)


def test_flags_are_those_of_the_first_cpu(tmp_path):
    text = "processor\t: 0\nflags\t\t: fpu avx2\nbugs\t\t: none\n\nprocessor\t: 1\nflags\t\t: fpu\n"
    (tmp_path / "cpuinfo").write_text(text)
    assert _cpu_flags(tmp_path / "cpuinfo") == {"fpu", "avx2"}
    assert _cpu_flags(tmp_path / "missing") == frozenset()


def test_what_is_detected_runs(cache):
    isa = detect_isa()
    width = max(isa.vector_bytes, 16)
    text = (
        f"typedef float vector __attribute__((vector_size({width})));\n"
        "void twice(vector *x) { *x = *x + *x; }\n"
        "float used(float x) { vector v = {x}; twice(&v); return v[0]; }\n"
    )
    assert build(text, isa, cache=cache).function("used", "float (*)(float)")(1.5) == 3.0


def test_the_environment_chooses_a_lesser_one(monkeypatch):
    monkeypatch.setenv("REFMLC_ISA", "none")
    assert detect_isa() == ISAS["none"]


@pytest.mark.parametrize("name", ["neon-and-more", "AVX512", "avx512,avx2"])
def test_the_environment_cannot_choose_what_is_not_there(name, monkeypatch):
    monkeypatch.setenv("REFMLC_ISA", name)
    with pytest.raises(RefmlcError) as caught:
        detect_isa()
    assert caught.value.diagnostic.code.id == "RM112"
