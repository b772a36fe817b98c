"""Matrices in shared memory as PTX's canonical layouts have them: the place of each element, and the bytes."""

from itertools import product

import numpy as np


def swizzled(place, chunks):
    """The place of a byte after the swizzle of rows of so many chunks: PTX's table, with 16 bytes in a chunk."""
    rows, within = divmod(place, 128)
    return rows * 128 + (within ^ (16 * (rows % chunks)))


def along_k(lines, k, nbytes, chunks):
    """The place of each element: lines of k in groups of 8; a row of the swizzle has `chunks` of 16 bytes."""
    row = 16 * chunks if chunks > 1 else 16
    places = {}
    for line, element in product(range(lines), range(k)):
        chunk, rest = divmod(element * nbytes, 16)
        if chunks == 1:  # blocks of 8 lines by 16 bytes; those of one line are 128 bytes apart, groups of lines 256
            places[line, element] = line // 8 * 256 + chunk * 128 + line % 8 * 16 + rest
        else:
            places[line, element] = swizzled(line * row + chunk * 16 + rest, chunks)
    return places


def across_k(lines, k, nbytes, chunks):
    """The same where elements of one k are beside each other."""
    places = {}
    for line, element in product(range(lines), range(k)):
        chunk, rest = divmod(line * nbytes, 16)
        if chunks == 1:  # blocks of 8 of k by 16 bytes; those of one k are 128 bytes apart
            places[line, element] = element // 8 * 128 * (lines * nbytes // 16) + chunk * 128 + element % 8 * 16 + rest
        else:
            block, inner = divmod(chunk, chunks)
            start = block * (k // 8) * 128 * chunks + element // 8 * 128 * chunks
            places[line, element] = swizzled(start + element % 8 * 16 * chunks + inner * 16 + rest, chunks)
    return places


def distances(lines, k, nbytes, chunks, *, turned):
    """The leading and the stride distance of these layouts, in units of 16 bytes."""
    if not turned:
        return (8, 16) if chunks == 1 else (1, 8 * chunks)
    if chunks == 1:
        return 8 * (lines * nbytes // 16), 8
    return k // 8 * 8 * chunks, 8 * chunks


def packed(matrix, places, size):
    """The bytes of a matrix in this layout."""
    memory = np.zeros(size, "uint8")
    nbytes = matrix.dtype.itemsize
    for place, start in places.items():
        memory[start : start + nbytes] = np.frombuffer(matrix[place].tobytes(), "uint8")
    return memory
