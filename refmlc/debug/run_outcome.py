"""The outcome of a run: the result, the failure of the program, or an exception that is a defect of refmlc."""

from refmlc.debug.session_data import Moment, Reason, Stop
from refmlc.diag import RefmlcError


class RunOutcome:
    """See the docstring of the module. `result`: the value that the function returned, None before."""

    def __init__(self) -> None:
        self.result: object = None
        self._failure: RefmlcError | None = None
        self._defect: Exception | None = None

    def reset(self) -> None:
        """A new run begins."""
        self.result, self._failure = None, None

    def returned(self, value: object) -> None:
        """[run] The function returned `value`."""
        self.result = value

    def failed(self, failure: RefmlcError) -> bool:
        """[run] The program failed; whether this failure is seen for the first time."""
        is_new = failure is not self._failure
        self._failure = failure
        return is_new

    def broke(self, defect: Exception) -> None:
        """[run] refmlc itself failed; the owner raises it, in the other thread."""
        self._defect = defect

    def raise_defect(self) -> None:
        """Raise the exception that is a defect of refmlc, if there is one."""
        if self._defect is not None:
            raise self._defect

    def stop(self, event: int, function: str) -> Stop:
        """The stop at the end of the program, after `event`."""
        moment = Moment(event + 1, 0)
        if self._failure is not None:
            diagnostic = self._failure.diagnostic
            return Stop(Reason.ENDED, moment, function, None, diagnostic.message, failure=diagnostic)
        return Stop(Reason.ENDED, moment, function)
