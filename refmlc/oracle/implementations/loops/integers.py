"""Integer operators that Python lacks. They take and return ints; the caller wraps the result."""

WIDE = 64  # the counts of a fixed-point multiplication are below


def truncdiv(a: int, b: int) -> int:
    """The quotient, rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def truncmod(a: int, b: int) -> int:
    """The remainder of it, which has the sign of `a`."""
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def shifted_left(a: int, b: int, bits: int) -> int:
    """`a` times 2**b. Fails: OverflowError if `b` is not a shift count: Python would allocate gigabytes."""
    return a << _count(b, bits)


def shifted_right(a: int, b: int, bits: int) -> int:
    """`a` by 2**b, rounded down. Fails: OverflowError if `b` is not a shift count."""
    return a >> _count(b, bits)


def _count(b: int, bits: int) -> int:
    if not 0 <= b < bits:
        raise OverflowError(f"{b} is not a shift count for {bits} bits")
    return b


def ones(a: int, bits: int) -> int:
    """The ones among the lowest `bits` bits."""
    return (a % (1 << bits)).bit_count()


def leading_zeros(a: int, bits: int) -> int:
    """The zeros above the highest one of `bits` bits."""
    return bits - (a % (1 << bits)).bit_length()


def scaled(x: int, y: int, q: int, shift: int) -> int:
    """X * y * 2**(shift - q) to the nearest integer, of two the greater. Fails: OverflowError."""
    down = _count(q, WIDE) - shift
    _count(abs(down), 2 * WIDE)
    return x * y << -down if down <= 0 else (x * y + (1 << (down - 1))) >> down


def scaled_per_axis(x: int, y: int, left: int, right: int, q: int, shifts_left: int, _shifts_right: int) -> int:
    """The same with a shift to the left where its flag says so, and one to the right."""
    return scaled(x, y, q + right, left if shifts_left else 0)
