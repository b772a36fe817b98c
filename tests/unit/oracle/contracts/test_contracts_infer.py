"""Contracts that accesses ask for: each worked by hand; and what no contract may say, since it would excuse a bug."""

import pytest

import refmlc
from refmlc.oracle.contracts import contracts_of

HEAD = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
"""


def lines(text):
    module = refmlc.read(HEAD + text)
    return [row.text for row in contracts_of(module, next(iter(module.functions))).rows]


def of_index(index, guard="T.bool(True)", values='T.Buffer(("n",), "float32")', loop="m", before=""):
    return lines(
        f"""
    @T.prim_func
    def main(idx: T.Buffer(("m",), "int32"), A: {values}, B: T.Buffer(("m", 16), "float32")):
        m, n = T.int32(), T.int32()
        for i, j in T.grid({loop}, 16):
            if {guard}:
                {before or "pass"}
                B[i, j] = A[{index}]
"""
    )


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("idx[i]", "0 <= idx < n"),
        ("T.Cast('int64', idx[i])", "0 <= idx < n"),
        ("idx[i] // 4", "0 <= idx < n * 4"),
        ("idx[i] * 16 + j", "0 <= idx < n // 16"),
        ("n - 1 - idx[i]", "0 <= idx < n"),
        ("T.if_then_else(idx[i] < 0, idx[i] + n, idx[i])", "-n <= idx < n"),
        ("T.Select(idx[i] < 0, idx[i] + n, idx[i])", "-n <= idx < n"),
        ("T.min(idx[i], n - 1)", "0 <= idx"),
        ("T.max(idx[i], 0)", "idx < n"),
    ],
)
def test_an_index_asks_for_its_whole_axis(index, expected):
    assert of_index(index) == [expected]


@pytest.mark.parametrize(
    "index", ["T.max(T.min(idx[i], n - 1), 0)", "T.if_then_else(idx[i] >= 0 and idx[i] < n, idx[i], 0)", "i"]
)
def test_a_guarded_index_asks_for_nothing(index):
    assert of_index(index) == []


def test_a_guard_of_the_value_itself_is_an_alternative():
    assert of_index("idx[i]", "idx[i] != -1") == ["idx == -1 or 0 <= idx < n"]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("idx[i] + 1", "0 <= idx < n"),  # idx < n - 1 would excuse the last element
        ("idx[i] + 5", "0 <= idx < n"),
        ("idx[i] - 1", "0 <= idx <= n"),  # 1 <= idx would excuse the first
        ("idx[i] // 4 + 1", "0 <= idx < n * 4"),
        ("idx[i] * 16 + j + 1", "0 <= idx < n // 16"),
    ],
)
def test_a_contract_does_not_excuse_a_shifted_index(index, expected):
    assert of_index(index) == [expected]


@pytest.mark.parametrize("values", ['T.Buffer((8,), "float32")'])
def test_nor_for_an_axis_of_a_number(values):
    assert of_index("idx[i] + 1", values=values) == ["0 <= idx < 8"]


def test_nor_a_missing_guard_of_the_tail():
    text = """
    @T.prim_func
    def main(idx: T.Buffer(("n",), "int32"), A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int32()
        for o, i in T.grid((n + 15) // 16, 16):
            B[o * 16 + i] = A[idx[o * 16 + i]]
"""
    assert lines(text) == ["0 <= idx < n"]  # nothing of n


SEGMENTS = """
    @T.prim_func
    def main(indptr: T.Buffer(("n + 1",), "int32"), idx: T.Buffer(("nnz",), "int32"),
             A: T.Buffer(("m",), "float32"), B: T.Buffer(("n",), "float32")):
        n, nnz, m = T.int32(), T.int32(), T.int32()
        for i in range(n):
            B[i] = T.float32(0)
            for j in range(indptr[i + 1] - indptr[i]{more}):
                B[i] = B[i] + A[idx[indptr[i] + j]]
"""
OF_SEGMENTS = ["indptr: ascending", "0 <= indptr <= nnz", "0 <= idx < m"]


def test_segments_ascend_up_to_the_extent_itself():
    assert lines(SEGMENTS.format(more="")) == OF_SEGMENTS


def test_a_segment_that_is_one_too_long_asks_for_no_less():
    assert lines(SEGMENTS.format(more=" + 1")) == OF_SEGMENTS


def test_a_page_table_from_segments_of_pages():
    text = """
    @T.prim_func
    def main(indptr: T.Buffer(("b + 1",), "int32"), table: T.Buffer(("nnz",), "int32"),
             last: T.Buffer(("b",), "int32"), pages: T.Buffer(("max_pages", 16), "float32"),
             out: T.Buffer(("b",), "float32")):
        b, nnz, max_pages = T.int32(), T.int32(), T.int32()
        for i in range(b):
            with T.sblock("rows"):
                v = T.axis.spatial(b, i)
                length = T.sblock_alloc_buffer((1,), "int32")
                begin: T.int32 = indptr[v]
                end: T.int32 = indptr[v + 1]
                length[0] = T.if_then_else(begin != end, (end - begin - 1) * 16 + last[v], 0)
                out[v] = T.float32(0)
                for row in range(length[0]):
                    out[v] = out[v] + pages[table[begin + row // 16], row % 16]
"""
    assert sorted(lines(text)) == sorted(
        ["indptr: ascending", "0 <= indptr <= nnz", "0 <= last <= 16", "0 <= table < max_pages"]
    )


@pytest.mark.parametrize("length", ["T.max(end - begin, 0)", "T.if_then_else(end > begin, end - begin, 0)"])
def test_a_segment_that_may_be_empty_asks_for_no_order(length):
    text = f"""
    @T.prim_func
    def main(starts: T.Buffer((5,), "int32"), B: T.Buffer(("n",), "float32")):
        n = T.int32()
        for i in range(4):
            begin: T.int32 = starts[i]
            end: T.int32 = starts[i + 1]
            for j in range({length}):
                B[begin + j] = T.float32(0)
"""
    assert lines(text) == ["0 <= starts <= n"]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("T.Cast('int64', rois[i, 0])", ["-1 < rois[:, 0] < n"]),
        ("T.Cast('int32', rois[i, 0]) + 1", ["-1 < rois[:, 0] < n"]),  # rois < n - 1 would excuse the last element
        ("T.Cast('int32', rois[i, 0]) - 1", ["-1 < rois[:, 0] < n + 1"]),
        ("T.max(T.min(T.Cast('int32', rois[i, 0]), n - 1), 0)", []),
        ("T.Cast('int32', rois[i, 0] * T.float32(2))", []),  # has no natural form: calls tell
        ("T.Cast('int32', rois[i, 0]) * 4", ["-1 < rois[:, 0]"]),
    ],
)
def test_a_float_that_is_an_index_is_rounded_toward_zero(index, expected):
    text = f"""
    @T.prim_func
    def main(rois: T.Buffer(("m", 5), "float32"), A: T.Buffer(("n",), "float32"), B: T.Buffer(("m",), "float32")):
        m, n = T.int32(), T.int32()
        for i in range(m):
            B[i] = A[{index}]
"""
    assert lines(text) == expected


def test_pages_that_parallel_instances_write_are_distinct_but_not_those_that_accumulate():
    text = """
    @T.prim_func
    def main(idx: T.Buffer(("m",), "int32"), A: T.Buffer(("m",), "int32"), H: T.Buffer((8,), "int32")):
        m = T.int32()
        for i in T.parallel(m):
            H[idx[i]] = {value}
"""
    assert lines(text.format(value="A[i]")) == ["0 <= idx < 8", "idx: distinct"]
    assert lines(text.format(value="H[idx[i]] + A[i]")) == ["0 <= idx < 8"]
    of_floats = text.replace('idx: T.Buffer(("m",), "int32")', 'idx: T.Buffer(("m",), "float32")')
    of_floats = of_floats.replace("H[idx[i]]", "H[T.Cast('int32', idx[i])]")
    assert lines(of_floats.format(value="A[i]")) == ["-1 < idx < 8"]  # distinct floats may round to one integer


WRITTEN = """
    @T.prim_func
    def main(lengths: T.Buffer(("b",), "int32"), indptr: T.Buffer(("b + 1",), "int32"),
             out: T.Buffer(("n",), "int32")):
        b, n = T.int32(), T.int32()
        for t in T.thread_binding(8, thread="blockIdx.x"):
            row = T.alloc_buffer((1,), "int32", scope="local")
            row[0] = 0
            while row[0] < b:
                if indptr[row[0]] + t < {end}:
                    out[indptr[row[0]] + t] = t
                row[0] = row[0] + 1
"""


def test_segments_that_parallel_instances_write_ascend():
    assert lines(WRITTEN.format(end="indptr[row[0] + 1]")) == ["indptr: ascending", "0 <= indptr <= n"]
    assert "indptr: ascending" not in lines(WRITTEN.format(end="n"))


def test_a_start_and_a_length_stay_inside_together():
    text = """
    @T.prim_func
    def main(start: T.Buffer(("m",), "int32"), length: T.Buffer(("m",), "int32"), A: T.Buffer(("n",), "float32"),
             B: T.Buffer(("m",), "float32")):
        m, n = T.int32(), T.int32()
        for i in range(m):
            B[i] = T.float32(0)
            for j in range(length[i]):
                B[i] = B[i] + A[start[i] + j]
"""
    assert sorted(lines(text)) == ["0 <= length", "0 <= start", "start + length <= n"]


def test_a_number_a_divisor_and_an_assert():
    text = """
    @T.prim_func
    def main(page: T.int64, step: T.int32, n: T.int32, A_: T.handle):
        m = T.int32()
        A = T.match_buffer(A_, (m,), "int32")
        assert n % 16 == 0, "a multiple"
        A[page] = n // step
"""
    assert sorted(lines(text)) == ["0 <= page < m", "n % 16 == 0", "step != 0"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("R.take(x, i, axis=0)", ["0 <= i < n"]),
        ("R.gather_elements(x, i, axis=1)", ["0 <= i < 4"]),
        ("R.gather_nd(x, i)", ["0 <= i[:, 0] < n", "0 <= i[:, 1] < 4"]),
    ],
)
def test_an_operator_of_relax_asks_for_what_it_looks_up(call, expected):
    text = f"""
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), i: R.Tensor(("n", 2), "int64")):
        with R.dataflow():
            y = {call}
            R.output(y)
        return y
"""
    assert lines(text) == expected


def test_the_row_of_an_operator_says_what_no_access_shows():
    text = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), b: R.Tensor((5,), "float32")):
        y = R.bucketize(x, b)
        return y
"""
    assert lines(text) == ["b: ascending"]
