"""The course's network in three generations of the language, whole, with library calls, and mixed, on one image."""

from pathlib import Path

import numpy as np
import pytest

from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read_file, show
from refmlc.tools.demo.runner import library, numpy_model, read_images, read_params
from refmlc.vm import VirtualMachine, bind_params, build

PROGRAMS = Path(__file__).parent.parent / "programs"
WHOLE = ("course_2022", "course_2023", "course_2023_printed", "course_027")
OTHERS = tuple(f"course_{generation}_{kind}" for generation in ("2022", "2023", "027") for kind in ("library", "mixed"))
ORDER = ("w0", "b0", "w1", "b1")


def scores(name: str, *, bound: bool = False) -> np.ndarray:
    """What `main` of a program gives on the first image."""
    module = read_file(PROGRAMS / f"{name}.py")
    params = read_params()
    if bound:
        module = bind_params(module, "main", params)
    main = VirtualMachine(build(module, registry=library()))["main"]
    image = read_images(None, None, 1).pixels.reshape(1, 784)
    return main(image, *(() if bound else (params[key] for key in ORDER))).numpy()


def expected() -> np.ndarray:
    return numpy_model(read_images(None, None, 1).pixels.reshape(1, 784), read_params())


def test_the_generations_agree_to_the_bit():
    first, *rest = (scores(name) for name in WHOLE)
    for other in rest:
        assert other.tobytes() == first.tobytes()
    np.testing.assert_allclose(first, expected(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", OTHERS)
def test_library_calls_agree_with_numpy(name):
    np.testing.assert_allclose(scores(name), expected(), rtol=1e-4, atol=1e-4)


def test_bound_parameters_change_nothing():
    assert scores("course_2022", bound=True).tobytes() == scores("course_2022").tobytes()
    assert scores("course_027_mixed", bound=True).tobytes() == scores("course_027_mixed").tobytes()


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("course_*.py")), ids=lambda path: path.stem)
@pytest.mark.parametrize("dialect", ["0.27", "2023", "2022"])
def test_they_are_shown_and_read_again(path, dialect, tmp_path):
    module = read_file(path)
    shown = tmp_path / "shown.py"
    shown.write_text(show(module, dialect=dialect), encoding="utf-8")
    assert structural_equal(module, read_file(shown))
