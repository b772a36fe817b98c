"""Functions with conditions: on values that change, on a part of a loop; what is stored twice."""

from collections.abc import Mapping

CONDITIONS: Mapping[str, str] = {
    "condition_changes": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    B[0] = 0
    for i in range(4):
        if B[0] < 5:
            B[0] = B[0] + A[i]
    for i in range(1, 4):
        B[i] = B[0] + i
""",
    "condition_outside": """
def main(A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = 1
    for i in range(4):
        for j in range(3):
            if n > 2:
                B[i] = B[i] + A[j]
            if i + j > 3:
                B[i] = B[i] * 2
""",
    "guarded_quotient": """
def main(A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = 0
        if n != 0:
            B[i] = A[i] // n + A[i] // n * 3
        else:
            B[i] = A[i]
""",
    "guarded_load": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.if_then_else(i > 0, A[i - 1] * 3 + A[i - 1] * 3, 7) + T.if_then_else(i < 3, A[i + 1] * 3, 5)
""",
    "knowns": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        A[i] = i
    for i in range(4):
        if A[i] == i:
            B[i] = 1
        else:
            B[i] = 2
    A[1] = 5
    for i in range(4):
        if A[i] == 5:
            B[i] = B[i] + 10
""",
    "knowns_of_loop": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    B[0] = 0
    B[1] = 0
    B[2] = 0
    B[3] = 0
    for i in range(4):
        if B[0] == 0:
            B[3] = B[3] + A[i]
        B[0] = i % 2
    if B[0] == 0:
        B[1] = 9
""",
    "overwritten_stores": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = 3
    for i in range(3):
        B[i + 1] = B[i] + A[i]
    for i in range(4):
        B[i] = B[i]
    for i in range(2):
        B[i * 2] = A[i]
""",
    "overwritten_guarded": """
def main(A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = A[i] + 1
    for i in range(4):
        if i < n:
            B[i] = 7
    for i in range(4):
        B[3 - i] = B[3 - i] * 2
""",
    "parts": """
def main(A: T.Buffer((11,), "int32"), B: T.Buffer((11,), "int32")):
    for i in range(11):
        B[i] = 1
    for i, j in T.grid(4, 3):
        if T.likely(i * 3 + j < 11):
            B[i * 3 + j] = A[i * 3 + j] + T.Select(i * 3 + j < 5, 2, 4)
""",
    "parts_from": """
def main(A: T.Buffer((9,), "int32"), n: T.int32, B: T.Buffer((9,), "int32")):
    for i in range(9):
        B[i] = 0
    for i in range(2, 9):
        for j in range(3):
            if T.likely(i - j >= 1 and i - j < n):
                B[i] = B[i] + A[i - j] * (j + 1)
""",
    "parts_symbolic": """
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    B = T.match_buffer(b, (n,), "int32")
    for i, j in T.grid((n + 3) // 4, 4):
        if T.likely(i * 4 + j < n):
            B[i * 4 + j] = A[i * 4 + j] * 2
""",
    "parts_of_two": """
def main(A: T.Buffer((6, 5), "int32"), B: T.Buffer((6, 5), "int32")):
    for i in range(6):
        for j in range(5):
            if T.likely(i > 1):
                if T.likely(i + j < 7):
                    B[i, j] = A[i, j]
                else:
                    B[i, j] = 0 - A[i, j]
            else:
                B[i, j] = 7
""",
    "parts_nested_extent": """
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6, 6), "int32")):
    for i, j in T.grid(6, 6):
        B[i, j] = 5
    for i in range(6):
        for j in range(i, 6):
            if T.likely(j - i < 4):
                if T.likely(3 <= j + i):
                    B[i, j] = A[i, j] + A[i, i]
""",
    "parts_modulo": """
def main(A: T.Buffer((13,), "int32"), B: T.Buffer((13,), "int32")):
    for i in range(13):
        if T.likely(i % 4 < 3 and i // 4 < 3):
            B[i] = A[i] + 1
        else:
            B[i] = 0
""",
}
