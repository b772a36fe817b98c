"""Programs aimed at what only graphs and threads do wrong: each shows its code and no other, in both tiers."""

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.module import check_module
from refmlc.observe.sanitize import sanitize
from refmlc.oracle.reduce import reduce_case
from refmlc.strategies import MODULE_AIMS, THREAD_AIMS, Case, ir_modules, prim_funcs, rolled, rolled_module

AIMS = (*MODULE_AIMS, *THREAD_AIMS)
RULES = settings(
    max_examples=60,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def drawn(aim, seed):
    return rolled_module(seed, aim) if aim in MODULE_AIMS else rolled(seed, aim)


def codes_of(case, tier="interp"):
    report = sanitize(case.module, case.func, case.arguments(), tier=tier)
    return sorted({one.diagnostic.code.id for one in report.findings})


@pytest.mark.parametrize("aim", AIMS)
def test_the_aim_is_hit_and_nothing_else(aim):
    for seed in range(12):
        case = drawn(aim, seed)
        assert check_module(case.module) == (), case
        assert codes_of(case) == codes_of(case, "auto") == [aim], case
        assert structural_equal(Case.from_json(case.to_json()).module, case.module)


@pytest.mark.parametrize("aim", AIMS)
def test_programs_differ(aim):
    assert len({str(drawn(aim, seed)) for seed in range(20)}) > 12


@pytest.mark.parametrize("aim", ["RM316", "RM328"])
def test_a_witness_is_small(aim):
    small = reduce_case(drawn(aim, 3), lambda one: codes_of(one) == [aim]).case
    assert codes_of(small) == [aim]
    assert sum(1 for _ in walk(small.module)) <= 25


def test_what_hypothesis_draws_hits_its_aim_too():
    assert codes_of(find(ir_modules("RM323"), lambda _: True, settings=RULES)) == ["RM323"]
    assert codes_of(find(prim_funcs("RM327"), lambda _: True, settings=RULES)) == ["RM327"]


def test_modules_without_an_aim_stay_what_they_were():
    cases = [(rolled_module(seed), rolled_module(seed, None)) for seed in range(60)]
    assert all(mixed.aim or str(mixed) == str(plain) for plain, mixed in cases)
    assert 2 <= sum(bool(mixed.aim) for _, mixed in cases) <= 20
