"""What chapters use of IPython: `IPython.display`; matplotlib asks it whether it runs in one."""

from . import display

__all__ = ["display", "get_ipython", "version_info"]

version_info = (8, 24, 0)


def get_ipython() -> None:
    """No interactive shell."""
