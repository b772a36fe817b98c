"""Sphinx: `python -m sphinx -nW docs build/docs`; it needs `pip install -e '.[docs]'` and no network.

| variable             | effect                                                                    |
|----------------------|---------------------------------------------------------------------------|
| `REFMLC_DOCS_ONLINE` | names of other projects come from their own inventories, over the network |

Decision: links to Python, NumPy, PyTorch and Hypothesis lead to the pages that `inventories.toml` lists. The list is
short, the same pages are built everywhere and at any time, and a new reference is a line there. With REFMLC_DOCS_ONLINE
set the projects' own inventories are fetched in its place, and `-b linkcheck` visits each link.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from refmlc_docs.inventory import write_inventories  # noqa: E402 - after the path

project = "refmlc"
author = "The refmlc maintainers"
project_copyright = "The refmlc maintainers; Apache-2.0"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_click",
    "refmlc_docs",
]
exclude_patterns = ["_ext"]
smartquotes = False
nitpicky = True
nitpick_ignore_regex = [
    # types that signatures show and that are no public names
    (r"py:.*", r"(refmlc\.|tir\.|relax\.|np\.|click\.|collections\.abc\.|typing\.).*"),
    (r"py:.*", r"[A-Z]\w*|~?\w+"),
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88

intersphinx_mapping = write_inventories(
    HERE.parent / "build" / "inventories", online="REFMLC_DOCS_ONLINE" in os.environ
)
intersphinx_timeout = 20

html_theme = "furo"
html_title = "refmlc"
html_static_path = ["_static"]
html_css_files = ["refmlc.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

linkcheck_anchors = False
linkcheck_timeout = 20
