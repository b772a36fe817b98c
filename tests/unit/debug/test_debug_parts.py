"""Parts of the debugger by themselves: completion, snapshots under a budget, tensors in numbers, texts for programs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import refmlc
from refmlc.debug import Moment, Program, Reason, Session
from refmlc.debug.expressions import element, prepare
from refmlc.debug.program import PRINTED
from refmlc.debug.snapshots import SnapshotRate, save
from refmlc.debug.tensors import element as element_of, page, put, region, statistics
from refmlc.debug.terminal import completions
from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.lang.ir import tir
from refmlc.run.memory.pointer import Pointer, SpaceAddress
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

BOUND = st.none() | st.integers(0, 7)
GOLDEN = Path(__file__).parents[2] / "golden" / "debug"


def gemm(**options: object) -> Session:
    module = refmlc.read_file(GOLDEN / "gemm.py")
    arguments = [np.ones((4, 8), "float32"), np.ones((8, 4), "float32"), Tensor.empty((4, 4), FLOAT32)]
    return Session(Program(module, "gemm", arguments), **options)  # type: ignore[arg-type]


class TestCompletion:
    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("backt", ["backtrace"]),
            ("rc", ["rcontinue", "rc"]),
            ("catch un", ["undefined"]),
            ("help wat", ["watch"]),
            ("b ge", ["gemm"]),
            ("p v", ["vi", "vj", "vk"]),
            ("p C[v", ["C[vi", "C[vj", "C[vk"]),
            ("it ", ["k", "j", "i"]),
            ("quit x", []),
            ("nonsense x", []),
        ],
    )
    def test_words(self, line: str, words: list[str]) -> None:
        with gemm() as session:
            session.start()
            session.step_in(5)
            assert completions(session, line) == words

    def test_bindings_and_blocks_are_places(self) -> None:
        module = refmlc.read_file(GOLDEN / "undefined.py")
        with Session(Program(module, "main", [np.ones(4, "float32")])) as session:
            assert completions(session, "b ") == ["shifted", "main", "multiply", "B", "y", "z", "T_multiply"]


class TestSnapshots:
    def test_memory_stays_within_its_budget_and_moments_stay_exact(self) -> None:
        # of 64 bytes of C and its 16 units 80 are another copy each time; A and B are shared
        with gemm(snapshot_bytes=1000, snapshot_rate=SnapshotRate(10, 0.0, adapts=False)) as session:
            session.start()
            session.resume()
            count, nbytes = session.snapshots
            assert 1 < count < 30
            assert nbytes <= 1000
            for step in (200, 100, 250, 7):
                session.goto(Moment(1, step))
                assert session.step_back().moment == Moment(1, step - 1)

    def test_a_register_holds_again_what_has_no_number(self) -> None:
        storage = Storage(8, unit=8)
        address = SpaceAddress(Pointer(Storage(4)))
        storage.hold(0, 8, address)
        before = save(storage, None)
        assert save(storage, before) is before
        storage.let_go(0, 8)
        assert save(storage, before) is not before
        before.restore(storage)
        assert storage.held_at(0, 8) is address

    def test_a_moment_that_is_not_there_is_the_end(self) -> None:
        with gemm() as session:
            session.start()
            assert session.goto(Moment(1, 10_000)).reason is Reason.ENDED


class TestTensors:
    def test_numbers_are_those_of_numpy(self) -> None:
        values = np.array([[1.5, -2, np.nan], [np.inf, 4, -np.inf]], "float32")
        found = statistics(Tensor.from_numpy(values))
        assert (found.count, found.initialised, found.nan, found.inf) == (6, 6, 1, 2)
        assert (found.least, found.greatest) == (-2.0, 4.0)
        assert found.mean == pytest.approx(3.5 / 3)

    def test_what_is_not_initialised_does_not_count(self) -> None:
        tensor = Tensor.empty((2, 2), INT32)
        assert statistics(tensor).mean is None
        put(tensor, (1, 0), 7)
        assert page(tensor).values == (None, None, 7, None)
        assert page(tensor, 2, 1).indices == ((1, 0),)
        assert (statistics(tensor).initialised, statistics(tensor).least) == (1, 7.0)

    def test_strides_are_followed(self) -> None:
        whole = np.arange(12, dtype="float32").reshape(3, 4)
        tensor = Tensor.from_numpy(whole[:, ::2])
        assert page(tensor).values == tuple(whole[:, ::2].reshape(-1).tolist())
        assert statistics(tensor).greatest == 10.0

    @given(st.data())
    def test_a_region_is_what_numpy_selects(self, data: st.DataObject) -> None:
        shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
        whole = np.arange(np.prod(shape), dtype="float32").reshape(shape)[..., :: data.draw(st.integers(1, 2))]
        axes = tuple(
            data.draw(st.integers(0, extent - 1) | st.builds(slice, BOUND, BOUND, st.none() | st.integers(1, 3)))
            for extent in whole.shape[: data.draw(st.integers(1, len(shape)))]
        )
        part, taken = region(Tensor.from_numpy(whole), axes)
        assert np.array_equal(part.numpy(), whole[axes])
        assert np.array_equal(
            whole[np.ix_(*([axis] if isinstance(axis, int) else axis for axis in taken))].ravel(), whole[axes].ravel()
        )

    @pytest.mark.parametrize("axes", [(5,), (slice(-1, None),), (slice(None, None, -1),), (0, 0, slice(None))])
    def test_what_selects_nothing_is_refused(self, axes: tuple[int | slice, ...]) -> None:
        with pytest.raises(RefmlcError, match="RM112"):
            region(Tensor.empty((2, 2), FLOAT32), axes)

    @pytest.mark.parametrize("index", [(2, 0), (0,), (-1, 0), (0, 0, 0)])
    def test_there_are_no_other_elements(self, index: tuple[int, ...]) -> None:
        with pytest.raises(RefmlcError, match="is out of bounds"):
            element_of(Tensor.empty((2, 2), FLOAT32), index)


class TestExpressions:
    def test_a_name_is_what_is_given_for_it(self) -> None:
        var = tir.Var("n", INT32)
        made = prepare("n * 2 + 1", {"n": var})
        assert made.value({var: 20}) == 41

    def test_an_overflow_is_one(self) -> None:
        var = tir.Var("n", INT32)
        with pytest.raises(RefmlcError, match="RM306"):
            prepare("n + n", {"n": var}).value({var: 2**31 - 1})

    @pytest.mark.parametrize(
        "text", ["", "import os", "a = 1", "1; 2", "__import__('os').system('true')", "[x for x in y]"]
    )
    def test_nothing_else_is_read(self, text: str) -> None:
        with pytest.raises(RefmlcError):
            prepare(text, {})

    def test_regions(self) -> None:
        found = element("C[1, 0:3]", int)
        assert found.holds((1, 2))
        assert not found.holds((1, 3))
        assert not found.holds((1,))
        assert str(found) == "C[1, 0:3]"
        assert found.single is None
        assert element("C", int).holds((5, 5))

    @pytest.mark.parametrize("text", ["C[1:]", "C[0:4:2]", "f(1)", "C[1.5]"])
    def test_what_is_no_region(self, text: str) -> None:
        with pytest.raises((RefmlcError, ValueError)):
            element(text, int)


class TestPrograms:
    def test_operators_become_functions_with_text(self) -> None:
        module = refmlc.read_file(GOLDEN / "undefined.py")
        program = Program(module, "main", [np.ones(4, "float32")])
        assert set(program.module.functions) == {"shifted", "main", "multiply"}
        assert PRINTED in program.sources
        assert program.module.functions["multiply"].span is not None

    def test_a_module_without_text_gets_one(self) -> None:
        func = tir.PrimFunc((), {}, tir.Evaluate(tir.IntImm(INT32, 0)))
        program = Program(refmlc.lang.ir.IRModule({"f": func}), "f")
        with Session(program) as session:
            stop = session.start()
            assert stop.span is not None
            assert stop.span.source.name == PRINTED
            assert session.resume().reason is Reason.ENDED

    @pytest.mark.parametrize("func", ["nothing", "main"])
    def test_what_cannot_be_run_is_refused(self, func: str) -> None:
        module = refmlc.read_file(GOLDEN / "undefined.py")
        with pytest.raises(RefmlcError):
            Program(module, func, [np.ones(5, "float32")])
