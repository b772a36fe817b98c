"""For each code what ends in it, and how it reads corrected: Markdown for `refmlc explain`."""

from refmlc.diag.examples_run import ADVICE, RUN
from refmlc.diag.examples_text import TEXT

EXAMPLES: dict[str, str] = {
    name: f"Instead of\n\n```python\n{wrong}\n```\n\nwrite\n\n```python\n{right}\n```"
    for name, (wrong, right) in (TEXT | RUN).items()
} | {name: f"For example\n\n```python\n{program}\n```\n\n{advice}" for name, (program, advice) in ADVICE.items()}
