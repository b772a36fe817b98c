"""Input files: every format, and every way in which one can be broken, ends in an array or in one message."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save_file

from refmlc.diag import Exhausted, Malformed, Unsupported
from refmlc.run.memory.files import content, numpy_files, read_array, read_arrays, read_idx
from refmlc.run.memory.files.safetensors_files import read_safetensors

IDX = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def idx_bytes(code, array):
    header = struct.pack(f">HBB{array.ndim}I", 0, code, array.ndim, *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def refused(read, path, code, *words):
    kind = {"RM109": Malformed, "RM504": Unsupported, "RM603": Exhausted}[code]
    with pytest.raises(kind) as failure:
        read(path)
    assert failure.value.code.id == code
    for word in (path.name, *words):
        assert word in str(failure.value)


# ------------------------------------------------------------------------------------------------ IDX


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", IDX)
def test_idx_of_every_dtype(tmp_path, name, packed):
    array = (np.arange(24) - 8).astype(name).reshape(2, 3, 4)
    data = idx_bytes(IDX[name], array)
    path = write(tmp_path, "images-ubyte" + (".gz" if packed else ""), gzip.compress(data) if packed else data)
    for read in (read_idx, read_array):
        found = read(path)
        assert found.dtype == np.dtype(name)
        assert found.dtype.isnative
        assert found.tolist() == array.tolist()


def test_idx_without_axes_or_elements(tmp_path):
    assert read_idx(write(tmp_path, "a.idx", b"\0\0\x08\0\x07")).tolist() == 7
    assert read_idx(write(tmp_path, "b.idx", b"\0\0\x08\1\0\0\0\0")).shape == (0,)
    assert read_idx(str(tmp_path / "b.idx")).shape == (0,)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "begins with nothing"),
        (b"\0\0", "not an IDX file: it begins with 00 00"),
        (b"PK\3\4", "50 4b 03 04"),
        (b"\0\0\x0a\1\0\0\0\1\0", "not an IDX file"),
        (b"\0\1\x08\1\0\0\0\1\0", "not an IDX file"),
        (b"\0\0\x08\3\0\0\0\1\0", "ends within its 3 extents"),
        (b"\0\0\x08\1\0\0\0\3ab", "takes 3 bytes, 2 follow"),
        (b"\0\0\x0d\1\0\0\0\1abcde", "takes 4 bytes, 5 follow"),
    ],
)
def test_idx_that_is_none(tmp_path, data, words):
    refused(read_idx, write(tmp_path, "x.idx", data), "RM109", words)


def test_idx_that_claims_too_much(tmp_path):
    refused(read_idx, write(tmp_path, "x.idx", b"\0\0\x0e\2" + b"\xff" * 8), "RM603")


def test_gzip_that_is_damaged(tmp_path):
    whole = gzip.compress(b"\0\0\x08\1\0\0\0\1a" * 50)
    refused(read_idx, write(tmp_path, "x.idx.gz", whole[:20]), "RM109")
    refused(read_idx, write(tmp_path, "x.idx.gz", whole[:12] + b"\xff\xff" + whole[14:]), "RM109")


def test_gzip_that_grows_without_end(tmp_path, monkeypatch):
    path = write(tmp_path, "x.idx.gz", gzip.compress(bytes(10_000)))
    with pytest.raises(Exhausted) as failure:
        content.read_bytes(path, limit=1000)
    assert failure.value.code.id == "RM603"
    assert len(content.read_bytes(path)) == 10_000


def test_files_that_cannot_be_read(tmp_path):
    refused(read_idx, tmp_path / "missing.idx", "RM109", "No such file")
    (tmp_path / "folder.npy").mkdir()
    refused(read_array, tmp_path / "folder.npy", "RM109", "Is a directory")
    refused(read_arrays, tmp_path / "missing.npz", "RM109", "No such file")


# ------------------------------------------------------------------------------------------------ NumPy


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.zeros((0, 3), np.int8),
        np.array(True),
        np.arange(3, dtype=">i2"),
    ],
)
def test_npy(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    found = read_array(tmp_path / "x.npy")
    assert found.tolist() == array.tolist()
    assert found.shape == array.shape
    assert found.dtype == array.dtype
    assert found.flags.writeable


def test_npy_of_version_2(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.arange(3), version=(2, 0))
    assert read_array(write(tmp_path, "x.npy", stream.getvalue())).tolist() == [0, 1, 2]


def npy(header, body=b"", version=b"\1\0"):
    text = header.encode()
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + body


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "begins with nothing"),
        (b"hello world", "68 65 6c 6c 6f 20"),
        (b"\x93NUMPY", "damaged"),
        (b"\x93NUMPY\7\0", "damaged"),
        (b"\x93NUMPY\3\0\4\0\0\0{}  ", "version 3.0"),
        (npy("{'descr': '<f4'"), "damaged"),
        (npy("__import__('os').system('true')"), "damaged"),
        (npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n", b"12345678"), "Python objects"),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n", b"1234"), "needs 8 bytes"),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n", bytes(9)), "9 are there"),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}\n"), "needs 4000000000000 bytes"),
    ],
)
def test_npy_that_is_none(tmp_path, data, words):
    refused(read_array, write(tmp_path, "x.npy", data), "RM109", words)


def test_objects_in_npy_are_not_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(read_array, tmp_path / "x.npy", "RM109", "Python objects")


def test_npz(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", w0=np.eye(2), b=np.float32(3))
    found = read_arrays(tmp_path / "x.npz")
    assert list(found) == ["w0", "b"]
    assert found["w0"].tolist() == [[1, 0], [0, 1]]
    assert found["b"].dtype == np.float32


def test_one_array_of_a_file_with_names(tmp_path):
    np.savez(tmp_path / "one.npz", x=np.arange(2))
    assert read_array(tmp_path / "one.npz").tolist() == [0, 1]
    np.savez(tmp_path / "two.npz", x=np.arange(2), y=np.arange(3))
    refused(read_array, tmp_path / "two.npz", "RM109", "holds 2: x, y")


def test_npz_that_is_none(tmp_path):
    refused(read_arrays, write(tmp_path, "x.npz", b"PK\3\4 no"), "RM109")
    with zipfile.ZipFile(tmp_path / "y.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    refused(read_arrays, tmp_path / "y.npz", "RM109", "readme.txt")
    np.savez(tmp_path / "z.npz", x=np.arange(100))
    data = bytearray((tmp_path / "z.npz").read_bytes())
    data[200] ^= 0xFF
    refused(read_arrays, write(tmp_path, "z.npz", bytes(data)), "RM109")


def test_npz_that_grows_without_end(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(10_000))
    monkeypatch.setattr(numpy_files, "MAX_BYTES", 50_000)
    refused(read_arrays, tmp_path / "x.npz", "RM603")


# ------------------------------------------------------------------------------------------------ others


def test_safetensors(tmp_path):
    arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([True, False]), "e": np.zeros((0, 2))}
    save_file(arrays, tmp_path / "x.safetensors")
    found = read_arrays(tmp_path / "x.safetensors")
    assert {name: array.tolist() for name, array in found.items()} == {n: a.tolist() for n, a in arrays.items()}
    assert all(found[name].dtype == arrays[name].dtype for name in arrays)


def test_safetensors_of_bfloat16(tmp_path):
    header = b'{"x":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    data = struct.pack("<Q", len(header)) + header + b"\x80\x3f\x00\xc0"
    found = read_arrays(write(tmp_path, "x.safetensors", data))["x"]
    assert found.astype(float).tolist() == [1, -2]


def test_safetensors_that_are_none(tmp_path):
    refused(read_arrays, write(tmp_path, "x.safetensors", b"no"), "RM109", "not a safetensors file")
    header = b'{"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}'
    data = struct.pack("<Q", len(header)) + header + bytes(8)
    refused(read_arrays, write(tmp_path, "y.safetensors", data), "RM109")


def test_safetensors_need_their_package(tmp_path, monkeypatch):
    path = write(tmp_path, "x.safetensors", b"")

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("refmlc.run.memory.files.safetensors_files.importlib.import_module", missing)
    refused(read_safetensors, path, "RM504", "not installed")


def test_names_choose_the_format(tmp_path):
    refused(read_arrays, write(tmp_path, "x.txt", b""), "RM109", "no format", ".npz")
    refused(read_array, tmp_path / "x.txt", "RM109")
    np.save(tmp_path / "x.npy", np.arange(2))
    refused(read_arrays, tmp_path / "x.npy", "RM109", "holds one without a name")
    (tmp_path / "X.NPY").write_bytes((tmp_path / "x.npy").read_bytes())
    assert read_array(str(tmp_path / "X.NPY")).tolist() == [0, 1]
    packed = write(tmp_path, "y.npy.gz", gzip.compress((tmp_path / "x.npy").read_bytes()))
    assert read_array(packed).tolist() == [0, 1]
