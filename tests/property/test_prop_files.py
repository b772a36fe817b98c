"""Damaged files of every format: an array or one finding, never anything else."""

import gzip
import io
import pickle
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.run.memory.files import read_array, read_arrays

ARRAYS = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([1, 2], np.int8)}


def npy():
    stream = io.BytesIO()
    np.save(stream, ARRAYS["w"])
    return stream.getvalue()


def npz():
    stream = io.BytesIO()
    np.savez_compressed(stream, **ARRAYS)
    return stream.getvalue()


def idx():
    return struct.pack(">HBB2I", 0, 8, 2, 2, 3) + bytes(range(6))


def safetensors():
    header = b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
    return struct.pack("<Q", len(header)) + header + ARRAYS["w"].tobytes()


FILES = {
    "x.npy": npy(),
    "x.npz": npz(),
    "x.idx": idx(),
    "x.idx.gz": gzip.compress(idx()),
    "x.safetensors": safetensors(),
    **{f"x{protocol}.pkl": pickle.dumps(ARRAYS, protocol) for protocol in range(6)},
}


@st.composite
def damaged(draw, data):
    """`data` with some bytes changed, cut out, doubled."""
    result = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(result) - 1, 0)))
        length = draw(st.integers(1, 8))
        match draw(st.sampled_from(("change", "cut", "double", "end"))):
            case "change":
                result[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case "cut":
                del result[at : at + length]
            case "double":
                result[at:at] = result[at : at + length]
            case "end":
                del result[at:]
    return bytes(result)


@pytest.mark.parametrize("name", FILES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_are_findings(name, tmp_path, data):
    path = tmp_path / name
    path.write_bytes(data.draw(damaged(FILES[name])))
    for read in (read_array, read_arrays):
        failure, found = outcome(read, path)
        if failure is not None:
            assert failure.code.id in {"RM109", "RM110", "RM603"}
            assert name in str(failure)
        for array in [found] if isinstance(found, np.ndarray) else found.values():
            assert isinstance(array, np.ndarray)
            assert not array.dtype.hasobject


def outcome(read, path):
    """The finding, or what was read."""
    try:
        return None, read(path)
    except RefmlcError as failure:
        return failure, {}


@pytest.mark.parametrize("name", FILES)
def test_whole_files_are_read(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = read_array(path) if name[1:5] in (".npy", ".idx") else read_arrays(path)["w"]
    assert found.tolist() in (ARRAYS["w"].tolist(), [[0, 1, 2], [3, 4, 5]])


@given(st.binary(max_size=60))
def test_any_bytes_as_a_pickle(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.pkl"
    path.write_bytes(data)
    with pytest.raises(RefmlcError):
        read_arrays(path)
