"""What is measured of generated C alone: guarded against unchecked, odd shapes; what is wrong in C is seen."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from refmlc.native.compile import detect_isa
from refmlc.native.emit import emit_module
from refmlc.native.options import ISAS, Grade, Options
from refmlc.tools.bench.bare_call import NotGenerated, compile_bare
from refmlc.tools.bench.peak import compile_peak, peak_text
from refmlc.tools.bench.rows.kernels import guard_rows, transposed
from refmlc.tools.bench.rows.shapes import kernels, mismatches, odd, together
from refmlc.tools.bench.session import TINY, BenchSession
from refmlc.tools.bench.workloads import elementwise, matmul

pytestmark = pytest.mark.needs("compiler")


def test_a_bare_function_writes_its_result():
    workload = matmul(3, 4, 5)
    found = compile_bare("c", workload, Grade.GUARDED, ISAS["none"])
    assert np.array_equal(found.result, workload.expected())
    assert found.unit.grade is Grade.GUARDED
    assert found.take(2) > 0


def test_what_c_does_not_take_is_not_generated():
    text = '@T.prim_func\ndef main(A: T.Buffer((4,), "float32")):\n    T.evaluate(T.call_packed("f", A.data))\n'
    with pytest.raises(NotGenerated):
        compile_bare("c", replace(matmul(1, 1, 1), text=text), Grade.GUARDED, ISAS["none"])


def test_the_transposed_product_is_the_product():
    plain = matmul(3, 4, 5)
    found = compile_bare("c", transposed(plain), Grade.UNCHECKED, ISAS["none"])
    assert np.array_equal(found.result, plain.expected())


def test_guards_are_compared_where_both_grades_are_what_they_are_called():
    rows = list(guard_rows(BenchSession(1, isa=detect_isa(), sample=1), TINY))
    assert [row.failed for row in rows] == ["", ""]
    assert all(set(row.times) == {"guarded", "unchecked"} for row in rows)


def test_shapes_are_odd_and_many_kernels_are_tried():
    random = Random(1)  # noqa: S311 - the same in every run
    assert all(odd(random) % 2 == 1 for _ in range(50))
    names = [name for name, _ in kernels()]
    assert len(set(names)) == len(names) >= 13


def test_a_wrong_number_in_c_is_a_mismatch():
    workloads = [elementwise(5), elementwise(7)]
    module, isa = together(workloads), ISAS["none"]
    source = emit_module(module, Options(isa=isa))
    assert mismatches(module, workloads, source, isa) == 0
    assert "0.75f" in source.text
    wrong = replace(source, text=source.text.replace("0.75f", "0.5f"))
    different = sum(int(np.count_nonzero(workload.expected())) for workload in workloads)
    assert mismatches(module, workloads, wrong, isa) == different > 0


def test_c_that_does_not_finish_is_a_mismatch_of_all():
    workloads = [elementwise(5)]
    module, isa = together(workloads), ISAS["none"]
    source = emit_module(module, Options(isa=isa))
    stopped = replace(
        source, text=source.text.replace("int64_t status = RM_DONE;", "int64_t status = RM_DONE; return 1;")
    )
    assert mismatches(module, workloads, stopped, isa) == 5


@pytest.mark.parametrize("name", ["none", detect_isa().name])
def test_the_peak_is_a_loop_of_known_work(name):
    peak = compile_peak(ISAS[name])
    assert peak.operations > 1_000_000
    assert peak.take(1) > 0


def test_nothing_in_the_peak_is_contracted_or_merged():
    text = peak_text(4, 3)
    assert [f"m{n} = m{n} * x;" in text and f"s{n} = s{n} + y;" in text for n in range(3)] == [True] * 3
    assert text.count("x + ") >= 6  # each vector starts from another value
