"""How Sphinx makes the book of the pages that lie in the course. What is added to them is in pages.py."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent)]

from book import pages, repository  # noqa: E402

project = "CUDA, lab by lab"
extensions = ["myst_parser", "sphinx_copybutton", "sphinx.ext.mathjax", "book.pages"]
root_doc = "README"
include_patterns = pages.PATTERNS
exclude_patterns = ["build", "tests", "common", "solutions", "data", "**/.*", ".*"]
nitpicky = True
suppress_warnings = ["myst.header"]  # a section that a page adds may be deeper than what stands before it

myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
myst_update_mathjax = False
# KaTeX, which the system's packages have, in MathJax's place: it is a twentieth of it.
mathjax_path = "katex/formulas.js"
mathjax_options = {"defer": "defer"}

highlight_language = "none"
copybutton_prompt_text = "$ "
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"

html_theme = "furo"
html_title = project
html_show_sphinx = html_show_copyright = html_copy_source = False
html_static_path = ["style.css"]
html_favicon = "icon.svg"
html_css_files = ["style.css"]
# A page that lies in a folder may not read others for what surrounds a word that is found.
html_js_files = [(None, {"body": "if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"})]


published, branch = repository.repository(), os.environ.get("BRANCH", "main")
if published:
    html_theme_options = {"source_repository": f"{published}/", "source_branch": branch, "source_directory": ""}
