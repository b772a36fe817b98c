"""The quick selection touches every room, and its files exist."""

from pathlib import Path

import pytest
from quick import FILES, MOST

TESTS = Path(__file__).parents[1]
ROOMS = {path.parent.name for path in (TESTS.parent / "refmlc").glob("*/__init__.py")}


def test_every_room_has_quick_tests():
    assert set(FILES) - {"the house"} == ROOMS


def test_the_files_exist_once():
    files = [name for names in FILES.values() for name in names]
    assert [name for name in files if not (TESTS / name).is_file()] == []
    assert len(files) == len(set(files))


class Item:
    """As much of pytest's item as the selection looks at."""

    def __init__(self, path):
        self.path = path
        self.is_quick = False

    def add_marker(self, _marker):
        self.is_quick = True


@pytest.mark.parametrize(("count", "marked"), [(1, 1), (MOST, MOST), (MOST + 1, MOST // 2 + 1), (10 * MOST, MOST)])
def test_of_each_file_at_most_so_many_are_quick(request, count, marked):
    conftest = request.config.pluginmanager.get_plugin(str(TESTS / "conftest.py"))
    listed, other = (TESTS / FILES["diag"][0], TESTS / "unit" / "test_other.py")
    items = [Item(listed) for _ in range(count)] + [Item(other)]
    conftest.mark_quick(items)
    assert sum(item.is_quick for item in items) == marked
    assert items[0].is_quick
    assert not items[-1].is_quick
