"""Cleaning: what is removed and counted, what stays, and that cleaning twice changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicfold.corpus.cleaning import (
    ADDRESSES,
    CONTROLS,
    ENCODED,
    ENCODINGS,
    ENTITIES,
    HANDLES,
    HEADERS,
    KINDS,
    LINES,
    QUOTES,
    SIGNATURES,
    TAGS,
    URLS,
    Cleaner,
    repeated_lines,
)


def cleaned(text, **options):
    """The clean text, and what was removed."""
    cleaner = Cleaner(**options)
    return cleaner.clean(text), dict(cleaner.removed)


@pytest.mark.parametrize(
    ("text", "clean", "n_entities"),
    [
        ("Salt &amp; pepper &quot;to go&quot;", 'Salt & pepper "to go"', 3),
        ("Caf&eacute; &#8211; na&#xEF;ve", "Café – naïve", 3),
        ("one&nbsp;two&nbsp three &lt 4", "one two three < 4", 3),
        ("Smith &amp;amp; Sons", "Smith & Sons", 2),
        ("won #39;t, it #39;s Oracle #39;s", "won't, it's Oracle's", 3),
        ("the  #39;old way #39;", "the 'old way '", 2),
        (" quot;Enough, quot; she said", '"Enough, " she said', 2),
        ("AT amp;T and S  amp; P", "AT &T and S & P", 2),
        ("it cost #36;41 and #163;7", "it cost $41 and £7", 2),
    ],
)
def test_entities_with_and_without_ampersand(text, clean, n_entities):
    assert cleaned(text) == (clean, {ENTITIES: n_entities})


@pytest.mark.parametrize(
    ("text", "clean", "n_tags"),
    [
        ("<b>A</b>mazing", "Amazing", 2),
        ("<P CLASS='x'>one</P><p>two</p>", "one\n\ntwo", 4),
        ("one<br>two<br />three<hr/>", "one\ntwo\nthree", 3),
        ("<td>left</td><td nowrap width=3>right</td>", "left right", 4),
        ('<a href="/x?a=1&b=2" title="see > more">link</a>', "link", 2),
        ('<A HREF="/quote?ticker=X.N target=/quick">X.N</A>', "X.N", 2),
        ("<input disabled name=q>search", "search", 1),
        ("<o:p></o:p>Word", "Word", 2),
        ("<!DOCTYPE html><?xml version='1.0'?>text", "text", 2),
        ("<![CDATA[text]]>", "text", 2),
        ("before<!-- <b>never shown</b> -->after", "before after", 1),
        ("<script type='text/x'>if (a < b) run();</script>text<STYLE>p {}</STYLE >", "text", 2),
        ("<time>10</time> o'clock, <object>that</object>", "10 o'clock, that", 4),
        ('the end <a class="more" href="http://exam', "the end", 1),
        ("the end <img src='a.png' alt='A small do", "the end", 1),
    ],
)
def test_tags(text, clean, n_tags):
    assert cleaned(text) == (clean, {TAGS: n_tags})


def test_tags_as_entities_twice_escaped():
    assert cleaned("&amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt;") == ("bold", {ENTITIES: 8, TAGS: 2})


@pytest.mark.parametrize(
    ("text", "clean", "n_urls"),
    [
        ("see https://example.com/a_(b)?c=d&e=f#g for more", "see for more", 1),
        ("at www.example.org/x and HTTPS://EXAMPLE.COM too", "at and too", 2),
        ("(http://example.com/) [ftp://example.com/pub]", "", 2),
        ("example.com/path/to-page and news.example.co.uk/7 end", "and end", 2),
        ("https://de.example.org/wiki/Müller_Straße here", "here", 1),
        ("请看http://example.cn/abc你好", "请看 你好", 1),
        ("[more](http://example.com/x)", "[more]", 1),
        ("from ftp.lab.example.edu:pub/file.tar.Z today", "from today", 1),
        ("at ftp.example.edu, in pub/x", "at , in pub/x", 1),
    ],
)
def test_urls(text, clean, n_urls):
    assert cleaned(text) == (clean, {URLS: n_urls})


@pytest.mark.parametrize(
    ("text", "clean", "removed"),
    [
        ("write to jo.doe+x@mail.example.com now", "write to now", {ADDRESSES: 1}),
        ("Jo <jo@example.com>, mailto:ann@example.org!", "Jo , !", {ADDRESSES: 2}),
        ("请写信至jo@example.cn谢谢", "请写信至 谢谢", {ADDRESSES: 1}),
        ("123.45@example.com", "", {ADDRESSES: 1}),
        ("@jo thanks (@ann_b)", "thanks", {HANDLES: 2}),
        ("RT @jo: good news", "good news", {HANDLES: 1}),
        ("RT @2cool_57: good news", "good news", {HANDLES: 1}),
        ("@jo@social.example.org wrote", "wrote", {HANDLES: 1}),
        ("@jo.bsky.social wrote", "wrote", {HANDLES: 1}),
        ("@张三 你好", "你好", {HANDLES: 1}),
    ],
)
def test_addresses_and_handles(text, clean, removed):
    assert cleaned(text) == (clean, removed)


@pytest.mark.parametrize(
    ("text", "clean", "n_controls"),
    [
        ("\ufeffstart", "start", 1),
        ("c\xado\xadoperate", "cooperate", 2),
        ("a\x00b\x00c", "abc", 2),
        ("lost \ud83d half of an emoji", "lost half of an emoji", 1),
        ("\u200fשלום\u200e", "שלום", 2),
        ("\x1b[31mred\x1b[0m", "red", 2),
        ("_\x08b_\x08o_\x08l_\x08d", "bold", 4),
        ("caf\ufffd", "caf", 1),
        ("Farsi می\u200cخواهم\u200b", "Farsi می\u200cخواهم", 1),
    ],
)
def test_control_characters(text, clean, n_controls):
    assert cleaned(text) == (clean, {CONTROLS: n_controls})


def test_a_control_character_as_an_entity():
    assert cleaned("e&#8203;n&shy;d") == ("end", {CONTROLS: 2, ENTITIES: 2})


def test_ends_of_lines_are_all_the_same_and_not_counted():
    assert cleaned("a\r\nb\rc\u2028d\u2029e\x0bf\x0cg") == ("a\nb\nc\nd\ne\nf\ng", {})


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize(
    "text",
    [
        "Die Bücher über Österreich kosten 5 € – größtenteils.",
        "L’été dernier, elle a mangé à côté de l’hôtel.",
        "El niño comió piñas en España, ¿verdad?",
        "Šárka viděla žlutého koně",
        "Мы живём в большом городе",
        "“Quoted” — and ‘again’ … 😀",
    ],
)
def test_utf8_read_as_another_encoding_is_repaired(text, encoding):
    # as browsers do it: a byte that cp1252 does not have is a control character
    garbled = "".join(bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in text.encode())
    assert garbled != text
    assert cleaned(garbled) == (text, {ENCODINGS: 1})


def test_cp1252_read_as_latin_1_is_repaired():
    assert cleaned("\x93don\x92t\x94 \x96 5 \x80") == ("“don’t” – 5 €", {ENCODINGS: 1})


@pytest.mark.parametrize(
    "text",
    [
        "Ã la carte, SÃO PAULO, ÂNGELA, Åland",
        "« été » : l’été »",
        "Ça coûte 5 €, n’est-ce pas ? « Évidemment »",
        "Việt Nam, Łódź, İstanbul, Þórður",
        "π ≈ 3,14 ± 0,01 µm²",
        "日本語と中文，没有问题。",
    ],
)
def test_what_only_looks_like_a_broken_encoding(text):
    assert cleaned(text) == (text, {})


HEADER = """From: Jo Doe <jo@example.com>
X-Newsreader: reader 1.0
Subject: Re: RE: Growing tomatoes
Article-I.D.: example.12
Organization: A garden,
\tand a shed
Lines: 3

"""


@pytest.mark.parametrize(
    ("text", "clean", "removed"),
    [
        (HEADER + "Plant them early.", "Growing tomatoes\n\nPlant them early.", {HEADERS: 1}),
        ("\ufeff" + HEADER + "Soil", "Growing tomatoes\n\nSoil", {HEADERS: 1, CONTROLS: 1}),
        ("Von: Jo\nGesendet: Montag\nBetreff: AW: Beet\n\nGut.", "Beet\n\nGut.", {HEADERS: 1}),
        ("Message-ID: <1@example>\nDate: now\n\nSoil", "Soil", {HEADERS: 1}),
        ("From: a\nSubject: b\n\nFrom: c\nSubject: d\n\nSoil", "b\n\nSoil", {HEADERS: 1}),
        ("From: a\nSubject: only this", "only this", {HEADERS: 1}),
        (
            HEADER + "Ann Poe <ann@example.com> writes:\n> Which soil?\n>> Any soil.\n\nMine.\n> Why?\nSo.",
            "Growing tomatoes\n\nMine.\n\nSo.",
            {HEADERS: 1, QUOTES: 4},
        ),
        (
            HEADER + "In article <1@example>, ann@example.com\n(Ann Poe) wrote:\n\n: Which soil?\n: This one?\n\nMine.",
            "Growing tomatoes\n\nMine.",
            {HEADERS: 1, QUOTES: 4},
        ),
        (HEADER + "ann@example.com wrote:\nMine.", "Growing tomatoes\n\nMine.", {HEADERS: 1, QUOTES: 1}),
        (HEADER + "Mine.\n-- \nJo Doe\nA garden", "Growing tomatoes\n\nMine.", {HEADERS: 1, SIGNATURES: 1}),
        (
            "I agree.\n\nAm 3. Mai 2004 schrieb Ann Poe:\n> Welche Erde?\n> Diese?",
            "I agree.",
            {QUOTES: 3},
        ),
        ("On Monday, Ann wrote:\n> Which?\n\nThis.\n\n> Why?\nSo.\n--\nJo", "This.\n\nSo.", {QUOTES: 3, SIGNATURES: 1}),
    ],
)
def test_mails(text, clean, removed):
    assert cleaned(text) == (clean, removed)


def test_encoded_files_in_mails():
    uuencoded = "\n".join(["M" + "8V%T(&1O9R!C;W" * 4 + "!TP)"] * 3)
    base64 = "\n".join(["iQCVAwUBK9zRkbQ7" * 4] * 4)
    text = f"{HEADER}See this:\n{uuencoded}\n\nand this:\n{base64}\n\nend"
    clean, removed = cleaned(text)
    assert (clean, removed[ENCODED]) == ("Growing tomatoes\n\nSee this:\n\nand this:\n\nend", 7)


def test_a_mail_that_is_all_quotation_keeps_it():
    text = "Ann wrote:\n> Which soil?"
    assert cleaned(text) == (text, {})


REAL_TEXTS = [
    "Note: this is real text.\nWarning: so is this.\nTip: and this.\n\nMore.",
    "Event: Concert\nDate: 3 May\nPlace: Town hall\n\nThe band plays at 8.",
    "From: Berlin\nTo: Paris\nDate: 4 May\n\nA train to remember.",
    "It costs $5.99, 10@4.50 or £3 (EUR 4) & up; 50% off!",
    "AT&T and R&D; B&B; Q&A; Fish&Chips; S&P 500",
    "std::vector<int> v; for (int i=0; i<n && j>m; ++i) { a[i] <<= 2; main(); }",
    "List<Object> and Map<K, V> and First Bank <I> rose; press <time> or <date>",
    "if x<y and y>z, then a < b and c > d; x <b and c> y; I <3 you; a<-5; p->next",
    "0 <= x < 1, x << y >> z, A = <a, b>, 1<i<I\n(9)\nwhere y = 3 > 2",
    "meet @ noon, @ 5, eggs @450, a@b; @scores[2]; user @ example",
    "At 12:30 or 10:45:59, 3:2 in the Bible, C:\\temp\\a.txt, /usr/bin/env, and/or, he/she, km/h, U.S./U.K.",
    "Version 1.2.3, e.g. this, i.e. that... end.Start of a sentence without space",
    "# Title\n\n* one\n* two\n\n> a quotation in Markdown\n\n`code` [link] **bold** | a | b |",
    "The poet said:\n> Nevermore\n> and never more",
    ">>> print(1)\n1\n>>> 2 > 1\nTrue",
    "Roses are red\n    violets are blue\n\n\n\n        > and so are you <",
    "他说：“你好，世界！”《书》、（一）【二】……￥100",
    "an amp; then a guitar amp; #1; #12345; GSI #7; item #39 of 40",
    "&c. &foo; &Lee; ?a=1&lt=3&copy=2 &;",
    "👨‍👩‍👧 and ☀️ and می‌خواهم",
    "main() and [] and () and <> stay",
    "Q: What? A: That.\n--\nno signature",
    "Visit example.com or file.txt/x today; http:// and www. alone",
]


@pytest.mark.parametrize("text", REAL_TEXTS)
def test_real_text_stays_as_it_is(text):
    assert cleaned(text) == (text, {})


def test_code_in_a_mail_that_is_no_quotation_stays():
    body = "Jo said:\n- one\n- two\n\na | b\n| c |\nx = 3 >\n  4"
    assert cleaned(HEADER + body)[0] == "Growing tomatoes\n\n" + body


def test_a_text_with_everything_at_once():
    text = (
        "\ufeff<p>RT @jo: CafÃ© &amp; bar<br>https://example.com/x?a=1&amp;b=2</p>\r\n<!-- ad -->mail "
        "<a href='mailto:jo@example.com'>jo@example.com</a>&nbsp;now"
    )
    removed = {ENCODINGS: 1, CONTROLS: 1, ENTITIES: 3, TAGS: 6, URLS: 1, ADDRESSES: 1, HANDLES: 1}
    assert cleaned(text) == ("Café & bar\n\nmail now", removed)


def test_counts_of_several_texts_and_of_several_cleaners():
    first, second = Cleaner(), Cleaner()
    first.clean("<b>a</b> <i>b</i> &amp;")
    first.clean("<b>c</b>")
    first.clean("d")
    second.clean("x &amp; y")
    first.add(second)
    first.add(None)
    assert first.removed == {TAGS: 6, ENTITIES: 2}
    assert first.texts == {TAGS: 2, ENTITIES: 2}
    assert set(first.removed) <= set(KINDS)


def test_without_cleaning_only_lines_are_dropped():
    text = "<b>Read   More</b>\nstory\n<B>read more</b>"
    assert cleaned(text, clean=False) == (text, {})
    assert cleaned(text, clean=False, drop_lines=["<b>READ MORE</b>"]) == ("story", {LINES: 2})
    assert cleaned(text, drop_lines=["read more"]) == ("story", {TAGS: 4, LINES: 2})


# ---- properties ------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *"<>&;#@:/.()[]\n\r\t \"'=-|a1é中",
        *(
            "&amp;",
            "amp;",
            "&lt;",
            "gt;",
            "#39;",
            " #39;s",
            "&nbsp",
            "&#8203;",
            "&Atilde;",
            "Ã©",
            "â€™",
            "\x92",
            "\x00",
        ),
        *(
            "<b>",
            "</b>",
            "<p",
            "<br/>",
            "<a href='x",
            "<script>",
            "</script>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<time>",
        ),
        *("http://", "https://a.b/c", "www.", "a.com/b", "jo@example.com", "@jo", "RT @jo: ", "//@", "@jo@b.org"),
        *(
            "From: a\n",
            "Subject: Re: b\n",
            "Subject:\n",
            "\n\n",
            "Ann wrote:\n",
            "\n> ",
            "\n: ",
            "\n-- \n",
            "word",
            "end.",
        ),
        *("\xad", "\ufeff", "\ud800", "\u2028", "\x08", "\x1b[0m", "\u200d", "\xa0"),
    ]
)
MESSY_TEXTS = st.lists(PIECES, max_size=40).map("".join)


@given(MESSY_TEXTS)
@settings(max_examples=400, deadline=None)
def test_cleaning_twice_changes_nothing(text):
    once, _ = cleaned(text)
    assert cleaned(once) == (once, {})
    json.dumps(once).encode()


@given(MESSY_TEXTS)
@settings(max_examples=100, deadline=None)
def test_what_has_no_counts_is_the_same_text(text):
    clean, removed = cleaned(text)
    if not removed:
        assert clean.split() == text.split()
    assert all(number > 0 for number in removed.values())


HOSTILE = {
    "brackets": "<",
    "tags": "<b>",
    "nested tags": "<<b>",
    "open tags": "<a x=",
    "open quotes": '<a x="',
    "flags": "<a hidden hidden ",
    "comments": "<!--",
    "scripts": "<script>",
    "declarations": "<!DOCTYPE ",
    "ampersands": "&",
    "entities": "&amp;",
    "escaped ampersands": "amp;",
    "semicolons": "a;",
    "numbers": "#39;",
    "at signs": "@",
    "names": "a@",
    "addresses": "a@a.",
    "domains": "a.a.",
    "hosts": "www.",
    "schemes": "http://",
    "slashes": "://(",
    "paths": ".com/",
    "quotations": "\n>",
    "attributions": "\nwrote:\n>",
    "marks": "\nwrote:\n:",
    "articles": "\nIn article ",
    "headers": "From: a\n",
    "indented": "From: a\n b\n",
    "spaces": " ",
    "lines": "\n",
    "spaces and lines": " \n",
    "hyphens": "\n--",
    "files": "\nM" + "8V%T" * 15,
    "keys": "\n-----BEGIN PGP SIGNATURE-----\n",
    "base64": "\n" + "aB3+" * 16,
    "colours": "\x1b[",
    "backspaces": "a\x08",
    "garbled": "Ã©",
    "surrogates": "\ud800",
}


@pytest.mark.parametrize("begin", ["", "From: a\nSubject: b\n\n", "x" * 200])
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_end(piece, begin):
    """A step that looked at every pair of characters would take minutes."""
    for end in ("", "y", "\n\ny>"):
        Cleaner().clean(begin + piece * (100_000 // len(piece)) + end)


# ---- repeated lines --------------------------------------------------------------------------------------------------


def test_repeated_lines():
    footer, often = "Subscribe to our newsletter!", "Read more about it"
    texts = [f"Story {number}\n  {footer.upper() if number % 2 else footer}\n{footer}" for number in range(20)]
    texts += [f"Story {number} again\n{often}\nshort" for number in range(12)]
    assert repeated_lines(texts) == [(footer, 20), (often, 12)]


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""] * 50,
        ["The same line"] * 50,  # the whole text: a copy, not boilerplate
        [f"{number}\nshort line" for number in range(50)],  # fewer than 12 characters
        [f"{number}\nA line of nine texts" for number in range(9)],
        [f"{number}\n{'A rare line' * (number < 10)} of text" for number in range(2500)][:10]
        + [f"{number}\nother {number}" for number in range(2500)],  # fewer than 0.5 % of the texts
    ],
    ids=["none", "empty", "whole", "short", "nine", "rare"],
)
def test_what_is_no_repeated_line(texts):
    assert repeated_lines(texts) == []
