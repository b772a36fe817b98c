"""Small programs aimed at the preconditions of schedule primitives: each has what a primitive must look at.

| program       | what is unusual                                                                    |
|---------------|------------------------------------------------------------------------------------|
| `offset`      | a loop that does not begin at 0                                                    |
| `siblings`    | two blocks in one loop                                                             |
| `inplace`     | a block reads the element that it writes                                           |
| `scan`        | each element needs the one before                                                  |
| `guarded`     | blocks with a condition, after a split that leaves a rest                          |
| `diagonal`    | one axis indexes two dimensions                                                    |
| `strided`     | axes bound to multiples, every second element is written                           |
| `reversed`    | an axis runs downwards                                                             |
| `window`      | a consumer reads a window of its producer                                          |
| `pool`        | a maximum over a window with padding that is no zero                               |
| `difference`  | a reduction that subtracts                                                         |
| `product`     | a reduction that multiplies                                                        |
| `started`     | a reduction whose init is an input                                                 |
| `twice`       | two consumers of one producer                                                      |
| `overwritten` | two blocks write one buffer, one after the other                                   |
| `chosen`      | a load under a condition                                                           |
| `indirect`    | a load in the index of a load                                                      |
| `triangle`    | an extent depends on the loop around                                               |
| `partial`     | a consumer reads a part of its producer                                            |
| `nested`      | a block in a block                                                                 |
| `branch`      | a condition around a block                                                         |
| `matched`     | a block works on a part of a buffer under another name                             |
| `both`        | one block writes two buffers                                                       |
| `kept`        | a reduction of conditions, on a part of the domain                                 |
| `symbolic`    | an extent that a call decides                                                      |
| `kernel`      | loops that are bound to threads already                                            |
| `swapped`     | a consumer reads its producer transposed, and in place of the other way            |
| `constant`    | an axis bound to a constant                                                        |

`overlooked_programs` has those aimed at what primitives forget beside their preconditions.
"""

from refmlc.oracle.fuzz.subjects.primitives.overlooked_programs import OVERLOOKED

HEAD = "# from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"

PROGRAMS = {
    "offset": """
def main(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32")):
    for i in range(7):
        with T.sblock("first"):
            v = T.axis.spatial(7, i)
            B[v] = A[v]
    for i in range(2, 7):
        with T.sblock("second"):
            v = T.axis.spatial(7, i)
            B[v] = B[v] * 3 + 1
""",
    "siblings": """
def main(A: T.Buffer((5, 3), "int32"), B: T.Buffer((5, 3), "int32"), C: T.Buffer((5, 3), "int32")):
    for i in range(5):
        for j in range(3):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for j in range(3):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2
""",
    "inplace": """
def main(A: T.Buffer((5, 3), "int32"), B: T.Buffer((5, 3), "int32")):
    for i, j in T.grid(5, 3):
        with T.sblock("update"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] * 2 + 1
    for i, j in T.grid(5, 3):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, 2 - vj]
""",
    "scan": """
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((7,), "int32")):
    with T.sblock("zero"):
        B[0] = 0
    for i in range(6):
        with T.sblock("scan"):
            v = T.axis.opaque(6, i)
            B[v + 1] = B[v] + A[v]
""",
    "guarded": """
def main(A: T.Buffer((7,), "int32"), C: T.Buffer((7,), "int32")):
    B = T.sblock_alloc_buffer((7,), "int32")
    for i, j in T.grid(4, 2):
        with T.sblock("B"):
            v = T.axis.spatial(7, i * 2 + j)
            T.where(i * 2 + j < 7)
            B[v] = A[v] + 1
    for i, j in T.grid(3, 3):
        with T.sblock("C"):
            v = T.axis.spatial(7, i * 3 + j)
            T.where(i * 3 + j < 7)
            C[v] = B[v] * 2
""",
    "diagonal": """
def main(A: T.Buffer((5, 5), "int32"), W: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    S = T.sblock_alloc_buffer((5, 5), "int32")
    for i, j in T.grid(5, 5):
        with T.sblock("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = A[vi, vj] + W[vj]
    for i in range(5):
        with T.sblock("B"):
            v = T.axis.spatial(5, i)
            B[v] = S[v, v] * 2
""",
    "strided": """
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((10,), "int32")):
    for i in range(10):
        with T.sblock("zero"):
            v = T.axis.spatial(10, i)
            C[v] = 7
    for i in range(5):
        with T.sblock("even"):
            v = T.axis.spatial(5, i)
            C[v * 2] = A[v]
""",
    "reversed": """
def main(A: T.Buffer((6, 2), "int32"), C: T.Buffer((6, 2), "int32")):
    B = T.sblock_alloc_buffer((6, 2), "int32")
    for i, j in T.grid(6, 2):
        with T.sblock("B"):
            vi = T.axis.spatial(6, 5 - i)
            vj = T.axis.spatial(2, j)
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(6, 2):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[5 - vi, vj] * 2
""",
    "window": """
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((8,), "int32")
    for i in range(8):
        with T.sblock("B"):
            v = T.axis.spatial(8, i)
            B[v] = A[v] * 2
    for i, k in T.grid(6, 3):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + B[vi + vk]
""",
    "pool": """
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    P = T.sblock_alloc_buffer((7,), "int32")
    for i in range(7):
        with T.sblock("pad"):
            v = T.axis.spatial(7, i)
            P[v] = T.if_then_else(1 <= v and v < 6, A[v - 1], -100)
    for i, k in T.grid(5, 3):
        with T.sblock("pool"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = -1000
            C[vi] = T.max(C[vi], P[vi + vk])
""",
    "difference": """
def main(A: T.Buffer((3, 5), "int32"), C: T.Buffer((3,), "int32")):
    for i, k in T.grid(3, 5):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] - A[vi, vk]
""",
    "product": """
def main(A: T.Buffer((3, 5), "int32"), C: T.Buffer((3,), "int32")):
    for i, k in T.grid(3, 5):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 1
            C[vi] = C[vi] * A[vi, vk]
""",
    "started": """
def main(A: T.Buffer((3, 5), "int32"), S: T.Buffer((3,), "int32"), C: T.Buffer((3,), "int32")):
    for i, k in T.grid(3, 5):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = S[vi]
            C[vi] = C[vi] + A[vi, vk]
""",
    "twice": """
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32"), D: T.Buffer((3, 4), "int32")):
    B = T.sblock_alloc_buffer((4, 3), "int32")
    for i, j in T.grid(4, 3):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(4, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
    for i, j in T.grid(3, 4):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vj, vi] - 3
""",
    "overwritten": """
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("B"):
            v = T.axis.spatial(6, i)
            B[v] = A[v]
    for i in range(3):
        with T.sblock("again"):
            v = T.axis.spatial(3, i)
            B[v] = A[v] + 10
    for i in range(6):
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            C[v] = B[v] * 2
""",
    "chosen": """
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((7,), "int32")):
    B = T.sblock_alloc_buffer((4,), "int32")
    for i in range(4):
        with T.sblock("B"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] + 1
    for i in range(7):
        with T.sblock("C"):
            v = T.axis.spatial(7, i)
            C[v] = T.if_then_else(v < 4, B[v], 5)
""",
    "indirect": """
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    N = T.sblock_alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("N"):
            v = T.axis.spatial(6, i)
            N[v] = (v * 5 + 1) % 6
    for i in range(6):
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            C[v] = A[N[v]] * 2
""",
    "triangle": """
def main(A: T.Buffer((5, 5), "int32"), C: T.Buffer((5, 5), "int32")):
    for i, j in T.grid(5, 5):
        with T.sblock("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = 9
    for i in range(5):
        for j in range(i + 1):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + C[vi, vj]
""",
    "partial": """
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((3,), "int32"), D: T.Buffer((8,), "int32")):
    B = T.sblock_alloc_buffer((8,), "int32")
    for i in range(8):
        with T.sblock("B"):
            v = T.axis.spatial(8, i)
            B[v] = A[v] + 1
    for i in range(3):
        with T.sblock("C"):
            v = T.axis.spatial(3, i)
            C[v] = B[v + 2] * 2
    for i in range(8):
        with T.sblock("D"):
            v = T.axis.spatial(8, i)
            D[v] = A[v] - 1
""",
    "nested": """
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    for i, j in T.grid(4, 2):
        with T.sblock("outer"):
            vi, vj = T.axis.remap("SS", [i, j])
            for k in range(3):
                with T.sblock("inner"):
                    vk = T.axis.spatial(6, vj * 3 + k)
                    C[vi, vk] = A[vi, vk] * 2
""",
    "branch": """
def main(A: T.Buffer((5, 3), "int32"), C: T.Buffer((5, 3), "int32")):
    for i, j in T.grid(5, 3):
        with T.sblock("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = 9
    for i, j in T.grid(5, 3):
        if i < 4:
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + 1
""",
    "matched": """
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    for i, j in T.grid(2, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 2 : vi * 2 + 2, vj * 2 : vj * 2 + 2])
            T.writes(C[vi * 2 : vi * 2 + 2, vj * 2 : vj * 2 + 2])
            P = T.match_buffer(
                A[vi * 2 : vi * 2 + 2, vj * 2 : vj * 2 + 2], (2, 2), "int32", offset_factor=1, strides=(6, 1)
            )
            for x, y in T.grid(2, 2):
                with T.sblock("part"):
                    vx, vy = T.axis.remap("SS", [x, y])
                    C[vi * 2 + vx, vj * 2 + vy] = P[vx, vy] + 1
""",
    "both": """
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32"), D: T.Buffer((4,), "int32")):
    B = T.sblock_alloc_buffer((4, 3), "int32")
    for i, j in T.grid(4, 3):
        with T.sblock("both"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
            C[vi, vj] = A[vi, vj] * 2
    for i, k in T.grid(4, 3):
        with T.sblock("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = 0
            D[vi] = D[vi] + B[vi, vk]
""",
    "kept": """
def main(A: T.Buffer((3, 7), "int32"), C: T.Buffer((3,), "int32")):
    for i, k, l in T.grid(3, 4, 2):
        with T.sblock("C"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(7, k * 2 + l)
            T.where(k * 2 + l < 7)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
""",
    "symbolic": """
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 3), "int32")
    C = T.match_buffer(c, (n, 3), "int32")
    B = T.sblock_alloc_buffer((n, 3), "int32")
    for i, j in T.grid(n, 3):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(n, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
""",
    "kernel": """
def main(A: T.Buffer((6, 5), "int32"), C: T.Buffer((6,), "int32")):
    S = T.sblock_alloc_buffer((6, 5), "int32", scope="shared")
    for b in T.thread_binding(6, thread="blockIdx.x"):
        for t in T.thread_binding(5, thread="threadIdx.x"):
            with T.sblock("S"):
                vi, vj = T.axis.remap("SS", [b, t])
                S[vi, vj] = A[vi, vj] + 1
        for k in range(5):
            with T.sblock("C"):
                vi, vk = T.axis.remap("SR", [b, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + S[vi, vk]
""",
    "swapped": """
def main(A: T.Buffer((3, 5), "int32"), C: T.Buffer((5, 3), "int32")):
    B = T.sblock_alloc_buffer((3, 5), "int32")
    D = T.sblock_alloc_buffer((5, 3), "int32")
    for i, j in T.grid(3, 5):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 3
    for i, j in T.grid(5, 3):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vj, vi] + B[vj, 4 - vi]
    for i, j in T.grid(5, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vi, vj] - D[vi, 0]
""",
    "constant": """
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    B = T.sblock_alloc_buffer((4, 3), "int32")
    for i, j in T.grid(4, 3):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for j in range(3):
        with T.sblock("row"):
            vi = T.axis.spatial(4, 2)
            vj = T.axis.spatial(3, j)
            B[vi, vj] = 77
    for i, j in T.grid(4, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
""",
    **OVERLOOKED,
}


def aimed_program(number: int) -> str:
    """The text of one of the programs: they take turns."""
    return HEAD + list(PROGRAMS.values())[number % len(PROGRAMS)].lstrip("\n")
