"""More small programs aimed at schedule primitives: parts of a program that they overlook.

| program       | what is unusual                                                                    |
|---------------|------------------------------------------------------------------------------------|
| `stretch`     | a loop covers a part of an axis                                                    |
| `condition`   | a consumer with a condition on a part of the domain                                |
| `domain`      | an axis whose domain does not begin at 0                                           |
| `fraction`    | a consumer reads with a step that is a fraction                                    |
| `broadcast`   | a consumer with an axis more, and one that reads every second row                  |
| `repeated`    | a reduction in a loop that none of its axes needs                                  |
| `earlier`     | a block reads what the reduction behind it replaces                                |
| `terms`       | the loop of a reduction does not begin at 0                                        |
| `largest`     | a reduction of two values, with ties                                               |
| `ring`        | a window in a loop, with axes in another order than the dimensions                 |
| `ring again`  | a window in a loop that begins at 1, and a reader of one element                   |
| `padding`     | a padding and its consumer in one loop                                             |
| `beside`      | a block between the loops of another, axes in another order                        |
| `declared`    | a declared read that is not done                                                   |
| `divided`     | a division in an index under a condition                                           |
| `updated`     | a buffer that is read, replaced, and read again                                    |
"""

OVERLOOKED = {
    "stretch": """
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("B"):
            v = T.axis.spatial(6, i)
            B[v] = A[v] + 1
    for i in range(3):
        with T.sblock("C"):
            v = T.axis.spatial(6, i + 2)
            C[v] = B[v] * 2
""",
    "condition": """
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("B"):
            v = T.axis.spatial(6, i)
            B[v] = A[v] + 1
    for i in range(6):
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            T.where(i < 4)
            C[v] = B[v] * 2
""",
    "domain": """
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("B"):
            v = T.axis.spatial(6, i)
            B[v] = A[v] + 1
    for i in range(2, 6):
        with T.sblock("C"):
            v = T.axis.spatial((2, 6), i)
            C[v] = B[v] * 2
""",
    "fraction": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((6,), "int32")):
    for i in range(8):
        with T.sblock("B"):
            v = T.axis.spatial(8, i)
            B[v] = A[v] + 1
    for i in range(6):
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            C[v] = B[v * 3 // 2] * 2
""",
    "broadcast": """
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4, 3), "int32"), D: T.Buffer((2,), "int32")):
    B = T.sblock_alloc_buffer((4,), "int32")
    for i in range(4):
        with T.sblock("B"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] + 1
    for i, j in T.grid(4, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi] * 2
    for i in range(2):
        with T.sblock("D"):
            v = T.axis.spatial(2, i)
            D[v] = C[v * 2, 0]
""",
    "repeated": """
def main(A: T.Buffer((3, 4), "int32"), C: T.Buffer((3,), "int32")):
    for t, i, k in T.grid(2, 3, 4):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
""",
    "earlier": """
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3,), "int32"), C: T.Buffer((3,), "int32")):
    for i in range(3):
        with T.sblock("B"):
            v = T.axis.spatial(3, i)
            B[v] = C[v] * 2
        for k in range(4):
            with T.sblock("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
""",
    "terms": """
def main(A: T.Buffer((3, 6), "int32"), C: T.Buffer((3,), "int32")):
    for i in range(3):
        for k in range(2, 6):
            with T.sblock("C"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce((2, 6), k)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
""",
    "largest": """
def main(A: T.Buffer((12,), "int32"), B: T.Buffer((1,), "int32"), C: T.Buffer((1,), "int32")):
    for k, l in T.grid(4, 3):
        with T.sblock("C"):
            v = T.axis.spatial(1, 0)
            vk = T.axis.reduce(12, k * 3 + l)
            with T.init():
                B[v] = -1
                C[v] = T.min_value("int32")
            x: T.let[T.int32] = T.Select(C[v] >= A[vk] % 4, B[v], vk)
            y: T.let[T.int32] = T.Select(C[v] >= A[vk] % 4, C[v], A[vk] % 4)
            B[v] = x
            C[v] = y
""",
    "ring": """
def main(A: T.Buffer((8, 2), "int32"), C: T.Buffer((6, 2), "int32")):
    B = T.sblock_alloc_buffer((2, 8), "int32")
    for i in range(6):
        for j, k in T.grid(3, 2):
            with T.sblock("B"):
                v = T.axis.spatial(8, i + j)
                w = T.axis.spatial(2, k)
                B[w, v] = A[v, w] + 1
        for k in range(2):
            with T.sblock("C"):
                v, w = T.axis.remap("SS", [i, k])
                C[v, w] = B[w, v] + B[w, v + 2]
""",
    "ring again": """
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((6,), "int32"), D: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((8,), "int32")
    for i in range(1, 6):
        for j in range(3):
            with T.sblock("B"):
                v = T.axis.spatial(8, i + j)
                B[v] = A[v] + 1
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            C[v] = B[v] + B[v + 2]
        with T.sblock("D"):
            v = T.axis.spatial(6, i)
            D[v] = B[1] * 2
""",
    "padding": """
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((7,), "int32")):
    B = T.sblock_alloc_buffer((7,), "int32")
    for i in range(7):
        with T.sblock("B"):
            v = T.axis.spatial(7, i)
            B[v] = T.if_then_else(1 <= v and v < 5, A[v - 1], 0)
        with T.sblock("C"):
            v = T.axis.spatial(7, i)
            C[v] = B[v] + 1
""",
    "beside": """
def main(A: T.Buffer((3, 5), "int32"), C: T.Buffer((3,), "int32"), D: T.Buffer((3, 5), "int32")):
    B = T.sblock_alloc_buffer((3, 5), "int32")
    for i in range(3):
        with T.sblock("C"):
            v = T.axis.spatial(3, i)
            C[v] = A[v, 4] * 2
        for j in range(5):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(3, 5):
        with T.sblock("D"):
            vj, vi = T.axis.remap("SS", [j, i])
            D[vi, vj] = B[vi, vj] - 1
""",
    "declared": """
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.sblock_alloc_buffer((6,), "int32")
    for i in range(6):
        with T.sblock("B"):
            v = T.axis.spatial(6, i)
            B[v] = A[v] + 1
    for i in range(6):
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            T.reads(A[v], B[v])
            T.writes(C[v])
            C[v] = A[v] * 2
""",
    "divided": """
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((6,), "int32")):
    for i in range(6):
        with T.sblock("C"):
            v = T.axis.spatial(6, i)
            C[v] = T.if_then_else(1 <= v, A[7 // v % 4] + A[7 // v % 4 // 2], 9)
""",
    "updated": """
def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32")):
    for i in range(5):
        with T.sblock("B"):
            v = T.axis.spatial(5, i)
            B[v] = A[v] * 2
    for i in range(5):
        with T.sblock("A"):
            v = T.axis.spatial(5, i)
            A[v] = B[v] + 1
    for i in range(5):
        with T.sblock("C"):
            v = T.axis.spatial(5, i)
            C[v] = A[4 - v] - B[v]
""",
}
