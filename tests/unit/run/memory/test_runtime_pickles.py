"""Pickles: arrays in plain containers come in, everything else is refused by name and never executed."""

import pickle
from collections import OrderedDict

import ml_dtypes
import numpy as np
import pytest

from refmlc.diag import Malformed
from refmlc.lang.dtypes.storage import ML_DTYPES
from refmlc.run.memory.files import read_array, read_arrays

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.pkl"


def refused(path, data, code, words):
    path.write_bytes(data)
    with pytest.raises(Malformed) as failure:
        read_arrays(path)
    assert failure.value.code.id == code
    assert words in str(failure.value)
    assert "x.pkl" in str(failure.value)


class Calls:
    """Pickles as a call of `function`."""

    def __init__(self, function, *args, state=None):
        self.function, self.args, self.state = function, args, state

    def __reduce__(self):
        return (self.function, self.args, self.state) if self.state is not None else (self.function, self.args)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_parameters_as_the_course_ships_them(path, protocol):
    params = {"w0": np.arange(6, dtype=np.float32).reshape(2, 3), "b0": np.zeros(2, np.float32)}
    path.write_bytes(pickle.dumps(params, protocol))
    found = read_arrays(path)
    assert list(found) == ["w0", "b0"]
    for name, array in found.items():
        assert type(array) is np.ndarray
        assert array.dtype == np.float32
        assert array.flags.writeable
        assert array.tolist() == params[name].tolist()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_every_dtype(path, protocol, name):
    path.write_bytes(pickle.dumps(np.array([0, 1, 1]).astype(name), protocol))
    found = read_array(path)
    assert found.dtype == np.dtype(name)
    assert found.tolist() == [0, 1, 1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "float4_e2m1fn"])
def test_dtypes_of_ml_dtypes(path, protocol, name):
    kind = np.dtype(getattr(ml_dtypes, name))
    path.write_bytes(pickle.dumps(np.array([1, 2]).astype(kind), protocol))
    found = read_array(path)
    assert found.dtype == kind
    assert found.astype(float).tolist() == [1, 2]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_orders_and_scalars(path, protocol):
    value = [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(3, dtype=">i4"),
        np.float32(2.5),
        np.zeros((0, 3), np.int8),
        np.arange(8)[::2],
        np.array(5, np.int16),
    ]
    path.write_bytes(pickle.dumps(value, protocol))
    found = list(read_arrays(path).values())
    assert [array.tolist() for array in found] == [array.tolist() for array in value]
    assert all(array.dtype.isnative and array.flags.c_contiguous for array in found)
    assert found[1].dtype == np.int32


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_containers(path, protocol):
    value = {
        "net": OrderedDict(weight=np.zeros(1), bias=np.ones(1)),
        "layers": [np.full(1, 2.0), (np.full(1, 3.0), "text", None, 1.5, True, b"bytes", b"")],
        3: np.full(1, 4.0),
        "set": {1, 2},
        "frozen": frozenset({3}),
    }
    path.write_bytes(pickle.dumps(value, protocol))
    found = {name: array.item() for name, array in read_arrays(path).items()}
    assert found == {"net.weight": 0, "net.bias": 1, "layers.0": 2, "layers.1.0": 3, "3": 4}


def test_numpy_1_named_its_modules_differently(path):
    for protocol in (2, 4):
        data = pickle.dumps({"a": np.arange(3, dtype=np.int64)}, protocol)
        if protocol == 2:
            old = data.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
        else:
            old = data.replace(b"\x8c\x16numpy._core.multiarray", b"\x8c\x15numpy.core.multiarray")
            old = old[:3] + (int.from_bytes(old[3:11], "little") - 1).to_bytes(8, "little") + old[11:]
        assert old != data
        path.write_bytes(old)
        assert read_arrays(path)["a"].tolist() == [0, 1, 2]


# What a pickle must not do. `mark` would be called by an unpickler that executes.


def mark(*_):
    raise AssertionError("the pickle was executed")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "`os.system`"),
        (b"cposix\nsystem\n(S'true'\ntR.", "`posix.system`"),
        (b"c__builtin__\neval\n(S'1'\ntR.", "`__builtin__.eval`"),
        (b"cbuiltins\ngetattr\n.", "`builtins.getattr`"),
        (b"cnumpy\nload\n(S'x'\ntR.", "`numpy.load`"),
        (b"cnumpy.core.multiarray\nfrombuffer\n.", "`numpy.core.multiarray.frombuffer`"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n.", "`torch._utils._rebuild_tensor_v2`"),
        (b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93.", "`builtins.exec`"),
        (b"\x80\x02cnumpy.core.multiarray\n_reconstruct.__globals__\n.", "_reconstruct.__globals__`"),
        (b"Pabc\n.", "persistent object 'abc'"),
        (b"(i__main__\nX\n.", "`__main__.X`"),
    ],
)
def test_names_are_refused_by_name(path, data, name):
    refused(path, data, "RM110", name)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_classes_and_functions_are_refused(path, protocol):
    refused(path, pickle.dumps(Calls(mark), protocol), "RM110", "mark`")
    refused(path, pickle.dumps([np.zeros(1), mark], protocol), "RM110", "mark`")
    refused(path, pickle.dumps(np.array([Calls(mark)], object), protocol), "RM110", "'O8'")
    refused(path, pickle.dumps(np.zeros(2, "f4,i4"), protocol), "RM110", "'V8'")
    refused(path, pickle.dumps(np.array(["a"]), protocol), "RM110", "'U1'")
    refused(path, pickle.dumps(np.array(["2020-01-01"], "M8[D]"), protocol), "RM110", "'M8'")
    refused(path, pickle.dumps(np.ma.masked_array([1]), protocol), "RM110", "numpy.ma")
    refused(path, pickle.dumps(Calls(np.dtype, mark), protocol), "RM110", "mark`")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ndarray, "`numpy.ndarray` as a value"),
        (np.dtype("f4"), "a value made of dtype"),
        (Calls(np.dtype, "O"), "the dtype 'O'"),
        (Calls(np.dtype, 3), "the dtype 3"),
        (Calls(np.dtype, "f4", state=(3, "?", None, None, None)), "the byte order '?'"),
        (Calls(np.dtype, "f4", state=(3, "<", None, ("a",), {})), "a dtype with fields"),
        (Calls(np.dtype, "f4", state=(3,)), "a dtype with fields"),
        (Calls(np._core.multiarray._reconstruct, int, (0,), b"b"), "__builtin__.long`"),
        (Calls(np._core.multiarray._reconstruct, "x", (0,), b"b"), "an array of kind 'x'"),
        (Calls(np._core.multiarray._reconstruct, ml_dtypes.int4, (0,), b"b"), "an array of kind `ml_dtypes.int4`"),
        (Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b", state=(1,)), "an unknown form"),
        (Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b"), "a value made of array"),
        (
            Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b", state=(1, (1,), None, False, b"")),
            "Python objects",
        ),
        (
            Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b", state=(1, [1], np.dtype("i1"), False, b"")),
            "an array of shape [1]",
        ),
        (
            Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b", state=(1, (-1,), np.dtype("i1"), 0, b"")),
            "an array of shape (-1,)",
        ),
        (Calls(np._core.multiarray.scalar, np.dtype("f4"), [1]), "Python objects"),
        (Calls(bytes, 10**12), "`bytes` with arguments"),
        (Calls(set, "abc"), "a set of str"),
        ({(1, 2): np.zeros(1)}, "a key of type tuple"),
        ({1 << 100: np.zeros(1)}, "a key of type int"),
        (Calls(pickle.codecs.encode, "a", "rot13"), "`_codecs.encode` to 'rot13'"),
    ],
)
def test_admitted_names_do_only_what_they_are_for(path, value, words):
    refused(path, pickle.dumps(value, 2), "RM110", words)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a readable pickle"),
        (b"garbage", "not a readable pickle"),
        (b"\x80\x04N", "not a readable pickle"),
        (b"\x80\xff.", "not a readable pickle"),
        (b".", "not a readable pickle"),
        (b"\x80\x04r\xff\xff\xff\x7f.", "memo cell 2147483647"),
        (b"\x80\x04]]a" + b"2a" * 3 + b".", "deeper than 100"),
        (pickle.dumps({"a": 1}), "holds no arrays"),
        (pickle.dumps([]), "holds no arrays"),
        (b"\x80\x02cnumpy\nndarray\n)R.", "not a readable pickle"),
        (b"\x80\x02cnumpy\nndarray\n)\x81.", "not a readable pickle"),
    ],
)
def test_pickles_that_are_none(path, data, words):
    refused(path, data, "RM109", words)


def test_bytes_and_shape_must_agree(path):
    state = (1, (3,), np.dtype("i2"), False, b"ab")
    value = Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b", state=state)
    refused(path, pickle.dumps(value, 4), "RM109", "2 bytes for shape (3,)")


@pytest.mark.parametrize(
    "state",
    [
        b"(c_codecs\nencode\nt",
        b"}U\x04makec_codecs\nencode\ns",
        b"N}U\x04makec_codecs\nencode\ns\x86",
        b"}U\x04nameU\x01xs",
    ],
)
@pytest.mark.parametrize("name", [b"numpy\ndtype", b"numpy\nndarray", b"_codecs\nencode"])
def test_a_pickle_cannot_change_what_the_next_one_means(path, name, state):
    refused(path, b"\x80\x02c" + name + b"\n" + state + b"b.", "RM110", "a change of what a name means")
    path.write_bytes(pickle.dumps(np.arange(2), 2))
    assert read_array(path).tolist() == [0, 1]


def test_containers_in_themselves_and_without_end(path, monkeypatch):
    inside = []
    inside.append(inside)
    refused(path, pickle.dumps(inside), "RM109", "deeper than 100")
    doubled = []
    for _ in range(40):
        doubled = [doubled, doubled]
    refused(path, pickle.dumps(doubled), "RM109", "more than 100000 items")


def test_deep_pickles(path):
    refused(path, b"(" * 100 + b"t" * 100 + b".", "RM109", "holds no arrays")
    refused(path, b"(" * 50_000 + b"t" * 50_000 + b".", "RM109", "deeper than 100")


def test_the_names_of_ml_dtypes_are_there():
    assert all(hasattr(ml_dtypes, name) for name in ML_DTYPES)
