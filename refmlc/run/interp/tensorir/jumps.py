"""Jumps: `break`, `continue` and `return` are exceptions, so that code without jumps pays nothing for them."""


class Breaking(Exception):
    """Ends the innermost loop."""


class Continuing(Exception):
    """Ends the iteration of the innermost loop."""


class Returning(Exception):
    """Ends the function with `value`."""

    def __init__(self, value: object) -> None:
        """Carry the value to the call."""
        super().__init__()
        self.value = value


OF_A_THREAD = "a return in a loop over threads is not executed: on a machine it ends that thread alone"

JUMPS = (Breaking, Continuing, Returning)
