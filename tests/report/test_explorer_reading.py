"""The explorer end to end in a browser: what a reader who goes on and comes back, searches and renames relies on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from topicfold import LDCC, PLSA, Corpus, build_report

QUIET = {"random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function that writes a report to a file of its own."""
    folder = tmp_path_factory.mktemp("made")

    def write(name, *arguments, **options):
        build_report(*arguments, **options).save(folder / f"{name}.html")
        return folder / f"{name}.html"

    return write


@pytest.fixture(scope="module")
def plsa(themes):
    return PLSA(4, **QUIET).fit(themes)


def test_who_comes_back_finds_the_page_as_it_was_left(page, reports):
    page.open(reports["plsa"], "topic=1")
    page.js("scrollTo(0, 700)")
    page.until(lambda: page.js("return scrollY") == 700)
    page.go("document=d7")
    assert page.js("return scrollY") == 0
    page.driver.back()
    page.until(lambda: page.view() == "topic" and page.js("return scrollY") == 700)
    page.go("topic=2")  # a link begins at the top, also to where one has been
    page.go("topic=1")
    assert page.js("return scrollY") == 0


def test_open_branches_stay_open(page, reports):
    page.open(reports["hlta"], "topics")
    page.find("#close-all").click()
    page.find(".tree.top .twisty").click()
    page.follow(page.find(".tree.top a"))
    page.driver.back()
    page.until(lambda: page.view() == "topics")
    assert page.count(".twisty[aria-expanded='true']") == 1


def test_documents_without_titles_go_by_their_text(page, made, plsa, themes):
    page.open(made("untitled", plsa, replace(themes, titles=None)), "document=d7")
    title = page.text("main h2")
    assert title.endswith(" …")
    assert len(title) <= 72
    assert " ".join(page.texts("#text .text")[0].split()).startswith(title.removesuffix(" …"))
    page.go("overview")
    page.find("#query").send_keys(title[:20])
    assert title in page.texts("#found a")


def test_search_looks_into_texts(page, made):
    texts = ["garden rose tulip screenshot", "garden tulip rose", "star moon", "moon star comet"]
    corpus = Corpus.from_texts(texts, titles=["One", "Two", "Three", "Four"], keep_texts=True, min_df=2)
    page.open(made("words", PLSA(2, **QUIET).fit(corpus), corpus))
    page.find("#query").send_keys("Screenshot")  # in one text, and too rare for any topic
    assert page.texts("#found h2") == ["Documents with the word in the text (1)"]
    assert page.texts("#found a") == ["One"]


def test_names_given_to_a_new_report_win_over_those_kept(page, made, plsa, themes):
    first = made("first", plsa, themes, names={0: "given"})
    page.open(first, "topic=0")
    page.find("#rename").click()
    page.find("#new-name").clear()
    page.find("#new-name").send_keys("my own\n")
    page.reload()
    assert page.text("#topic-title") == "my own"
    page.open(made("second", plsa, themes, names={0: "given anew"}), "topic=0")
    assert page.text("#topic-title") == "given anew"


def test_every_colour_in_a_text_is_in_the_legend_and_the_mix_is_whole(page, reports, themes):
    page.open(reports["ldcc"])
    for number in range(0, 12, 3):
        page.go(f"document=d{number}")
        legend = page.js("return [...document.querySelectorAll('#mixture a')].map((link) => link.dataset.row)")
        tinted = page.js(
            "return [...document.querySelectorAll('.word[class*=\" t\"]')].map((word) => word.dataset.row)"
        )
        assert set(tinted) <= set(legend)
        shares = page.texts("#mixture .chips .muted")
        figures = [float(share.removeprefix("others").strip().strip("<% ")) for share in shares]
        assert sum(figures) == pytest.approx(100, abs=3)
    assert page.texts("main section h3")[:2] == ["Word-topics", "Document-topics"]


def test_levels_of_a_hierarchy_in_the_overview(page, reports):
    page.open(reports["hlta"])
    topics = page.data()["topics"]
    for level in {topic["level"] for topic in topics}:
        Select(page.find("#level")).select_by_value(str(level))
        assert page.count(".topic-table tbody tr") == sum(topic["level"] == level for topic in topics)


def test_text_from_right_to_left_leaves_figures_alone(page, made):
    titles = ["\u202eturned", "عنوان عربي", "plain", "other"]
    corpus = Corpus.from_texts(["rose tulip", "tulip rose", "star moon", "moon star"], titles=titles, keep_texts=True)
    page.open(made("right", PLSA(2, **QUIET).fit(corpus), corpus), "overview")
    for topic in (0, 1):
        page.go(f"topic={topic}")
        for item in page.driver.find_elements(By.CSS_SELECTOR, ".documents li"):
            ends = page.js(
                """const [item] = arguments, text = item.querySelector('.muted').firstChild;
                const left = (place) => {
                  const range = new Range();
                  range.setStart(text, place);
                  range.setEnd(text, place + 1);
                  return range.getBoundingClientRect().left;
                };
                return [left(text.data.search(/\\d/)), left(text.data.indexOf('%'))]""",
                item,
            )
            assert ends[0] < ends[1]


def test_paragraphs_and_clusters_of_a_model_of_segments(page, made, themes):
    model = LDCC(2, 4, n_sweeps=30, burn_in=20, **QUIET).fit(themes)
    page.open(made("segments", model, themes), "document=d5")
    assert page.count(".paragraph") == 3
    assert page.count(".paragraph .tag") == 6
