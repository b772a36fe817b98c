"""Functions with lanes, loops to unroll, extreme integers and indices."""

from collections.abc import Mapping

ARITHMETIC: Mapping[str, str] = {
    "lanes": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(2):
        for j in T.vectorized(4):
            B[i * 4 + j] = T.Select(A[i * 4 + j] > j, A[7 - i * 4 - j], A[j * 2 % 8] - i)
""",
    "lanes_condition": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        B[i] = 3
    for i in range(2):
        for j in T.vectorized(4):
            if A[i * 4 + j] > 0:
                B[i * 4 + j] = A[i * 4 + j] * 2
            else:
                B[i * 4 + j] = j
""",
    "lanes_order": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for j in T.vectorized(4):
        B[j] = A[j]
        B[j + 4] = B[j] + A[j + 4]
        B[j] = B[j + 4] * 2
""",
    "lanes_broadcast": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(2):
        for j in T.vectorized(4):
            B[i * 4 + j] = A[i] + T.Cast("int32", T.Cast("int8", A[i * 4 + j])) + j // 2 + j % 2
""",
    "lanes_let": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for j in T.vectorized(8):
        x: T.int32 = A[j] + j
        y: T.int32 = T.max(x, 3)
        B[j] = T.if_then_else(j < 5, x * y, y - x)
""",
    "lanes_inner": """
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for j in T.vectorized(4):
        B[j] = 0
        B[j + 4] = 1
        for k in range(j + 1):
            B[j] = B[j] + A[k]
        for k in range(3):
            B[j + 4] = B[j + 4] + A[j + k]
""",
    "lanes_bool": """
def main(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "bool"), B: T.Buffer((8,), "bool")):
    for j in T.vectorized(8):
        B[j] = (A[j] > 2 and P[j]) or (not P[7 - j])
""",
    "lanes_float": """
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32")):
    for j in T.vectorized(4):
        B[j] = T.Cast("int32", T.min(T.max(A[j], T.float32(-9)), T.float32(9))) - j
        B[7 - j] = T.Cast("int32", A[j] < A[7 - j])
""",
    "lanes_parity": """
def main(A: T.Buffer((12,), "int32"), B: T.Buffer((12,), "int32")):
    for i in range(3):
        for j in T.vectorized(4):
            B[i * 4 + j] = A[(i * 4 + j) // 3 * 3 + (j + i) % 3] + (i * 4 + j - 6) // 4 + (i * 4 + j - 6) % 4
""",
    "lanes_while": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for j in T.vectorized(4):
        B[j] = A[j] % 5
        while B[j] < 3:
            B[j] = B[j] + 2
""",
    "unrolled": """
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32")):
    for i in T.unroll(1, 4):
        x: T.int32 = A[i] + i
        for j in range(i, 6):
            B[j] = x * j
    B[0] = 3
""",
    "unrolled_allocation": """
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32")):
    for i in T.unroll(2):
        C = T.alloc_buffer((3,), "int32")
        for j in range(3):
            C[j] = A[i * 3 + j] + i
        for j in range(3):
            B[i * 3 + j] = C[2 - j]
""",
    "never": """
def main(A: T.Buffer((4,), "int32"), n: T.int32, B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = 2
    for i in range(n):
        if A[0] > 1:
            B[i % 4] = A[i % 4]
    for i in range(2, 2):
        B[i] = 100
""",
    "extremes": """
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.Cast("int32", A[i] > -2147483647) + T.Cast("int32", T.max(A[i], -2147483648) < 2147483647)
        B[i] = B[i] + T.min(T.max(A[i], 0 - i), 2147483647) % 7 + T.Cast("int32", A[i] // 2 > 1073741822)
""",
    "wide": """
def main(A: T.Buffer((4,), "int64"), B: T.Buffer((4,), "int64")):
    for i in T.serial(T.int64(0), T.int64(4)):
        B[i] = i * T.int64(1073741824) * T.int64(4) + A[i] % T.int64(1000)
        if i * T.int64(2147483647) > T.int64(2147483647):
            B[i] = B[i] - i
""",
    "wide_index": """
def main(A: T.Buffer((4,), "int64"), B: T.Buffer((4,), "int64")):
    for i in T.serial(T.int64(0), T.int64(4)):
        B[i] = A[(i * T.int64(3000000000) + T.int64(1)) % T.int64(4)]
        B[i] = B[i] + T.Cast("int64", T.Cast("int32", i) * 7)
""",
    "wide_condition": """
def main(A: T.Buffer((4,), "int32"), n: T.int64, B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = 0
        if T.Cast("int64", i) + n < T.int64(3000000000):
            B[i] = A[i]
        if T.Cast("int64", A[i]) + T.int64(2147483647) > T.int64(2147483650):
            B[i] = B[i] + 100
""",
    "bytes": """
def main(A: T.Buffer((4,), "uint8"), C: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.Cast("int32", A[i] + T.uint8(200)) + T.Cast("int32", C[i] - T.int8(100)) * 3
        B[i] = B[i] + T.Cast("int32", A[i] * A[i]) - T.Cast("int32", T.Cast("uint8", C[i]))
""",
    "quotients": """
def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    for i in range(5):
        B[i] = (A[i] * 6 + 4) // 3 - (A[i] * 6 + 4) % 4 + T.floordiv(i * 4 - 7, 6) * 5 + T.floormod(3 - i * 2, 5)
        B[i] = B[i] + T.truncdiv(i - 3, 2) * 3 - T.truncmod(3 - i * 3, 4)
""",
    "split_pattern": """
def main(A: T.Buffer((24,), "int32"), B: T.Buffer((24,), "int32")):
    for i, j, k in T.grid(2, 3, 4):
        B[(i * 12 + j * 4 + k) // 6 * 6 + (i * 12 + j * 4 + k) % 6] = A[(i * 3 + j) // 2 * 8 + (i * 3 + j) % 2 * 4 + k]
""",
    "reversed_index": """
def main(A: T.Buffer((12,), "int32"), B: T.Buffer((12,), "int32")):
    for i, j in T.grid(4, 3):
        B[(3 - i) * 3 + 2 - j] = A[(11 - i * 3 - j) // 2] + A[(i * 5 + j * 7 + 3) % 12]
""",
    "floats": """
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        x: T.float32 = T.if_then_else(A[i] > T.float32(0), T.float32(1) / A[i], A[i] * T.float32(0.5))
        B[i] = x - T.max(A[i], T.float32(2))
""",
    "float_to_integer": """
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.Select(A[i] < T.float32(100) and A[i] > T.float32(-100), T.Cast("int32", A[i]), 0)
""",
}
