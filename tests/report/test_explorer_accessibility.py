"""The explorer under axe-core: no view breaks a rule of WCAG 2.2 AA or of good practice, in any colours and width."""

from __future__ import annotations

from importlib import resources

import pytest

from browser import WIDTHS

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EVERYWHERE = "region=-9,-9;10009,-9;10009,10009;-9,10009"
# The panel of the filter is open on the map, in a region, and wherever something is filtered.
VIEWS = {
    "plsa": ["overview", "topics", "topic=2", "document=d7", "map=d7", EVERYWHERE, "time", "groups", "compare"]
    + ["search=rose", "summary", "overview&label=sky&date=2002..2005", "nowhere"],
    "hlta": [
        "overview",
        "topics",
        "topic=0",
        "topic=14",
        "document=d7",
        "map",
        EVERYWHERE,
        "time",
        "groups",
        "summary",
    ],
    "ldcc": ["overview", "topics", "topic=0", "topic=6", "document=d7", "map", EVERYWHERE, "time", "groups", "summary"],
    "counts": ["topic=0", "document=3"],
}
# What a reader opens in a view.
OPENED = {
    "topics": "document.getElementById('edit-topics').click(); document.querySelector('.edit-box').click()",
    "time": "document.querySelector('.multiples input').click()",
    "compare": "document.querySelector('.pair-words').click()",
}


@pytest.fixture(scope="module")
def axe():
    return (resources.files("selenium_axe_python") / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def broken_rules(page):
    """A line per element of the page that breaks a rule."""
    rules = page.driver.execute_async_script(
        "const [tags, done] = arguments; axe.run({ runOnly: tags }).then(({ violations }) => done(violations))", RULES
    )
    return [
        f"{rule['id']}: {node['html'][:150]}: {' '.join(node['failureSummary'].split())}"
        for rule in rules
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("report", VIEWS)
def test_no_view_breaks_a_rule(page, reports, axe, report, width, dark):
    page.look(width, dark=dark)
    page.open(reports[report])
    page.js(axe)
    found = []
    for address in VIEWS[report]:
        page.go(address)
        page.js(OPENED.get(address, ""))
        found += [f"{address}: {line}" for line in broken_rules(page)]
    page.find("#query").send_keys("rose")  # the results below the box
    found += [f"search box: {line}" for line in broken_rules(page)]
    assert not found, "\n".join(found)
