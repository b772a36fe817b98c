"""What the detectors of TensorIR say of programs whose verdict is worked out by hand, above all what is allowed."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import ALL, sanitize

HEAD = "from tvm.script import tirx as T\n\n\n@T.prim_func\n"
FILL = """
    S = T.sblock_alloc_buffer((4,), "float32")
    for i in {kind}(4):
        for j in range(4):
            with T.sblock("fill"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.spatial(4, j)
                S[vj] = A[vi]
        for j in range(4):
            with T.sblock("use"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = S[vj]
"""


def report_of(body, *arguments, params=None, kinds=ALL):
    declared = params or 'A: T.Buffer((4,), "float32"), B: T.Buffer((4, 4), "float32")'
    given = arguments or (np.arange(4, dtype="float32"), np.zeros((4, 4), "float32"))
    return sanitize(read(f"{HEAD}def main({declared}):{body}", "case.py"), "main", given, kinds=kinds)


def found(report):
    return {code for code, count in report.counts.items() if count}


def test_memory_that_a_block_allocates_and_one_parallel_loop_uses_belongs_to_each_iteration():
    assert found(report_of(FILL.format(kind="T.parallel"))) == set()


def test_what_one_iteration_leaves_in_such_memory_another_must_not_read():
    body = """
    S = T.sblock_alloc_buffer((5,), "float32")
    for i in T.parallel(4):
        S[i + 1] = A[i]
        B[i, 0] = S[T.max(i, 1)]
"""
    report = report_of(body)
    assert found(report) == {"RM321"}
    assert "iteration i = 1 reads it, iteration i = 0 writes it" in report.text()


def test_an_allocation_that_is_a_statement_is_shared_by_all_iterations():
    body = FILL.format(kind="T.parallel").replace("T.sblock_alloc_buffer", "T.alloc_buffer")
    assert found(report_of(body)) == {"RM321"}


def test_an_allocation_within_the_loop_is_fresh_in_each_iteration():
    body = """
    for i in T.parallel(4):
        S = T.alloc_buffer((1,), "float32")
        S[0] = A[i]
        B[i, 0] = S[0]
"""
    assert found(report_of(body)) == set()


def test_serial_and_unrolled_iterations_may_depend_on_each_other():
    for kind in ("range", "T.serial", "T.unroll"):
        body = f"\n    for i in {kind}(3):\n        A[i + 1] = A[i]\n"
        assert found(report_of(body)) == set()


def test_iterations_of_two_loops_one_after_the_other_do_not_race():
    body = """
    for i in T.parallel(4):
        B[0, i] = A[i]
    for i in T.parallel(4):
        A[i] = B[0, 3 - i]
"""
    assert found(report_of(body)) == set()


def test_both_places_and_both_iterations_of_a_race_are_named():
    body = "\n    for i in range(2):\n        for j in T.parallel(4):\n            B[i, j // 2] = A[j]\n"
    report = report_of(body)
    assert found(report) == {"RM321"}
    diagnostic = report.findings[0].diagnostic
    assert diagnostic.message == "race on `B[0, 0]`: iteration j = 1 writes it, iteration j = 0 writes it"
    assert diagnostic.notes[0].startswith("i = 0, j = 1 in `main`")


def test_a_reduction_across_threads_is_no_race():
    body = """
    for t in T.thread_binding(4, thread="threadIdx.x"):
        with T.sblock("sum"):
            vk = T.axis.reduce(4, t)
            with T.init():
                B[0, 0] = T.float32(0)
            B[0, 0] = B[0, 0] + A[vk]
"""
    assert found(report_of(body)) == set()
    assert found(report_of(body.replace('T.thread_binding(4, thread="threadIdx.x")', "T.parallel(4)"))) == {"RM321"}


def test_threads_that_write_one_element_of_global_memory_race():
    body = '\n    for t in T.thread_binding(4, thread="threadIdx.x"):\n        B[0, 0] = A[t]\n'
    assert found(report_of(body)) == {"RM321"}
    virtual = body.replace("threadIdx.x", "vthread.x")
    assert found(report_of(virtual)) == set()


def test_views_of_other_element_sizes_meet():
    params = 'A: T.Buffer((4,), "int32")'
    body = """
    B = T.decl_buffer((8,), "int16", data=A.data)
    for i in T.parallel(4):
        A[i] = 0
        B[(i * 2 + {shift}) % 8] = T.int16(1)
"""
    same = report_of(body.format(shift=1), np.zeros(4, "int32"), params=params)
    other = report_of(body.format(shift=2), np.zeros(4, "int32"), params=params)
    assert (found(same), found(other)) == (set(), {"RM321"})


def test_lanes_of_vectors_count_each():
    params = 'A: T.Buffer((8,), "float32")'
    body = "\n    for i in T.parallel(2):\n        A[T.Ramp(i * {step}, 1, 4)] = T.Broadcast(T.float32(1), 4)\n"
    assert found(report_of(body.format(step=4), np.zeros(8, "float32"), params=params)) == set()
    assert found(report_of(body.format(step=3), np.zeros(8, "float32"), params=params)) == {"RM321"}


# ------------------------------------------------------------------------------------------------ blocks


def test_an_inner_block_is_compared_within_one_instance_of_the_outer_one():
    body = """
    for t in range(4):
        with T.sblock("outer"):
            vt = T.axis.opaque(4, t)
            for i in range(4):
                with T.sblock("inner"):
                    vi = T.axis.spatial(4, i)
                    B[0, vi] = A[vi] + T.Cast("float32", vt)
"""
    assert found(report_of(body)) == set()


def test_recomputing_an_instance_is_allowed():
    body = """
    for i, j in T.grid(3, 2):
        with T.sblock("copy"):
            vi = T.axis.spatial(4, i + j)
            B[0, vi] = A[vi]
"""
    assert found(report_of(body)) == set()


def test_recomputing_a_whole_reduction_is_allowed():
    body = """
    for i, j, k in T.grid(3, 2, 4):
        with T.sblock("sum"):
            vi = T.axis.spatial(4, i + j)
            vk = T.axis.reduce(4, k)
            with T.init():
                B[0, vi] = T.float32(0)
            B[0, vi] = B[0, vi] + A[vk]
"""
    assert found(report_of(body)) == set()


def test_loops_over_a_reduction_may_be_in_any_order():
    body = """
    for k, i in T.grid(4, 4):
        with T.sblock("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[0, vi] = T.float32(0)
            B[0, vi] = B[0, vi] + A[vk]
"""
    assert found(report_of(body)) == set()


def test_terms_in_another_order_than_the_init_drop_what_was_folded():
    body = """
    B[0, 0] = T.float32(0)
    for k in range(4):
        with T.sblock("sum"):
            vk = T.axis.reduce(4, 3 - k)
            with T.init():
                B[0, 0] = T.float32(0)
            B[0, 0] = B[0, 0] + A[vk]
"""
    report = report_of(body)
    assert found(report) == {"RM320"}
    assert "runs its init again after 3 of 4 terms" in report.text()


def test_a_carried_value_along_a_scan_axis_is_allowed():
    body = """
    for i in range(3):
        with T.sblock("scan"):
            vi = T.axis.{kind}(3, i)
            A[vi + 1] = A[vi + 1] + A[vi]
"""
    assert found(report_of(body.format(kind="scan"))) == set()
    assert found(report_of(body.format(kind="opaque"))) == set()
    assert "RM319" in found(report_of(body.format(kind="spatial")))


def test_a_decomposed_reduction_is_no_lint():
    body = """
    for i in range(4):
        with T.sblock("init"):
            vi = T.axis.spatial(4, i)
            B[0, vi] = T.float32(0)
    for i in range(4):
        for k in range(4):
            with T.sblock("update"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(B[0, vi], A[vk])
                T.writes(B[0, vi])
                B[0, vi] = B[0, vi] + A[vk]
"""
    assert found(report_of(body)) - {"RM325"} == set()


def test_a_predicate_that_cuts_the_excess_leaves_the_domain_covered():
    body = """
    for i, j in T.grid(2, 3):
        with T.sblock("copy"):
            vi = T.axis.spatial(4, i * 3 + j)
            T.where(i * 3 + j < {bound})
            B[0, vi] = A[vi]
"""
    assert found(report_of(body.format(bound=4))) == set()
    short = report_of(body.format(bound=3))
    assert found(short) == {"RM325"}
    assert short.verdict == "defined"
    assert "executes 3 of 4 points of its domain" in short.text()


def test_points_that_fill_memory_of_the_function_are_not_missed():
    body = """
    S = T.sblock_alloc_buffer((8,), "float32")
    for i in range(4):
        with T.sblock("fill"):
            vi = T.axis.spatial(8, i * 2)
            S[vi] = A[i]
    for i in range(4):
        with T.sblock("use"):
            vi = T.axis.spatial(4, i)
            B[0, vi] = S[vi * 2]
"""
    assert found(report_of(body)) == set()


def test_a_lint_is_told_once_for_each_place_and_counted_each_time():
    body = "\n    for t in range(3):\n        with T.sblock('outer'):\n            vt = T.axis.opaque(3, t)\n"
    body += "            for k in range(3):\n                with T.sblock('sum'):\n"
    body += "                    vk = T.axis.reduce(4, k)\n                    with T.init():\n"
    body += "                        B[0, vt] = T.float32(0)\n                    B[0, vt] = B[0, vt] + A[vk]\n"
    report = report_of(body)
    assert [(finding.diagnostic.code.id, finding.count) for finding in report.findings] == [("RM325", 3)]
    assert report.counts["RM325"] == 3


# ----------------------------------------------------------------------------------------------- regions


def test_the_region_of_a_matched_buffer_is_that_of_its_source():
    body = """
    for i in range(4):
        with T.sblock("rows"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(B[vi, 0:{width}])
            row = T.match_buffer(B[vi, 0:4], (4,), "float32", strides=(1,), offset_factor=1)
            for j in range(4):
                row[j] = A[vi]
"""
    assert found(report_of(body.format(width=4))) == set()
    report = report_of(body.format(width=3))
    assert found(report) == {"RM318"}
    assert "writes `row[3]`" in report.text()


def test_outer_blocks_declare_what_inner_ones_access():
    body = """
    for i in range(4):
        with T.sblock("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(B[vi, 0:{width}])
            for j in range(4):
                with T.sblock("inner"):
                    vj = T.axis.spatial(4, j)
                    T.reads(A[vi])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi]
"""
    assert found(report_of(body.format(width=4))) == set()
    report = report_of(body.format(width=2))
    assert "block `outer` writes `B[0, 2]`" in report.text()


def test_memory_of_the_instance_is_not_declared():
    body = """
    for i in range(4):
        with T.sblock("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(B[vi, 0])
            S = T.sblock_alloc_buffer((1,), "float32")
            S[0] = A[vi]
            B[vi, 0] = S[0]
"""
    assert found(report_of(body)) == set()


def test_a_spatial_block_does_not_read_what_it_only_declares_to_write():
    body = """
    for i in range(4):
        with T.sblock("twice"):
            vi = T.axis.spatial(4, i)
            T.reads({reads})
            T.writes(A[vi])
            A[vi] = A[vi] * T.float32(2)
"""
    assert found(report_of(body.format(reads="A[vi]"))) == set()
    assert found(report_of(body.format(reads=""))) == {"RM318"}


@pytest.mark.parametrize(("reads", "codes"), [("", set()), ("A[vi]", {"RM318"})])
def test_two_empty_lists_promise_nothing_but_one_does(reads, codes):
    body = f"""
    for i in range(4):
        with T.sblock("scheduled"):
            vi = T.axis.spatial(4, i)
            T.reads({reads})
            T.writes()
            B[vi, 0] = A[vi]
"""
    assert found(report_of(body)) == codes


@pytest.mark.parametrize(("writes", "codes"), [("", set()), ("B[vi + vj, 0]", {"RM318"})])
def test_blocks_around_an_opaque_one_know_nothing_of_it(writes, codes):
    body = f"""
    for i in range(4):
        with T.sblock("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(B[vi, 1])
            for j in range(1):
                with T.sblock("inner"):
                    vj = T.axis.spatial(1, j)
                    T.reads()
                    T.writes({writes})
                    B[vi + vj, 0] = T.float32(1)
"""
    assert found(report_of(body)) == codes


def test_a_region_that_depends_on_memory_is_not_known():
    params = 'A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")'
    body = """
    for i in range(4):
        with T.sblock("gather"):
            vi = T.axis.spatial(4, i)
            T.reads(A[B[vi]], B[vi])
            T.writes(A[vi])
            A[vi] = A[3 - vi]
"""
    report = report_of(body, np.zeros(4, "int32"), np.zeros(4, "int32"), params=params, kinds={"RM318"})
    assert found(report) == set()


# ---------------------------------------------------------------------------------------------- aliasing


def alias(body, first, second, attribute='T.func_attr({"tirx.noalias": True})'):
    params = 'A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")'
    return report_of(f"\n    {attribute}\n{body}", first, second, params=params)


def test_arguments_may_overlap_where_nothing_in_both_is_written():
    memory = np.arange(8, dtype="float32")
    copy = "    for i in range(4):\n        B[i] = A[i]\n"
    assert found(alias(copy, memory[:4], memory[4:])) == set()
    assert found(alias(copy, memory[:4], memory[3:7])) == {"RM322"}
    assert found(alias("    B[3] = A[0]\n", memory[:4], memory[3:7])) == set()
    assert found(alias("    B[0] = A[0]\n    B[0] = A[3]\n", memory[:4], memory[3:7])) == {"RM322"}


def test_without_the_promise_arguments_may_overlap():
    memory = np.arange(4, dtype="float32")
    assert found(alias("    for i in range(4):\n        B[i] = A[i]\n", memory, memory, "")) == set()


def test_reading_through_both_parameters_is_allowed():
    memory = np.arange(4, dtype="float32")
    body = "    for i in range(4):\n        T.evaluate(A[i] + B[i])\n"
    assert found(alias(body, memory, memory)) == set()


# ------------------------------------------------------------------------------------------------ report


def test_a_kind_that_no_detector_has_is_refused():
    with pytest.raises(RefmlcError, match="RM112"):
        report_of("\n    B[0, 0] = A[0]\n", kinds={"RM304"})


def test_what_the_interpreter_finds_itself_is_in_the_report():
    report = report_of("\n    B[0, 0] = A[4]\n")
    assert (report.verdict, report.counts["RM304"]) == ("undefined", 1)
    data = report.to_json()
    assert data["verdict"] == "undefined"
    assert data["counts"]["RM304"] == 1
    assert data["findings"][0]["code"] == "RM304"
    assert data["findings"][0]["lint"] is False


def test_other_ends_are_no_findings_on_the_program():
    stopped = report_of('\n    assert A[0] > T.float32(1), "small"\n    B[0, 0] = A[0]\n')
    assert stopped.verdict == "trap"
    assert found(stopped) == {"RM401"}


def test_the_program_does_what_it_does_without_detectors():
    out = np.zeros((4, 4), "float32")
    report = report_of("\n    for i in range(4):\n        B[i, i] = A[i]\n", np.arange(4, dtype="float32"), out)
    assert report.verdict == "defined"
    assert out.tolist() == np.diag([0.0, 1.0, 2.0, 3.0]).tolist()


def test_a_reader_that_is_not_the_first_counts_too():
    body = """
    for k, i in T.grid(2, 2):
        with T.sblock("late"):
            vi, vk = T.axis.remap("SR", [i, k])
            if vk == 0:
                B[vi, 0] = A[0]
            else:
                A[0] = T.float32(1)
"""
    report = report_of(body, kinds={"RM319"})
    assert "with vi = 0 writes `A[0]`, which it read with vi = 1" in report.text()


def test_loops_that_no_binding_names_are_time():
    body = """
    for t in range(3):
        for i in range(2):
            with T.sblock("step"):
                vi = T.axis.spatial(2, i)
                A[(vi + t) % 4] = T.float32(1)
"""
    assert found(report_of(body)) == set()
    assert found(report_of(body.replace("spatial(2, i)", "spatial(4, i + t)"))) == {"RM319"}


def test_instances_of_inner_blocks_depend_on_each_other_too():
    body = """
    for t in range(2):
        with T.sblock("outer"):
            vt = T.axis.opaque(2, t)
            for i in range(4):
                with T.sblock("inner"):
                    vi = T.axis.spatial(4, i)
                    B[vt, 0] = A[vi]
"""
    assert found(report_of(body)) == {"RM319"}


def test_memory_that_one_block_uses_alone_belongs_to_each_instance():
    body = """
    S = T.sblock_alloc_buffer((1,), "float32")
    for i in range(4):
        with T.sblock("alone"):
            vi = T.axis.spatial(4, i)
            S[0] = A[vi]
            B[0, vi] = S[0]
"""
    assert found(report_of(body)) == set()
    assert found(report_of(body + "    B[1, 0] = S[0]\n")) == {"RM319"}


def test_memory_that_is_used_inside_of_a_loop_belongs_to_each_iteration():
    body = """
    S = T.sblock_alloc_buffer((1,), "float32")
    for i in range(4):
        with T.sblock("first"):
            S[0] = T.float32(0)
        for k in range(3):
            with T.sblock("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                S[0] = S[0] + A[vi]
        with T.sblock("out"):
            vi = T.axis.spatial(4, i)
            B[0, vi] = S[0]
"""
    assert found(report_of(body)) == set()
    assert found(report_of(body + "    B[1, 0] = S[0]\n")) == {"RM319"}
    left = body.replace(
        "            S[0] = T.float32(0)", "            if i == 0:\n                S[0] = T.float32(0)"
    )
    assert found(report_of(left)) == {"RM319"}
    twice = body.replace("range(3)", "range(4)").replace('T.axis.remap("SR", [i, k])', 'T.axis.remap("RS", [i, k])')
    assert found(report_of(twice)) == {"RM319"}
