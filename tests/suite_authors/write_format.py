"""Area `format`: each kind of assertion, rule, literal and generator once: the first test of a reader.

Worked by hand; the generators are computed again below in plain Python from the document's words.
"""

import hashlib
import struct

import numpy as np
from book import KEPT, Asked, Book, empty, given, number, stop, want

HEAD = "# from tvm.script import tirx as T, relax as R\n"
COPY = (
    HEAD
    + """@T.prim_func(s_tir=True)
def main(A: T.Buffer(({n},), "{dtype}"), B: T.Buffer(({n},), "{dtype}")):
    for i in range({n}):
        B[i] = A[i]
"""
)
SIN = (
    HEAD
    + """@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
    for i in range(2):
        B[i] = T.exp(A[i])
"""
)
DIVIDE = (
    HEAD
    + """@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        B[i] = T.truncdiv(A[i], A[1 - i])
"""
)
ASSERT = (
    HEAD
    + """@T.prim_func(s_tir=True)
def main(A: T.Buffer((1,), "int32")):
    assert A[0] == 1, "one is wanted"
    T.evaluate(0)
"""
)
RELAX = (
    HEAD
    + """@R.function
def main(x: R.Tensor((2,), "float32"), n: R.Prim("int64"), s: R.Shape((2, 3))):
    return (x, s)
"""
)
SHAPE = {"rule": "exact", "extents": [2, 3]}
MASK = (1 << 64) - 1


def z(seed: int, i: int) -> int:
    """The word of element `i`."""
    found = ((seed + 1) * 0xD1342543DE82EF95 + i * 0x9E3779B97F4A7C15) & MASK
    found = ((found ^ found >> 30) * 0xBF58476D1CE4E5B9) & MASK
    found = ((found ^ found >> 27) * 0x94D049BB133111EB) & MASK
    return found ^ found >> 31


def copied(book: Book, name: str, dtype: str, made: dict[str, object], values: list[object]) -> None:
    """A generated tensor that is copied to where its elements are seen."""
    n = len(values)
    array = np.array(values).astype(dtype)
    book.case(
        f"format.generator.{name}", ["TIR-205"], COPY.format(n=n, dtype=dtype), "main",
        [Asked([{"dtype": dtype, "shape": [n], **made}, empty([n], dtype)], [KEPT, want(array)])],
    )  # fmt: skip


def generators(book: Book) -> None:
    """Each of them."""
    grid = [(-8 + (z(7, i) >> 32) % 17) / 4 for i in range(12)]
    copied(
        book, "grid.float32", "float32", {"generator": "grid", "seed": 7, "low": -8, "high": 8, "scale": "0x1p-2"}, grid
    )
    grid = [-5 + (z(0, i) >> 32) % 11 for i in range(12)]
    copied(book, "grid.int8", "int8", {"generator": "grid", "seed": 0, "low": -5, "high": 5}, grid)
    codes = [struct.unpack("<i", struct.pack("<I", z(3, i) & 0xFFFFFFFF))[0] for i in range(8)]
    copied(book, "bits.int32", "int32", {"generator": "bits", "seed": 3}, codes)
    codes = [struct.unpack("<e", struct.pack("<H", z(3, i) & 0xFFFF))[0] for i in range(8)]
    copied(book, "bits.float16", "float16", {"generator": "bits", "seed": 3}, codes)
    codes = [struct.unpack("<e", struct.pack("<H", 0x3C00 + i * 512))[0] for i in range(8)]
    copied(book, "codes.float16", "float16", {"generator": "codes", "start": 0x3C00, "step": 512}, codes)
    cycle = [(3 + i * 5) % 7 for i in range(9)]
    copied(book, "cycle.int64", "int64", {"generator": "cycle", "start": 3, "step": 5, "modulus": 7}, cycle)
    copied(book, "fill.float32", "float32", {"generator": "fill", "value": "0x1.8p+1"}, [3.0] * 5)


def main() -> None:
    """All of them."""
    book = Book("format", "hand")
    a = np.array([1.5, -0.0, np.inf, np.nan], np.float32)
    four = COPY.format(n=4, dtype="float32")
    book.case(
        "format.return.exact", ["TIR-205"], four, "main", [Asked([given(a), empty([4], "float32")], [KEPT, want(a)])]
    )
    packed = b"".join(struct.pack("<f", v) for v in a[:3]) + b"\xff\xff\xff\xff"
    digest = {"rule": "hash", "dtype": "float32", "shape": [4], "sha256": hashlib.sha256(packed).hexdigest()}
    book.case(
        "format.return.hash", ["TIR-205"], four, "main", [Asked([given(a), empty([4], "float32")], [KEPT, digest])]
    )
    book.case(
        "format.return.any",
        ["TIR-205"],
        four,
        "main",
        [Asked([given(a), empty([4], "float32")], [KEPT, {"rule": "any"}])],
    )
    options = {"rule": "one of", "dtype": "float32", "shape": [4],
               "options": [["0x1.8p+0"], ["0x0.0p+0", "-0x0.0p+0"], ["inf"], ["nan"]]}  # fmt: skip
    book.case(
        "format.return.one-of", ["TIR-205"], four, "main", [Asked([given(a), empty([4], "float32")], [KEPT, options])]
    )
    one = np.array([1.0, 0.0], np.float32)
    exps = np.array([np.exp(1.0), 1.0], np.float32)
    book.case(
        "format.return.ulp",
        ["NUM-501"],
        SIN,
        "main",
        [Asked([given(one), empty([2], "float32")], [KEPT, want(exps, rule="ulp", ulps=1)])],
    )
    low, high = ["0x1.5bf0a0p+1", "0x1p+0"], ["0x1.5bf0b0p+1", "0x1p+0"]
    inside = want(exps, rule="certified", low=low, high=high, specials=["", ""])
    book.case(
        "format.return.certified",
        ["NUM-501"],
        SIN,
        "main",
        [Asked([given(one), empty([2], "float32")], [KEPT, inside])],
    )
    zeros = np.array([6, 0], np.int32)
    book.case(
        "format.undefined",
        ["NUM-104"],
        DIVIDE,
        "main",
        [Asked([given(zeros), empty([2], "int32")], stop("undefined", "RM307", "5:16"))],
    )
    two = np.array([2], np.int32)
    book.case("format.trap", ["TIR-202"], ASSERT, "main", [
        Asked([given(two)], stop("trap", "RM401", "4:5")), Asked([given(two - 1)], [KEPT]),
    ])  # fmt: skip
    book.case(
        "format.reject.malformed",
        ["TIR-205"],
        four.replace("range(4)", "range(4"),
        "main",
        [Asked([], stop("reject", "RM101"))],
    )
    book.case(
        "format.reject.ill-formed",
        ["TIR-205"],
        four.replace("A[i]", "A[i, i]"),
        "main",
        [Asked([], stop("reject", "RM208", "5:16"))],
    )
    book.case(
        "format.open", ["NUM-104"], DIVIDE, "main", [Asked([given(zeros), empty([2], "int32")], {"kind": "open"})]
    )
    x = np.array([1.0, 2.0], np.float32)
    book.case("format.relax.values", ["RLX-109", "RLX-014"], RELAX, "main", [
        Asked([given(x), number(7, "int64"), {"extents": [2, 3]}], [want(x), SHAPE, KEPT]),
    ])  # fmt: skip
    generators(book)
    book.write("format", "Each form that a case may have, once. Worked by hand.")


if __name__ == "__main__":
    main()
