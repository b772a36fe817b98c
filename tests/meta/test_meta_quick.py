"""The quick selection touches every room, and its files exist."""

from pathlib import Path

from quick import FILES

TESTS = Path(__file__).parents[1]
ROOMS = {path.parent.name for path in (TESTS.parent / "refmlc").glob("*/__init__.py")}


def test_every_room_has_quick_tests():
    assert set(FILES) - {"the house"} == ROOMS


def test_the_files_exist_once():
    files = [name for names in FILES.values() for name in names]
    assert [name for name in files if not (TESTS / name).is_file()] == []
    assert len(files) == len(set(files))
