"""Sphinx configuration; `make docs` builds the site, offline and with warnings as errors."""

from __future__ import annotations

import inspect
import warnings
from importlib.metadata import version as version_of
from types import FunctionType
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst
from sphinx_gallery.sorting import ExplicitOrder, FileNameSortKey

project = "topicfold"
author = "The topicfold developers"
copyright = author
release = version_of("topicfold")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # equations need no network in the browser
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "**/*.jsonl", "gallery/**/*.md5", "gallery/**/*.py", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_typehints = "none"  # types stand in the docstrings
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # members follow the class, with their own docstrings
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "topicfold"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "topicfold"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    # results have wide tables and figures: no list of their sections beside them
    "secondary_sidebar_items": {"results/*": [], "[!r]**": ["page-toc"], "reliability": ["page-toc"]},
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_bar_text": "Search the documentation",
    "back_to_top_button": False,
}
# nothing is below these
html_sidebars = {page: [] for page in ("index", "getting-started", "which-model", "explorer", "cli")}


def last_figure(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that a cell ends with. Those of topicfold.plots are not pyplot's, whose scraper misses them."""
    values = block_vars["example_globals"]
    figure = values.get("___")  # where sphinx-gallery keeps the value of a cell's last expression
    if not isinstance(figure, Figure):
        return ""
    values["___"] = None
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path)
    titles = [axes.get_title(loc="left").replace("\n", ", ") for axes in figure.axes]
    return figure_rst([path], gallery_conf["src_dir"], "; ".join(filter(None, titles)))


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "subsection_order": ExplicitOrder([f"../examples/{name}" for name in ("start", "models", "analysis", "sklearn")]),
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib", last_figure),
    "capture_repr": (),
    "doc_module": ("topicfold",),
    "reference_url": {"topicfold": None},
    "reset_modules": (),
    "remove_config_comments": True,
    "min_reported_time": 1e9,
}
warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")


def skip_member(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from scikit-learn, tuples or exceptions, and fields, which its docstring describes."""
    for wrapped in ("fget", "func", "fn", "__func__"):  # properties, cached ones, scikit-learn's available_if
        member = getattr(member, wrapped, member)
    own = isinstance(member, FunctionType) and member.__module__.startswith("topicfold.")
    return None if own else True


def add_inherited_attributes(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Add to the attributes of a class those of its base classes, which its docstring does not repeat."""
    if what != "class" or not hasattr(value, "__mro__"):
        return
    entries = [attribute_entries(inspect.cleandoc(vars(base).get("__doc__") or "")) for base in value.__mro__]
    inherited = {key: entry for base in reversed(entries[1:]) for key, entry in base.items()}
    added = [line for key, entry in inherited.items() if key not in entries[0] for line in entry]
    if not added:
        return
    if "Attributes" in lines:
        end = next((n for n in range(lines.index("Attributes") + 2, len(lines)) if not lines[n].strip()), len(lines))
    else:
        end = lines.index("See Also") - 1
        added = ["", "Attributes", "----------", *added]
    lines[end:end] = added


def attribute_entries(docstring: str) -> dict[str, list[str]]:
    """The lines of each attribute in a docstring, by its name."""
    lines, entries = docstring.split("\n"), {}
    if "Attributes" not in lines:
        return {}
    for line in lines[lines.index("Attributes") + 2 :]:
        if not line.strip():
            break
        if not line.startswith(" "):
            key = line.split(" : ")[0]
            entries[key] = []
        entries[key].append(line)
    return entries


def setup(app: Any) -> None:
    """Sphinx calls this first."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", add_inherited_attributes, priority=400)  # before numpydoc reads them
