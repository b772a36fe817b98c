"""The course's chapters, as they are, run by refmlc: `python tests/e2e/course_table.py FOLDER… [--docs] [--excerpts]`.

Each FOLDER holds the chapters in one language, in folders of their own as in the repositories of the course. The table
is that of `refmlc course FOLDER`. `--docs` writes the tables of all folders into docs/how-to/use-in-a-notebook.md.
`--excerpts` prints every block that is called an excerpt, with the reason, for a reader who doubts it.
"""

import argparse
import sys
from pathlib import Path

from refmlc.cli.course import folder_reports, folder_table
from refmlc.tools.course.run import EXCERPT, RAN, SECONDS, read_document

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-in-a-notebook.md"
MARKS = ("<!-- course: written by tests/e2e/course_table.py --docs -->\n", "<!-- end of course -->")


def tables(folder, *, excerpts):
    """The table of a folder, and why blocks did not run, as Markdown."""
    reports = []
    for report in folder_reports(folder, offline=True, python=sys.executable, limit=SECONDS):
        reports.append(report)
        texts = {block.number: block.text for block in read_document(folder / report.name).blocks}
        for block in report.blocks:
            if block.status not in (RAN, EXCERPT) or (excerpts and block.status == EXCERPT):
                sys.stderr.write(f"{report.name}, line {block.line}: {block.status}: {block.why}\n")
            if excerpts and block.status == EXCERPT:
                sys.stderr.write(f"{texts[block.number]}\n")
    reasons = [
        f"* `{report.name}`, line {block.line}: {block.status}: {block.why.splitlines()[0]}"
        for report in reports
        for block in report.blocks
        if block.status not in (RAN, EXCERPT)
    ]
    return "\n".join([folder_table(reports), *(["", *reasons] if reasons else [])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--excerpts", action="store_true")
    options = parser.parse_args()
    parts = [f"`{folder.name}`:\n\n{tables(folder, excerpts=options.excerpts)}" for folder in options.folders]
    text = "\n\n".join(parts)
    sys.stdout.write(f"{text}\n")
    if options.docs:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
