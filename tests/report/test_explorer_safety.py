"""The explorer on texts of strangers: whatever they hold shows as text, and only the page's own scripts run."""

from __future__ import annotations

import json
import re
import unicodedata
from urllib.parse import quote

import numpy as np
import pytest
from click.testing import CliRunner
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import WIDTHS
from topicfold import PLSA, Corpus, Preprocessing, build_report
from topicfold.cli.app import cli

HACK = "window.hacked=1"
SCRIPT = f"</script><script>{HACK}</script>"
HOSTILE = [
    SCRIPT,
    f"<img src=x onerror={HACK}>",
    f"<svg/onload={HACK}>",
    "<!--<script>",
    "--></script>]]>",
    f"</title></textarea></style>{SCRIPT}",
    "{{title}}{{data}}{{scripts}}",
    "\\u003cscript\\u003e\\",
    "a\u2028b\u2029c",
    "nul\x00bell\x07escape\x1bdelete\x7fnext\x85",
    "half\ud800of\udfffa pair",
    "\u202egnorw daer\u202c \u2067abc\u2069",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    f"javascript:{HACK}",
    "#topic=1&document=%41%",
    "a=b=c d/e?f#g+h",
    "👩‍🚀🏴‍☠️ emoji",
    "'\"`${alert(1)}",
    "<a href=//example.com>link</a>",
    "&lt;b&gt;&amp;&#60;",
    "line one\r\nline two\ttab",
]
LONG = "w" * 100_000
NAME = f"</title>{SCRIPT}{{{{data}}}}"


def written(text: str) -> str:
    """The text as a page can hold it: half of a surrogate pair cannot be written."""
    return unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode()


@pytest.fixture(scope="session")
def hostile_corpus():
    """Each hostile string as an id, a title, a label, a text and, where it has no blanks, a word."""
    words = ["rose tulip soil", "star moon comet"]
    texts = [f"{text} {words[d % 2]}\n{text}" for d, text in enumerate(HOSTILE)]
    n = len(HOSTILE)
    with pytest.warns(UserWarning, match="2 of 27 texts are empty"):
        return Corpus.from_texts(
            [*texts, "", "   ", f"{LONG} soil {LONG}"],
            ids=[*HOSTILE, "empty", " ", "long"],
            titles=[*HOSTILE, "", "blank", LONG],
            labels=[*[[text, "common"] for text in HOSTILE], None, None, LONG],
            timestamps=[f"{2000 + d % 8}-01-01" for d in range(n + 3)],
            preprocessing=Preprocessing(token_pattern=r"\S+", stop_words=None, clean=False),
            min_df=1,
            max_df=1.0,
            keep_texts=True,
        )


@pytest.fixture(scope="session")
def hostile(hostile_corpus, tmp_path_factory):
    """A page on it, whose names and models are hostile too, in a file with such a name."""
    file = tmp_path_factory.mktemp("hostile") / "#%41 <script>&.html"
    model, other = (PLSA(k, random_state=0, verbose=False).fit(hostile_corpus) for k in (3, 4))
    report = build_report(
        model, hostile_corpus, name=NAME, names={0: SCRIPT, 1: "__proto__"}, compare=other, compare_name=SCRIPT + LONG
    )
    report.save(file)
    return file


def assert_harmless(page):
    """Nothing ran, and the page has the elements it makes itself, no others."""
    assert page.js("return window.hacked") is None
    assert page.count("script") == 3
    assert page.count("style") == page.count("link") == page.count("title:not(svg title)") == 1
    assert page.count("img, iframe, object, embed, form, base, b, math, textarea, [onerror], [onload]") == 0
    assert page.js("return [...document.links].every((link) => link.protocol === 'file:' && link.host === '')")


def test_hostile_documents_show_as_text(page, hostile, hostile_corpus):
    """By a link that survives a reload, however odd the id."""
    page.open(hostile)
    for d, name in enumerate(map(written, hostile_corpus.ids)):
        page.go("document=" + quote(name, safe=""))
        page.reload()
        title, text = page.text("main h2"), written(hostile_corpus.texts[d])
        if hostile_corpus.titles[d]:
            assert title == written(hostile_corpus.titles[d]), d
        else:  # called by the beginning of its text
            assert title == name or re.sub(r"\s+", " ", text.strip()).startswith(title.removesuffix(" …")), d
        assert page.text("#text .text") == text, d
        known = [f"Document {name}", str(2000 + d % 8), *map(written, hostile_corpus.labels[d])]
        assert page.text("main > p.muted") == " · ".join(filter(None, known)), d
        assert_harmless(page)


def test_words_are_marked_where_they_stand(page, hostile):
    page.open(hostile, "document=" + quote(SCRIPT, safe=""))
    assert page.texts("#text .word") == [SCRIPT, "rose", "tulip", "soil", SCRIPT]
    page.go("document=" + quote(HOSTILE[19], safe=""))
    assert page.texts("#text .word") == ["👩‍🚀🏴‍☠️", "emoji", "star", "moon", "comet", "👩‍🚀🏴‍☠️", "emoji"]


def test_every_view_of_hostile_text(page, hostile):
    page.open(hostile)
    assert page.driver.title == f"{NAME}: topics"
    assert page.text("#corpus-name") == NAME
    assert {SCRIPT, "__proto__"} < set(page.texts("#side a"))
    shown = set()
    for address in ["topics", "topic=0", "topic=1", "topic=2", "map", "map=__proto__", "time", "compare"]:
        page.go(address)
        assert_harmless(page)
        shown.update(page.texts(".word-table th, .label-table th"))
    assert page.text("main h2") == f"PLSA, 3 topics and {SCRIPT}{LONG}"
    assert {SCRIPT, "__proto__", "tostring", "common", LONG} < shown  # words are in lower case
    page.go("topic=0")
    assert page.text("#topic-title") == SCRIPT
    assert page.driver.title == f"{SCRIPT} · {NAME}"


def test_hostile_labels_and_titles_on_the_map(page, hostile):
    page.open(hostile, "map")
    Select(page.find("#colour-by")).select_by_value("label")
    page.until(lambda: page.count(".legend button") > 20)
    assert {re.sub(r" \d+$", "", text) for text in page.texts(".legend button")} <= {
        *map(written, HOSTILE),
        "common",
        LONG,
    }
    page.js("document.querySelector('#map-canvas').focus()")
    seen = set()
    for key in ["+", "+", *[Keys.ARROW_LEFT] * 5, *[Keys.ARROW_DOWN] * 5, *[Keys.ARROW_RIGHT] * 8]:
        page.press(key)
        seen.add(page.texts("#tip div")[0])
    assert seen <= {*map(written, HOSTILE), "empty", "blank", LONG}
    assert len(seen) > 3
    assert_harmless(page)


def test_search_takes_its_words_literally(page, hostile):
    page.open(hostile)
    for wanted in ["<script>", "__proto__", "constructor", "(", "\\", "[", ".*", "%", "nothing"]:
        page.find("#query").clear()
        page.find("#query").send_keys(wanted)
        expected = sum(wanted in written(text) for text in HOSTILE)
        groups = page.texts("#found :is(h2, h3)")
        assert [group for group in groups if "Documents" in group] == [f"Documents ({expected})"] * (expected > 0)
        assert_harmless(page)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_long_words_do_not_widen_the_page(page, hostile, width):
    page.look(width)
    page.open(hostile)
    addresses = ["overview", "topics", "topic=0", "topic=1", "topic=2", "document=long", "map=long", "time", "compare"]
    wide = []
    for address in addresses:
        page.go(address)
        if page.too_wide():
            wide.append(address)
    page.find("#query").send_keys("www")
    page.until(lambda: page.count("#found a"))
    assert not wide
    assert not page.too_wide()


def test_words_of_strangers_without_their_texts(page, tmp_path):
    vocabulary = [*HOSTILE, LONG]
    counts = np.eye(len(vocabulary), dtype=int) * 3 + np.eye(len(vocabulary), k=1, dtype=int)
    corpus = Corpus.from_counts(counts, vocabulary, ids=vocabulary)
    build_report(PLSA(2, random_state=0, verbose=False).fit(corpus), corpus).save(tmp_path / "bags.html")
    page.open(tmp_path / "bags.html")
    for name in vocabulary:
        page.go("document=" + quote(name.encode("utf-8", "replace"), safe=""))
        assert f"{name} ×3".encode("utf-8", "replace").decode() in page.texts("#text .word")
    for address in ["overview", "topics", "topic=0", "topic=1", "map"]:
        page.go(address)
        assert_harmless(page)


def test_names_of_files_that_are_markup(page, tmp_path):
    """By the commands, from a folder of texts."""
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    for d, text in enumerate(["rose tulip soil rose", "star moon comet star", "tulip soil", "moon comet"]):
        (folder / f"<b>{d}&amp;.txt").write_text(text)
    model, made = tmp_path / "<script>alert(2)", [tmp_path / "fitted.html", tmp_path / "explored.html"]
    fit = ["fit", str(folder), "-p", "n_topics=2", "--out", str(model), "--report", str(made[0])]
    explore = ["explore", str(model), str(folder), "--compare", str(model), "--out", str(made[1])]
    for command in [fit, explore]:
        result = CliRunner().invoke(cli, command)
        assert result.exit_code == 0, result.output
    for file in made:
        page.open(file)
        assert page.text("#corpus-name") == folder.name
        page.go("document=" + quote("<b>0&amp;.txt", safe=""))
        assert page.texts("main p")[0].startswith("Document <b>0&amp;.txt")
        assert_harmless(page)
    page.go("compare")
    assert page.text("main h2") == f"{model.name} and {model.name}"
    assert_harmless(page)


# ---- addresses and names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "constructor",
        "__proto__",
        "__proto__=draw",
        "toString=1",
        "hasOwnProperty",
        "topic=__proto__",
        "topic=Infinity",
        "document=valueOf",
        "%",
        "document=%E0%A4%A",
        f"document={quote(SCRIPT)}x",
        f"<img src=x onerror={HACK}>",
        "=",
        "#",
    ],
)
def test_hostile_addresses(page, hostile, address):
    page.open(hostile, address)
    assert page.text("main h2") in ("Not found", "Overview")
    assert_harmless(page)


def test_hostile_names_from_a_file(page, hostile, tmp_path):
    page.open(hostile, "topics")
    third = page.js("return [...document.querySelectorAll('#side a')].find((a) => a.hash === '#topic=2').textContent")
    given = (
        '{"1": "<img src=x onerror=window.hacked=1>", "__proto__": "p", "constructor": "c", "99": "n", "2": 5, "": "e"}'
    )
    (tmp_path / "names.json").write_text(given, encoding="utf-8")
    page.find("input[type=file]").send_keys(str(tmp_path / "names.json"))
    page.until(lambda: page.text(".edit-tools [role=status]"))
    assert page.text(".edit-tools [role=status]") == "1 edit loaded"
    assert set(page.texts("#side a")) == {SCRIPT, "<img src=x onerror=window.hacked=1>", third}
    page.reload()
    assert set(page.texts("#side a")) == {SCRIPT, "<img src=x onerror=window.hacked=1>", third}
    assert_harmless(page)


def test_files_that_hold_no_names(page, hostile, tmp_path):
    page.open(hostile, "topics")
    before = page.texts("#side a")
    for content in [b"", b"{", b"[1]", b"null", b'"x"', b"12", b"\xff\xfe\x00", SCRIPT.encode(), b'{"1": }']:
        file = tmp_path / f"{content.hex()}.json"
        file.write_bytes(content)
        page.js("document.querySelector('.edit-tools [role=status]').textContent = ''")
        page.find("input[type=file]").send_keys(str(file))
        page.until(lambda: page.text(".edit-tools [role=status]"))
        assert page.text(".edit-tools [role=status]").startswith("This file cannot be used: ")
        assert page.texts("#side a") == before
        assert_harmless(page)


def test_storage_that_holds_something_else(page, hostile):
    page.open(hostile, "topic=2")
    before = page.text("#topic-title")
    page.find("#rename").click()
    page.press("mine", Keys.ENTER)
    (key,) = page.js("return Object.keys(localStorage)")
    for content in [
        "{",
        "[]",
        "null",
        "7",
        json.dumps({"2": {"toString": 1}}),
        '[{"rename": 99, "name": "x"}]',
        '[{"drop": "x"}]',
        "[null]",
    ]:
        page.js("localStorage.setItem(arguments[0], arguments[1])", key, content)
        page.reload()
        assert page.text("#topic-title") == before
        assert_harmless(page)


# ---- the policy ------------------------------------------------------------------------------------------------------


def test_policy_allows_the_page_alone(page, reports):
    page.open(reports["plsa"])
    policy = page.find("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert re.fullmatch(r"('sha256-[\w+/]{43}=' ?){2}", rules["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", rules["style-src"])
    assert rules.pop("require-trusted-types-for") == "'script'"
    assert set(rules) == {"default-src", "base-uri", "form-action", "script-src", "style-src", "img-src"}
    assert rules["img-src"] == "data:"


TRUST = "require-trusted-types-for"


@pytest.mark.parametrize(
    ("attack", "directive"),
    [
        ("const made = document.createElement('p'); made.innerHTML = '<b>bold</b>'", TRUST),
        ("const made = document.createElement('script'); made.textContent = 'window.hacked=1'", TRUST),
        ("const made = document.createElement('script'); made.src = 'data:,window.hacked=1'", TRUST),
        ("const made = document.createElement('p'); made.setAttribute('onclick', 'window.hacked=1')", TRUST),
        (
            (
                "const trust = trustedTypes.createPolicy('all', { createScript: (text) => text }); "
                "const made = document.createElement('script'); "
                "made.textContent = trust.createScript('window.hacked=1')"
            ),
            "script-src-elem",
        ),
        (
            (
                "const trust = trustedTypes.createPolicy('all', { createScriptURL: (text) => text }); "
                "const made = document.createElement('script'); "
                "made.src = trust.createScriptURL('data:,window.hacked=1')"
            ),
            "script-src-elem",
        ),
        ("const made = document.createElement('style'); made.textContent = 'body { color: red }'", "style-src-elem"),
        ("const made = document.createElement('p'); made.setAttribute('style', 'color: red')", "style-src-attr"),
        (
            (
                "const trust = trustedTypes.createPolicy('all', { createScript: (text) => text }); "
                "const made = document.createElement('p'); "
                "made.setAttribute('onclick', trust.createScript('window.hacked=1'))"
            ),
            "script-src-attr",
        ),
        ("const made = document.createElement('img'); made.src = 'http://127.0.0.1:9/x.png'", "img-src"),
        ("const made = document.createElement('iframe'); made.src = 'data:text/html,x'", "frame-src"),
        ("const made = document.createElement('p'); fetch('http://127.0.0.1:9/').catch(() => {})", "connect-src"),
    ],
)
def test_policy_is_in_force(page, reports, attack, directive):
    """What a hole in the page could do, done on purpose."""
    page.open(reports["plsa"])
    page.js(
        "window.blocked = []; addEventListener('securitypolicyviolation', (e) => blocked.push(e.effectiveDirective))"
    )
    attack += "; document.body.append(made); if (made.onclick !== undefined) made.click()"
    page.js(f"try {{ {attack} }} catch (error) {{ if (!(error instanceof TypeError)) throw error; }}")
    page.until(lambda: page.js("return blocked.length"))
    assert page.js("return blocked[0]") == directive
    assert page.js("return window.hacked") is None
    assert page.js("return getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    assert any(re.search("Content Security Policy|requires 'Trusted", complaint) for complaint in page.complaints())
