"""Records by element: what each byte gets when bytes are counted."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.observe.sanitize.elements import Book, unchanged


@dataclass
class RecordOfTest:
    """A record that changes."""

    writer: int = 0


def test_a_record_that_changes_is_one_for_each_byte():
    book = Book(4, {1: RecordOfTest(7)})
    book.split(replace)
    assert list(book.records) == [4, 5, 6, 7]
    book.records[5].writer = 8
    assert [record.writer for record in book.records.values()] == [7, 8, 7, 7]


def test_a_record_that_nothing_changes_stays_the_same_one():
    store = object()
    book = Book(2, {0: store})
    book.split(unchanged)
    assert book.records == {0: store, 1: store}
    assert all(record is store for record in book.records.values())


WIDE = """@T.prim_func
def main(A: T.Buffer((4,), "float16"), B: T.Buffer((2,), "float32"), C: T.Buffer((2,), "float32")):
    W = T.decl_buffer((2,), "uint32", data=A.data)
    for k, v in T.grid(2, 2):
        with T.block("b"):
            vk, vv = T.axis.remap("RS", [k, v])
            T.reads(A[0:4], W[0:2])
            T.writes(A[0:4], B[0:2], C[vv])
            with T.init():
                C[vv] = T.float32(0)
            if vk == 0:
                if vv == 0:
                    B[0] = T.Cast("float32", W[0])
                else:
                    B[1] = T.Cast("float32", A[0])
            elif vv == 0:
                A[{written}] = T.float16(1)
"""


@pytest.mark.parametrize(("written", "is_found"), [(1, False), (0, True)])
def test_an_instance_may_write_beside_what_another_reads(written, is_found):
    arguments = [np.ones(4, "float16"), np.zeros(2, "float32"), np.zeros(2, "float32")]
    report = sanitize(read(WIDE.format(written=written), "case.py"), "main", arguments)
    assert {code for code, count in report.counts.items() if count} == ({"RM319"} if is_found else set())
