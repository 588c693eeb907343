"""The explorer in Firefox: every view comes up without an error, and what differs most between browsers works."""

from __future__ import annotations

import base64

import pytest

from browser import WIDTHS
from firefox import Firefox, until

VIEWS = {
    "plsa": ["overview", "topics", "topic=2", "document=d7", "map=d7", "time", "groups", "compare", "search=rose"]
    + ["summary", "region=-9,-9;10009,-9;10009,10009;-9,10009", "overview&label=sky&date=2002..2005", "nowhere"],
    "hlta": ["overview", "topics", "topic=14", "document=d7", "map", "time", "groups", "summary"],
    "ldcc": ["overview", "topics", "topic=6", "document=d7", "map", "time", "groups", "summary"],
    "counts": ["overview", "topic=0", "document=3", "map"],
}
INK = """(() => {
    const map = document.getElementById('map-points');
    const copy = Object.assign(document.createElement('canvas'), { width: map.width, height: map.height });
    copy.getContext('2d').drawImage(map, 0, 0);
    const { data } = copy.getContext('2d').getImageData(0, 0, map.width, map.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
})()"""


@pytest.fixture(scope="module", params=[False, True], ids=["light", "dark"])
def started(request, tmp_path_factory):
    firefox = Firefox(tmp_path_factory.mktemp("profile"), dark=request.param)
    yield firefox
    firefox.close()


@pytest.fixture
def firefox(started):
    """A desktop-wide window; at the end, the page has logged no error and no warning."""
    started.look(WIDTHS["desk"])
    yield started
    started.js("localStorage.clear()")
    errors, started.errors = started.errors, []
    assert not errors, errors


def texts(firefox, css):
    return firefox.js(f"[...document.querySelectorAll({css!r})].map((found) => found.textContent)")


@pytest.mark.parametrize("report", VIEWS)
def test_every_view_comes_up_and_fits_the_window_in_its_colours(firefox, reports, report):
    firefox.open(reports[report])
    ground = firefox.js("Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g))")
    assert (ground < 60) if firefox.dark else (ground > 200)
    for width in WIDTHS.values():
        firefox.look(width)
        for address in VIEWS[report]:
            firefox.go(address)
            assert texts(firefox, "main h2")[0], address
            assert (texts(firefox, "main h2") == ["Not found"]) == (address == "nowhere"), address
            assert firefox.js("document.documentElement.scrollWidth <= innerWidth"), (address, width)


def test_the_map_is_drawn_and_a_region_of_it_opened(firefox, reports, tmp_path):
    firefox.open(reports["plsa"], "map")
    assert firefox.js(INK) > 80
    (tmp_path / "map.png").write_bytes(base64.b64decode(firefox.screenshot()))
    firefox.js("document.getElementById('tool-box').click()")
    left, top, right, bottom = firefox.js(
        "(({ left, top, right, bottom }) => [left, top, right, bottom].map(Math.round))"
        "(document.getElementById('map-canvas').getBoundingClientRect())"
    )
    bottom = min(bottom, 890)
    firefox.drag([(left + 5, top + 5), ((left + right) // 2, (top + bottom) // 2), (right - 5, bottom - 5)])
    until(lambda: texts(firefox, "#region-title"))
    assert len(texts(firefox, "#region .documents li")) > 0


def test_edits_are_kept_and_undone(firefox, reports):
    firefox.open(reports["plsa"], "topics")
    before = texts(firefox, "#side a")
    firefox.js("document.getElementById('edit-topics').click()")
    firefox.js("document.querySelectorAll('.edit-box').forEach((box, i) => i < 2 && box.click())")
    firefox.js("document.getElementById('edit-name').value = 'both'")
    firefox.js("document.getElementById('merge').click()")
    assert "both" in texts(firefox, "#side a")
    firefox.open(reports["plsa"], "topics")
    assert len(texts(firefox, "#side a")) == len(before) - 1
    firefox.js("document.getElementById('undo').click()")
    assert texts(firefox, "#side a") == before


def test_the_filter_by_its_brush_and_its_list(firefox, reports):
    firefox.open(reports["plsa"], "map")
    box = "document.querySelector('.brush .overlay').getBoundingClientRect()"
    left, y, right = firefox.js(f"(({{ left, top, right }}) => [left, top + 15, right].map(Math.round))({box})")
    firefox.drag([(left + 1, y), ((left + right) // 3, y), ((left + right) // 2, y)])
    until(lambda: "date=" in firefox.js("location.hash"))
    n = int(texts(firefox, "#filter summary")[0].split()[1])
    assert 0 < n < 80
    firefox.js(
        "((list) => { list.value = 'sky'; list.dispatchEvent(new Event('change')) })"
        "(document.getElementById('filter-label'))"
    )
    until(lambda: "label=sky" in firefox.js("location.hash"))
    firefox.js("document.querySelector('[aria-label=\"Remove the filter Date\"]').click()")
    until(lambda: texts(firefox, "#filter summary") == ["Filter: 20 of 80 documents"])
