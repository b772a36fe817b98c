"""Functions whose buffers live through loops, share memory or are parts of others."""

from collections.abc import Mapping

MEMORY: Mapping[str, str] = {
    "carried": """
def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    S = T.sblock_alloc_buffer((1,), "int32")
    for i in range(5):
        with T.sblock("all"):
            v = T.axis.opaque(5, i)
            T.reads(A[v], S[0])
            T.writes(S[0], B[v])
            if v == 0:
                S[0] = 0
            S[0] = S[0] + A[v]
            B[v] = S[0]
""",
    "carried_blocks": """
def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    S = T.sblock_alloc_buffer((2,), "int32")
    for i in range(5):
        with T.sblock("S"):
            v = T.axis.opaque(5, i)
            T.where(i < 1)
            S[0] = A[v] + 3
        with T.sblock("B"):
            v = T.axis.opaque(5, i)
            B[v] = S[0] + A[v]
""",
    "carried_other": """
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32")):
    S = T.sblock_alloc_buffer((7,), "int32")
    for i in range(6):
        with T.sblock("S"):
            v = T.axis.spatial(6, i)
            S[v] = A[v] * 2
        with T.sblock("B"):
            v = T.axis.spatial(6, i)
            B[v] = S[v] + S[v // 2] + S[v % 2 * v]
""",
    "shared_memory": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    C = T.alloc_buffer((4,), "int32")
    D = T.alloc_buffer((4,), "int32")
    for i in range(4):
        C[i] = A[i] + 1
    for i in range(4):
        D[i] = C[3 - i] * 2
    for i in range(4):
        C[i] = D[i] + D[3 - i]
    for i in range(4):
        B[i] = C[i] - A[i]
""",
    "shared_in_loop": """
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32")):
    C = T.alloc_buffer((2,), "int32")
    for k in range(2):
        C[k] = 3
    for i in range(3):
        D = T.alloc_buffer((2,), "int32")
        for k in range(2):
            D[k] = C[k] + A[i * 2 + k]
        E = T.alloc_buffer((2,), "int32")
        for k in range(2):
            E[k] = D[1 - k] * 2
        for k in range(2):
            B[i * 2 + k] = E[k] + C[k]
        for k in range(2):
            C[k] = E[1 - k]
""",
    "shared_types": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    C = T.alloc_buffer((4,), "int8")
    D = T.alloc_buffer((4,), "float32")
    E = T.alloc_buffer((4,), "int32")
    for i in range(4):
        C[i] = T.Cast("int8", A[i] % 100)
    for i in range(4):
        D[i] = T.Cast("float32", C[i]) * T.float32(0.5)
    for i in range(4):
        E[i] = T.Cast("int32", D[i] * T.float32(2)) + 1
    for i in range(4):
        B[i] = E[3 - i]
""",
    "shared_branches": """
def main(A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")):
    C = T.alloc_buffer((4,), "int32")
    D = T.alloc_buffer((4,), "int32")
    for i in range(4):
        C[i] = A[i] * 3
    for i in range(4):
        D[i] = 0
    if n > 1:
        for i in range(4):
            D[i] = C[i] + 1
    for i in range(4):
        B[i] = D[i] + T.if_then_else(n > 2, C[3 - i], 4)
""",
    "compacted": """
def main(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32")):
    S = T.sblock_alloc_buffer((8, 8), "int32")
    for i in range(2, 8):
        for j in range(3):
            with T.sblock("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[7 - vi, vj * 2 + 1] = A[vi, vj]
        with T.sblock("B"):
            v = T.axis.spatial(8, i)
            B[v] = S[7 - v, 1] + S[7 - v, 5] * S[7 - v, 3]
    for i in range(2):
        with T.sblock("rest"):
            v = T.axis.spatial(8, i)
            B[v] = 0
""",
    "compacted_guard": """
def main(A: T.Buffer((9,), "int32"), B: T.Buffer((9,), "int32")):
    S = T.sblock_alloc_buffer((12,), "int32")
    for i in range(3):
        for j in range(4):
            with T.sblock("S"):
                v = T.axis.spatial(12, i * 4 + j)
                S[v] = T.if_then_else(v < 9, A[v % 9], 100)
        for j in range(3):
            with T.sblock("B"):
                v = T.axis.spatial(9, i * 3 + j)
                T.where(j < 3 and i * 3 + j < 9)
                B[v] = S[i * 4 + j] + T.if_then_else(j > 0, S[i * 4 + j - 1], 0)
""",
    "compacted_indirect": """
def main(A: T.Buffer((5,), "int32"), I: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    S = T.sblock_alloc_buffer((5,), "int32")
    for i in range(5):
        with T.sblock("S"):
            v = T.axis.spatial(5, i)
            S[v] = A[v] * 2
    for i in range(5):
        with T.sblock("B"):
            v = T.axis.spatial(5, i)
            T.reads(S[0:5], I[v])
            T.writes(B[v])
            B[v] = S[T.min(T.max(I[v], 0), 4)]
""",
    "matched_parts": """
def main(A: T.Buffer((4, 6), "int32"), B: T.Buffer((6, 4), "int32")):
    for i, j in T.grid(2, 2):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 2 : vi * 2 + 2, vj * 3 : vj * 3 + 3])
            T.writes(B[vj * 3 : vj * 3 + 3, vi * 2 : vi * 2 + 2])
            P = T.match_buffer(
                A[vi * 2 : vi * 2 + 2, vj * 3 : vj * 3 + 3], (2, 3), "int32",
                strides=("s", 1), offset_factor=1
            )
            Q = T.match_buffer(
                B[vj * 3 : vj * 3 + 3, vi * 2 : vi * 2 + 2], (3, 2), "int32",
                strides=("t", 1), offset_factor=1
            )
            for x, y in T.grid(2, 3):
                Q[y, x] = P[x, y] + x * 10 + y
""",
    "pipeline": """
def main(A: T.Buffer((6, 3), "int32"), B: T.Buffer((6, 3), "int32")):
    for i in T.serial(6, annotations={"software_pipeline_stage": [0, 1], "software_pipeline_order": [0, 1]}):
        with T.sblock("body"):
            T.reads(A[i, 0:3])
            T.writes(B[i, 0:3])
            S = T.sblock_alloc_buffer((3,), "int32")
            for j in range(3):
                with T.sblock("S"):
                    T.reads(A[i, j])
                    T.writes(S[j])
                    S[j] = A[i, j] * 2
            for j in range(3):
                with T.sblock("B"):
                    T.reads(S[2 - j])
                    T.writes(B[i, j])
                    B[i, j] = S[2 - j] + i
""",
    "pipeline_three": """
def main(A: T.Buffer((5, 2), "int32"), B: T.Buffer((5, 2), "int32")):
    for i in T.serial(5, annotations={"software_pipeline_stage": [0, 1, 3], "software_pipeline_order": [2, 0, 1]}):
        with T.sblock("body"):
            T.reads(A[i, 0:2])
            T.writes(B[i, 0:2])
            S = T.sblock_alloc_buffer((2,), "int32")
            R = T.sblock_alloc_buffer((2,), "int32")
            for j in range(2):
                with T.sblock("S"):
                    T.reads(A[i, j])
                    T.writes(S[j])
                    S[j] = A[i, j] + 1
            for j in range(2):
                with T.sblock("R"):
                    T.reads(S[1 - j])
                    T.writes(R[j])
                    R[j] = S[1 - j] * 2
            for j in range(2):
                with T.sblock("B"):
                    T.reads(R[j])
                    T.writes(B[i, j])
                    B[i, j] = R[j] - i
""",
    "double_buffer": """
def main(A: T.Buffer((4, 3), "int32"), B: T.Buffer((4, 3), "int32")):
    for i in range(4):
        with T.sblock("outer"):
            vi = T.axis.spatial(4, i)
            C = T.sblock_alloc_buffer((3,), "int32", scope="shared")
            for j in range(3):
                with T.sblock("C"):
                    v = T.axis.spatial(3, j)
                    T.sblock_attr({"double_buffer_scope": 0})
                    C[v] = A[vi, v] + 1
            for j in range(3):
                with T.sblock("B"):
                    v = T.axis.spatial(3, j)
                    B[vi, v] = C[2 - v] * 2
""",
    "virtual_threads": """
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32")):
    for v in T.thread_binding(2, thread="vthread.x"):
        C = T.alloc_buffer((3,), "int32")
        for j in range(3):
            C[j] = A[v * 3 + j] + v
        for j in range(3):
            if j + v > 1:
                B[v * 3 + j] = C[2 - j]
            else:
                B[v * 3 + j] = C[j] * 2
""",
    "assumed": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    C = T.sblock_alloc_buffer((8,), "int32")
    for i in range(8):
        with T.sblock("C"):
            v = T.axis.spatial(8, i)
            C[v] = T.if_then_else(v < 6, A[v], 0)
    for i in range(8):
        with T.sblock("assumption"):
            v = T.axis.spatial(8, i)
            T.evaluate(T.assume(v < 6 or C[v] == 0))
    for i in range(8):
        with T.sblock("B"):
            v = T.axis.spatial(8, i)
            B[v] = T.if_then_else(v < 6, C[v] + 1, 1)
""",
    "asserted": """
def main(A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")):
    for i in range(4):
        assert i < 4, "inside"
        B[i] = A[i] + T.if_then_else(n > i, n - i, 0)
""",
    "shadowed": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = 0
    for i in range(2):
        x: T.int32 = A[i] + 1
        B[i] = x * x
    for i in range(2):
        x: T.int32 = A[i + 2] + 2
        y: T.int32 = x + A[i]
        B[i + 2] = (x + y) * (x + y) + T.if_then_else(y > 0, x + y, x * 3)
""",
    "same_twice": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(4):
        B[i] = A[i * 2 % 8] + A[i * 2 % 8 + 1] * (i * 2 % 8)
        B[i + 4] = B[i] + A[i * 2 % 8] + (i * 2 % 8 + 1) * A[i]
        A[i * 2 % 8] = B[i + 4]
""",
    "stepped": """
def main(A: T.Buffer((9,), "int32"), B: T.Buffer((9,), "int32")):
    for i in range(9):
        B[i] = 0
    for i in T.serial(1, 8, step=3):
        B[i] = A[i] + i
        for j in T.serial(i, 9, step=2):
            B[j] = B[j] + 1
""",
    "reduced_with_init": """
def main(A: T.Buffer((3, 7), "int32"), B: T.Buffer((3,), "int32")):
    for i, k, l in T.grid(3, 4, 2):
        with T.sblock("B"):
            vi = T.axis.spatial(3, i)
            vk, vl = T.axis.remap("RR", [k, l])
            T.where(k * 2 + l < 7)
            with T.init():
                B[vi] = vi * 10
            B[vi] = B[vi] + A[vi, vk * 2 + vl]
""",
    "undefined_store": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = A[i]
        B[i] = T.if_then_else(i < 2, B[i] * 2, B[i])
""",
}
