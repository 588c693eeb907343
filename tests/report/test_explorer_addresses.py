"""The explorer end to end in a browser: addresses that can be kept and sent."""

from __future__ import annotations

import pytest


def test_deep_links_survive_a_reload(page, reports):
    page.open(reports["plsa"], "topic=2")
    for address, heading in [
        ("topic=2", page.text("main h2")),
        ("document=d7", "About the sea, part 1"),
        ("map=d7", "Map"),
        ("compare", "PLSA, 4 topics and six topics"),
    ]:
        page.go(address)
        assert page.text("main h2") == heading
        page.reload()
        assert page.text("main h2") == heading
        assert page.driver.title == f"{heading} · Four themes"
    page.driver.back()
    page.until(lambda: page.view() == "map")


@pytest.mark.parametrize(
    "address", ["topic=99", "topic=", "topic=x", "topic", "document", "document=d99", "nowhere", "nowhere=1"]
)
def test_what_is_not_there_is_said(page, reports, address):
    page.open(reports["plsa"], address)
    assert page.text("main h2") == "Not found"
    page.follow(page.link("Go to the overview"))
    assert page.view() == "overview"


def test_a_page_of_some_documents_says_so(page, reports):
    page.open(reports["part"])
    assert "20 of the 80 documents" in page.text(".note")
    shown = page.data()["documents"]["id"]
    left_out = next(f"d{d}" for d in range(80) if f"d{d}" not in shown)
    page.go(f"document={left_out}")
    assert "only a sample" in page.text("main p:not(:has(a))")
    page.go(f"document={shown[0]}")
    assert page.count("#text .word") == 24
