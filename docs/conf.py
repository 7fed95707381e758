"""Settings of the documentation site: `make docs` builds it into docs/_build/html."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

import lcifr  # noqa: E402

project = "lcifr"
author = "the lcifr developers"
copyright = "the lcifr developers, MIT licence"
version = release = lcifr.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "command_reference",
    "docstrings",
    "phi_lexer",
    "shell_cells",
]
exclude_patterns = ["_build", "results/*.json"]
nitpicky = False  # docstrings name types of other libraries, whose pages are not on this machine

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
smartquotes = False  # "--model" is an option, not a dash
toc_object_entries = False

# Tutorials are run while the site is built, each in a folder of its own. An error in one is an error of the build.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
os.environ |= {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb", "OMP_NUM_THREADS": "1"}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_attr_annotations = False  # signatures have the types

html_theme = "pydata_sphinx_theme"
html_title = "lcifr"
html_static_path = ["_static"]
html_css_files = ["lcifr.css"]
html_sidebars: dict[str, list[str]] = {page: [] for page in ("index", "start", "gallery")}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "lcifr"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_context = {"default_mode": "auto"}
