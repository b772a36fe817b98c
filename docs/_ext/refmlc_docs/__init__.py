"""The Sphinx extension of these pages: what follows from data is written while the pages are read, and never committed.

A page says `<!-- write NAME ARGUMENTS -->` on a line of its own; the Markdown of the writer `NAME` takes its place.

| file         | holds                                                                                       |
|--------------|---------------------------------------------------------------------------------------------|
| `markdown`   | text of the project as Markdown: escaped, with links to clauses and codes                     |
| `book`       | the clauses of a chapter, with notation, examples, implementation, deviations of TVM          |
| `cases`      | a case of the suite as a program, its arguments and its result                                |
| `citations`  | the lines of the package that cite a clause                                                   |
| `codes`      | the catalogue of codes                                                                        |
| `commands`   | the subcommands, for sphinx-click                                                             |
| `grammar`    | the node kinds of TensorIR and Relax                                                          |
| `instructions` | the forms of PTX instructions                                                             |
| `schemas`    | JSON Schemas as lists                                                                         |
| `documents`  | documents of other folders as pages                                                           |
| `docstrings` | docstrings of the package as reStructuredText                                                 |
| `links`      | every link and anchor of the built pages                                                      |
| `inventory`  | the few names of other projects that the pages refer to                                       |
| `writers`    | the writers by their names                                                                    |
| `extension`  | the only file that imports Sphinx                                                             |
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: "Sphinx") -> dict[str, bool]:
    """Connect the writers to Sphinx."""
    from refmlc_docs.extension import connect  # noqa: PLC0415 - the writers are tested without Sphinx

    connect(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
