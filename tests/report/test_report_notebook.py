"""A report in a notebook: the page in a frame, closed off from the notebook around it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from report_cases import plsa
from selenium.webdriver.common.by import By

from topicfold import Corpus, build_report
from topicfold.report import page as page_module

AROUND = "<!doctype html><meta charset=utf-8><title>notebook</title><link rel=icon href='data:,'><h1>A notebook</h1>"


class Frame(HTMLParser):
    """The elements of a piece of HTML with their attributes."""

    def __init__(self, source):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.text += text


def test_the_frame_holds_the_whole_page_and_nothing_else(model, corpus):
    report = build_report(model, corpus, name='a "quoted" <name>')
    frame = Frame(report._repr_html_())
    ((tag, attributes),) = frame.found
    assert tag == "iframe"
    assert frame.text == ""
    assert attributes["srcdoc"] == report.to_html()
    assert attributes["title"] == 'Report on a "quoted" <name>: 3 topics, 36 documents'
    assert attributes["sandbox"].split() == ["allow-scripts", "allow-downloads", "allow-popups"]
    assert attributes["height"] == "700"


def test_half_a_surrogate_pair_can_be_sent_to_a_notebook():
    corpus = Corpus.from_texts(["cat \ud83d dog", "dog cat", "sun moon"], keep_texts=True, clean=False)
    build_report(plsa(corpus, 2), corpus)._repr_html_().encode()


def test_a_large_page_is_to_be_saved(model, corpus, monkeypatch):
    monkeypatch.setattr(page_module, "_LARGEST_IN_NOTEBOOK", 1000)
    frame = Frame(build_report(model, corpus, name="<b>")._repr_html_())
    assert [tag for tag, _ in frame.found] == ["p"]
    assert frame.text.startswith("Report on <b>: 3 topics, 36 documents (")
    assert frame.text.endswith("report.save('report.html')")


@pytest.fixture
def notebook(page, model, corpus, tmp_path):
    """A page around the frame, with the driver inside the frame."""
    file = tmp_path / "notebook.html"
    file.write_text(AROUND + build_report(model, corpus, name="small")._repr_html_(), encoding="utf-8")
    page.opened.add(file.as_uri())
    page.driver.get("about:blank")
    page.driver.get(file.as_uri())
    page.driver.switch_to.frame(page.find("iframe"))
    page.until(lambda: page.js("return document.documentElement.dataset.ready") == "yes")
    yield page
    page.driver.switch_to.default_content()


def test_links_in_the_frame_lead_from_view_to_view(notebook):
    page, outside = notebook, notebook.driver.current_url
    assert page.view() == "overview"
    page.find("#views a[href='#topics']").click()
    page.until(lambda: page.view() == "topics")
    page.find("#main .tree a").click()
    page.until(lambda: page.view() == "topic")
    page.find("#topic-documents a").click()
    page.until(lambda: page.view() == "document")
    assert page.count("#text .word") > 5
    page.js("history.back()")
    page.until(lambda: page.view() == "topic")
    assert page.js("return location.href").startswith("about:srcdoc#topic=")
    assert page.driver.current_url == outside


def test_search_and_names_work_in_the_frame(notebook):
    page = notebook
    page.find("#query").send_keys("Title 3")
    page.until(lambda: page.count("#found a"))
    page.driver.find_element(By.CSS_SELECTOR, "#found a").click()
    page.until(lambda: page.view() == "document")
    page.js("location.hash = 'topic=1'")
    page.until(lambda: page.view() == "topic")
    page.find("#rename").click()
    page.find("#new-name").send_keys("my own\n")
    assert page.text("#topic-title") == "my own"  # kept until the frame is closed: it has no storage
    assert "my own" in page.text("#side")


def test_the_frame_cannot_reach_the_notebook(notebook):
    script = "try { return parent.document.title } catch (error) { return error.name }"
    assert notebook.js(script) == "SecurityError"
