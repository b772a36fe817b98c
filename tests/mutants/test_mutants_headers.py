"""Wrong headers are killed: a sample of those that rules make, in the soak profile all of them."""

import os
import shutil

import pytest

pytestmark = pytest.mark.needs("gcc")

SOAK = os.environ.get("REFMLC_PROFILE") == "soak"
SAMPLES = {"gcc": 16, "tcc": 300 if SOAK else 48}
"""How many mutants, by the compiler that is asked first: tcc takes a twentieth of the time."""


@pytest.fixture(scope="module")
def kernels():
    """Made here, where nothing is imported that other tests do not need."""
    import kernel_mutants  # noqa: PLC0415 - its points take seconds

    return kernel_mutants


def test_there_are_many_in_every_header_with_operators(kernels):
    made = kernels.mutants()
    assert len({mutant.name for mutant in made}) == len(made) > 1000
    assert {mutant.header for mutant in made} == set(kernels.headers())


def test_right_headers_survive(kernels, tmp_path):
    headers = shutil.copytree(kernels.HEADERS, tmp_path / "headers")  # compiled beside them
    for name in ("operators", "conversions", "cr", "libm"):
        unit = kernels.wrapped(name)
        assert kernels.by_points(unit, kernels.QUICK, headers).state == "survived"


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("tcc", marks=pytest.mark.needs("tcc"))])
def test_a_sample_is_killed(kernels, record_property, compiler):
    from reasons import OF_ALL_TESTS, Reasons  # noqa: PLC0415 - the same
    from units import sample  # noqa: PLC0415 - the same

    ends = {mutant.name: kernels.judge(mutant) for mutant in sample(kernels.mutants(), SAMPLES[compiler])}
    killed = [name for name, end in ends.items() if end.state == "killed"]
    record_property("killed", len(killed))
    assert len(killed) >= SAMPLES[compiler] * 5 // 6
    reasons = Reasons(files=[OF_ALL_TESTS])
    assert [name for name, end in ends.items() if end.state == "survived" and not reasons.row_of(name)] == []
