"""The page of tasks in a real browser: answers by key and by click, kept, downloaded, and read back."""

from __future__ import annotations

import json
import re

import pytest
from selenium.webdriver.common.keys import Keys

from browser import WIDTHS
from topicfold import PLSA, Corpus, JudgementTasks, judgement_tasks, read_judgements, save_tasks_page
from topicfold.analysis.judgement_tasks import Task
from topicfold.report.tasks_page import tasks_page


@pytest.fixture(scope="module")
def tasks(themes):
    return judgement_tasks(PLSA(4, random_state=0, verbose=False).fit(themes).topic_tree(themes), themes)


@pytest.fixture
def file(tasks, tmp_path):
    save_tasks_page(tasks, tmp_path / "tasks.html", "Four themes")
    return tmp_path / "tasks.html"


def begin(page, file, name="Ann, the 1st"):
    page.open(file, "")
    page.find("#rater").send_keys(name)
    page.find("#start").click()


def downloaded(page, folder, name):
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    page.find("#download").click()
    page.until((folder / name).exists)
    return folder / name


def test_the_page_does_not_hold_the_key(tasks):
    source = tasks_page(tasks)
    data = json.loads(re.search(r'<script type="application/json" id="tasks">(.*?)</script>', source, re.DOTALL)[1])
    assert set(data) == {"id", "name", "questions", "answers", "tasks"}
    assert [set(task) for task in data["tasks"]] == [{"kind", "words"}] * 8
    assert [task["words"] for task in data["tasks"]] == [list(task.words) for task in tasks.tasks]


def test_answers_by_key_and_by_click_are_downloaded_and_read_back(page, file, tasks, tmp_path):
    begin(page, file)
    assert page.text("#question") == "Which word does not belong with the others?"
    assert page.texts(".choice span")[:6] == list(tasks.tasks[0].words)
    for number, task in enumerate(tasks.tasks, start=1):
        assert page.text("#progress") == f"Task {number} of 8, {number - 1} answered"
        wanted = task.intruder or 2
        if number == 4:
            page.press("0")  # does not know the words
        elif number % 2:
            page.press(str(wanted))
        else:
            page.find(f".choices .choice:nth-child({wanted})").click()
    assert page.text("#question") == "Thank you!"
    sent = downloaded(page, tmp_path, "answers-Ann-the-1st.csv")
    found = read_judgements(tasks, [sent])
    assert found.raters == ("Ann, the 1st",)
    intrusion, rating = found.kinds
    assert (intrusion.mean.value, intrusion.mean.n, intrusion.unknown) == (1, 3, 1)
    assert (rating.mean.value, rating.mean.n) == (2, 4)


def test_by_keyboard_alone(page, file, tasks, tmp_path):
    page.open(file, "")
    page.press(Keys.TAB, "Eve", Keys.ENTER)
    page.press(Keys.TAB, Keys.TAB, Keys.ENTER)  # the second word has the focus
    assert page.text("#progress") == "Task 2 of 8, 1 answered"
    page.press("9")  # no answer here
    page.press("x")
    page.press(Keys.ARROW_LEFT)
    assert page.js("return [...document.querySelectorAll('.choice')].map((c) => c.ariaPressed)")[:2] == [
        "false",
        "true",
    ]
    page.press("5")
    page.press(Keys.ARROW_RIGHT)
    assert page.text("#progress") == "Task 3 of 8, 1 answered"
    for _ in range(6):
        page.press(Keys.ARROW_RIGHT)
    assert page.text("#question") == "Not quite done"
    assert "7 of 8 tasks have no answer yet" in page.text("main")
    found = downloaded(page, tmp_path, "answers-Eve.csv").read_text()
    assert found == f"tasks,rater,task,answer\n{tasks.id},Eve,1,5\n"
    page.find("#open").click()
    assert page.text("#progress") == "Task 2 of 8, 1 answered"


def test_answers_are_kept_and_can_be_deleted(page, file):
    begin(page, file)
    page.press("1")
    page.press("2")
    page.reload()
    assert page.js("return document.querySelector('#rater').value") == "Ann, the 1st"
    assert page.text("#progress") == "8 tasks, 2 answered"
    page.find("#start").click()
    assert page.text("#progress") == "Task 3 of 8, 2 answered"
    page.reload()
    page.find("#afresh").click()
    page.driver.switch_to.alert.accept()
    assert page.text("#progress") == "8 tasks, 0 answered"
    assert page.js("return localStorage.length") == 0


def test_a_name_is_needed(page, file):
    begin(page, file, "  ")
    assert "Please enter a name" in page.text("[role=alert]")
    assert page.focused() == "rater"


def test_what_others_left_in_the_storage_does_no_harm(page, file, tasks):
    page.open(file, "")  # once: a window of another process may see the storage late
    for kept in ("nonsense", "null", '{"answers":[[1,99],[77,1],[2,2],["a","b"]],"rater":5}', '{"answers":[1]}', "[]"):
        page.js("localStorage.setItem(arguments[0], arguments[1])", f"topicfold tasks {tasks.id}", kept)
        page.reload()
        assert page.text("#progress") == f"8 tasks, {1 if '[2,2]' in kept else 0} answered"


def test_words_are_text_whatever_they_hold(page, tmp_path):
    evil = (
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "{{data}}",
        "\u202eturned",
        "a" * 300,
        "ok",
    )
    tasks = JudgementTasks((Task("intrusion", 0, evil, 6), Task("rating", 0, evil, 0)), {0: "x"}, {})
    save_tasks_page(tasks, tmp_path / "t.html", "<b>name</b>")
    page.look(WIDTHS["phone"])
    begin(page, tmp_path / "t.html")
    assert page.text("#corpus-name") == "<b>name</b>"
    assert page.texts(".choice span")[:6] == list(evil)
    assert not page.too_wide()
    page.press("6")
    assert page.texts("#words span") == list(evil)
    assert not page.too_wide()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS.values())
def test_pages_fit_every_screen(page, file, width, dark):
    page.look(width, dark=dark)
    begin(page, file)
    for _ in range(8):
        assert not page.too_wide()
        page.press("1")
    assert not page.too_wide()


def test_the_policy_names_the_script_alone(tasks):
    source = tasks_page(tasks)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', source)[1]
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 2
    assert source.count("<script>") == 1


def test_topics_of_a_corpus_without_texts(page, tmp_path, themes):
    bags = Corpus.from_counts(themes.counts, themes.vocabulary)
    tree = PLSA(4, random_state=0, verbose=False).fit(bags).topic_tree(bags)
    save_tasks_page(judgement_tasks(tree, bags, kinds=["rating"]), tmp_path / "t.html")
    begin(page, tmp_path / "t.html")
    assert page.texts(".scale .choice span") == ["Not related", "Somewhat related", "Very related"]
