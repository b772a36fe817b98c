"""The output of the program: text that is printed again after going back is not written again."""

from collections.abc import Callable


class ProgramOutput:
    """Passes each text to `write` once. `printed`: the number of texts printed up to this position."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._written = 0
        self.printed = 0

    def __call__(self, text: str) -> None:
        """[run] Print a text."""
        self.printed += 1
        if self.printed > self._written:
            self._written = self.printed
            self._write(text)

    def rewind(self, printed: int) -> None:
        """Continue at a position up to which `printed` texts were printed."""
        self.printed = printed

    def diverge(self) -> None:
        """Write again whatever comes after this position: it belongs to another run."""
        self._written = self.printed

    def forget(self) -> None:
        """Write everything again from now on."""
        self._written = 0
