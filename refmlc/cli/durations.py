"""Durations on the command line: `90`, `90s`, `10m`, `2h`. Units: seconds."""

import re

import click

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
PATTERN = re.compile(r"^(\d+(?:\.\d+)?)(s|m|h|)$")


class Duration(click.ParamType[float]):
    """A positive number of seconds, minutes or hours."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The duration in seconds."""
        if isinstance(value, int | float):
            return float(value)
        found = PATTERN.match(str(value))
        if found is None or float(found[1]) == 0:
            self.fail(f"`{value}` is no duration: write 90s, 10m or 2h", param, ctx)
        return float(found[1]) * UNITS[found[2]]
