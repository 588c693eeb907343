"""Clean texts: what is markup, an address or a trace of a machine is removed and counted.

A text without anything to remove costs a few searches for single characters.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeAlias

__all__ = ["Cleaner", "line_key", "repeated_lines"]


# What is counted
ENCODINGS, CONTROLS, ENTITIES, TAGS = "repaired encodings", "control characters", "entities", "tags"
HEADERS, QUOTES, SIGNATURES, ENCODED = "mail headers", "quoted lines", "signatures", "encoded lines"
URLS, ADDRESSES, HANDLES = "URLs", "e-mail addresses", "handles"
CREDITS, LINES = "agency credits", "repeated lines"
_WITH_SPACES = frozenset((ENCODINGS, CONTROLS, ENTITIES, TAGS, CREDITS))  # removing these may leave several spaces
KINDS = (
    ENCODINGS, HEADERS, QUOTES, SIGNATURES, ENCODED, ENTITIES, TAGS, CONTROLS, URLS, ADDRESSES, HANDLES, CREDITS, LINES,
)  # fmt: skip


_ROUNDS = 10  # what one step removes may bring to light what another one removes: &amp;lt;b&amp;gt;

_LEAST_LENGTH = 12  # characters of a line that may be boilerplate
_LEAST_SHARE, _LEAST_DOCUMENTS = 0.005, 10  # of the documents in which such a line stands


class Cleaner:
    """Cleans texts one by one, and counts what it removes.

    Attributes
    ----------
    removed : Counter
        How often each kind of thing was removed.
    texts : Counter
        From how many texts.

    Examples
    --------
    >>> cleaner = Cleaner()
    >>> cleaner.clean("<p>Oracle #39;s bid &amp; <b>more</b>: https://t.co/x1</p>")
    "Oracle's bid & more:"
    >>> cleaner.removed["tags"], cleaner.texts["tags"]
    (4, 1)
    """

    def __init__(self, drop_lines: Iterable[str] = (), *, clean: bool = True) -> None:
        self.removed: Counter[str] = Counter()
        self.texts: Counter[str] = Counter()
        self._steps = _STEPS if clean else ()
        self._drop = frozenset(map(line_key, drop_lines))

    def clean(self, text: str) -> str:
        """The text without what is not meant to be read."""
        counts: dict[str, int] = {}
        cleaned = text
        for _ in range(_ROUNDS):
            before = cleaned
            for step in self._steps:
                cleaned = step(cleaned, counts)
            if self._drop:
                cleaned = self._without_lines(cleaned, counts)
            if counts:
                cleaned = _tidy(cleaned, spaces=not _WITH_SPACES.isdisjoint(counts))
            if cleaned == before:
                break
        self.removed.update(counts)
        self.texts.update(counts.keys())
        return cleaned

    def add(self, other: Cleaner | None) -> None:
        """Add what another cleaner has removed."""
        if other is not None:
            self.removed.update(other.removed)
            self.texts.update(other.texts)

    def _without_lines(self, text: str, counts: dict[str, int]) -> str:
        lines = text.split("\n")
        other_lines = [line for line in lines if line_key(line) not in self._drop]
        if len(other_lines) == len(lines):
            return text
        counts[LINES] = counts.get(LINES, 0) + len(lines) - len(other_lines)
        return "\n".join(other_lines)


def line_key(line: str) -> str:
    """What two lines of boilerplate have in common: their text without case and white space around words.

    >>> line_key("  Read   more") == line_key("read MORE ")
    True
    """
    return " ".join(line.split()).casefold()


def repeated_lines(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Lines that stand in many of the texts, which should be clean, with the number of texts; most frequent first.

    A line counts from 12 characters on, and if it stands in at least 10 and 0.5 % of the texts beside other lines.

    >>> repeated_lines([f"Story {word}\\nSubscribe to our newsletter!" for word in "abcdefghijkl"])
    [('Subscribe to our newsletter!', 12)]
    """
    numbers: Counter[str] = Counter()
    examples: dict[str, str] = {}
    n_texts = 0
    for text in texts:
        n_texts += 1
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        keys = {line_key(line): line for line in lines if len(line) >= _LEAST_LENGTH}
        if len(lines) > 1:
            numbers.update(keys.keys())
            for key, line in keys.items():
                examples.setdefault(key, line)
    least = max(_LEAST_DOCUMENTS, _LEAST_SHARE * n_texts)
    return [(examples[key], number) for key, number in numbers.most_common() if number >= least]


_Replacement: TypeAlias = str | Callable[[re.Match[str]], str]


def _count(kind: str, pattern: re.Pattern[str], replacement: _Replacement, text: str, counts: dict[str, int]) -> str:
    """Replace and count, except for matches that stay as they are."""
    if isinstance(replacement, str):
        text, number = pattern.subn(replacement, text)
    else:
        number = 0
        replace = replacement

        def replaced(match: re.Match[str]) -> str:
            nonlocal number
            result = replace(match)
            number += result != match[0]
            return result

        text = pattern.sub(replaced, text)
    if number:
        counts[kind] = counts.get(kind, 0) + number
    return text


def _tidy(text: str, spaces: bool) -> str:
    """Without empty lines and, if there may be any, spaces where something was removed."""
    if spaces:
        text = text.replace("\xa0", " ").replace("\t", " ")
        for long, short in (("  ", " "), (" \n", "\n"), ("\n ", "\n")):
            while long in text:
                text = text.replace(long, short)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()


# ---- characters, entities and tags -----------------------------------------------------------------------------------


def _remove_markup(text: str, counts: dict[str, int]) -> str:
    text = _remove_controls(_repair_encodings(text, counts), counts)
    if ";" in text or "&" in text:
        text = _unescape(text, counts)
    return _remove_tags(text, counts) if "<" in text else text


# UTF-8 that was read as Latin-1 or cp1252: a lead byte, and after it something that stands for a following byte
_MOJIBAKE = re.compile(
    "[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014"
    "\u2018-\u201e\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122]"
)
_CP1252 = re.compile("[\x80-\x9f]")  # that was read as Latin-1
_PLAIN = bytes((9, 10, *range(32, 127)))  # characters of ASCII that stay
# not the joiners U+200C and U+200D, which Persian, Indic scripts and emoji need; colours and overstriking of terminals
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffd\ud800-\udfff]"
    r"(?:(?<=\x1b)\[[0-9;?]*[A-Za-z])?"
)
_OVERSTRUCK = re.compile(r"[^\n]\x08")
_ENDS_OF_LINES = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\u2028\u2029]")


def _repair_encodings(text: str, counts: dict[str, int]) -> str:
    if text.isascii() or not _MOJIBAKE.search(text):
        return text
    import ftfy

    repaired = ftfy.fix_encoding(text)
    if repaired != text:
        counts[ENCODINGS] = 1
    return repaired


def _from_cp1252(match: re.Match[str]) -> str:
    return match[0].encode("latin-1").decode("cp1252", "ignore")


def _remove_controls(text: str, counts: dict[str, int]) -> str:
    if text.isascii():
        if not text.encode().translate(None, _PLAIN):
            return text
    elif (text.isprintable() or text.replace("\n", "").isprintable()) and "\ufffd" not in text:
        return text
    elif _CP1252.search(text):
        text = _CP1252.sub(_from_cp1252, text)
        counts[ENCODINGS] = 1
    text = _ENDS_OF_LINES.sub("\n", text)
    if "\x08" in text:
        text = _count(CONTROLS, _OVERSTRUCK, "", text, counts)
    return _count(CONTROLS, _CONTROL, "", text, counts)


# Entities; some files have lost the ampersand, or have a space in its place: Oracle #39;s
_ENTITY = re.compile(
    r"&(?:(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});|(?:amp|quot|nbsp|lt|gt)(?![\w=;]))"
)
_BARE_NUMBER = "3[3-9]|4[0-7]|6[0-4]|9[1-6]|12[3-6]|1[3-9]\\d|2[0-4]\\d|25[0-5]|8[2-4]\\d\\d"  # of usual characters
_BARE_NAME = "quot|lt|gt|nbsp|apos|lsquo|rsquo|ldquo|rdquo|ndash|mdash|hellip"
# "an amp; then" is text, but AT amp;T and S  amp; P are not
_BARE_AMP = r"(?<!-)amp(?=;\S)|(?<=\s\s)amp(?=;)"
_BARE_ENTITY = re.compile(rf"(?:(?<!&)#(?:{_BARE_NUMBER})|(?<![&\w])(?:{_BARE_NAME}|{_BARE_AMP}));")
_SPLIT_APOSTROPHE = re.compile(r"(?<=\w) (?:#39;|#146;|#8217;|apos;|rsquo;)(?=(?:s|t|d|m|re|ve|ll)\b)")
# what precedes the semicolon is looked at from behind: Python searches for one character fast
_MAY_BE_BARE = re.compile(
    r";(?:(?<=[lg]t;)|(?<=#\d\d;)|(?<=#\d\d\d;)|(?<=#8\d\d\d;)|(?<=amp;)|(?<=quot;)|(?<=nbsp;)|(?<=apos;)"
    r"|(?<=quo;)|(?<=dash;)|(?<=hellip;))"
)


def _unescape(text: str, counts: dict[str, int]) -> str:
    if "&" in text:
        text = _count(ENTITIES, _ENTITY, lambda match: html.unescape(match[0]), text, counts)
    if _MAY_BE_BARE.search(text):
        text = _count(ENTITIES, _SPLIT_APOSTROPHE, "'", text, counts)
        text = _count(ENTITIES, _BARE_ENTITY, lambda match: html.unescape(f"&{match[0]}"), text, counts)
    return text


# What stands in place of a tag: a new line or paragraph, nothing within a word, otherwise a space
_LINE_TAGS = "br dd dt hr li tr"
_BLOCK_TAGS = (
    "address article blockquote body dir div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header html main"
)
_BLOCK_TAGS += " nav ol p pre section table tbody tfoot thead ul"
_WORD_TAGS = "a abbr acronym b bdi bdo big blink cite code del em font i ins kbd mark nobr q s samp small span strike"
_WORD_TAGS += " strong sub sup tt u var"
_OTHER_TAGS = "area aside audio base button canvas caption center col colgroup details embed figcaption frame frameset"
_OTHER_TAGS += " head iframe img input label legend link map marquee meta noscript object option param picture script"
_OTHER_TAGS += " select source style summary svg td template textarea th time title track video wbr"
_SPACE_OF_TAG = {
    name: space
    for names, space in ((_LINE_TAGS, "\n"), (_BLOCK_TAGS, "\n\n"), (_WORD_TAGS, ""), (_OTHER_TAGS, " "))
    for name in names.split()
}
_IS_OF_OFFICE = re.compile(r"(?:o|w|v|st1):\w+").fullmatch
# alone, these are more often a placeholder, a type or a symbol: <time>, List<Object>, First Interstate <I>
_NEEDS_CLOSING = re.compile(
    "a|abbr|area|audio|b|base|big|button|canvas|caption|center|cite|code|col|del|details|dir|embed|frame|head|header|i"
    "|input|kbd|label|legend|link|main|map|mark|meta|nav|object|option|param|picture|q|s|script|section|select|small"
    "|source|style|summary|template|time|title|track|u|var|video"
).fullmatch
_ATTRIBUTE = r"\s+[\w:.@-]+\s*="
_FLAGS = r"(?:\s+(?:async|checked|controls|defer|disabled|hidden|nowrap|noshade))*+"
_VALUE = r"""(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+)"""
_OTHER_ATTRIBUTES = rf"""(?:[\s"'/]++|[\w:.@-]++(?:\s*=\s*{_VALUE}?)?)*+"""
_NAME_OF_TAG = r"([a-zA-Z][a-zA-Z0-9]*(?::\w+)?)"
# with an equals sign after the first word: "a <b and c> d" is no tag
_TAG = re.compile(rf"<(/?){_NAME_OF_TAG}(?:\s*+/?>|({_FLAGS}{_ATTRIBUTE}\s*{_VALUE}?{_OTHER_ATTRIBUTES})>)")
_CLOSING = re.compile(rf"</{_NAME_OF_TAG}\s*>")
_CUT_TAG = re.compile(  # by a limit on the length of texts
    rf"""<{_NAME_OF_TAG}(?={_FLAGS}{_ATTRIBUTE}){_FLAGS}(?:{_ATTRIBUTE}\s*{_VALUE})*+"""
    rf"""(?:\s+[\w:.@-]*(?:\s*=\s*(?:"[^"<>]*|'[^'<>]*)?)?)?\s*\Z"""
)
_COMMENT = re.compile("<!--")
_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>", re.I)
_DECLARATION = re.compile(
    r"<(?:!(?:\[CDATA\[|(?:doctype|element|attlist|entity)\b[^<>]*>|\[(?:if|endif)\b[^<>]*>)|\?(?:xml|php)\b[^<>]*>)"
    r"|(?:\]\]>)",
    re.I,
)


def _remove_tags(text: str, counts: dict[str, int]) -> str:
    """Without tags, comments, scripts, styles and declarations."""
    if "<!--" in text:
        text = _cut(text, _COMMENT, lambda _: "-->", counts)
    if _SCRIPT.search(text):
        text = _cut(text, _SCRIPT, lambda match: f"</{match[1]}", counts)
    if "<!" in text or "<?" in text or "]]>" in text:
        text = _count(TAGS, _DECLARATION, " ", text, counts)
    closed = {match[1].lower() for match in _CLOSING.finditer(text)}

    def in_place_of_tag(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_alone = not match[1] and match[3] is None and name not in closed and _NEEDS_CLOSING(name)
        return match[0] if is_alone else _space_of_tag(name, match[0])

    text = _count(TAGS, _TAG, in_place_of_tag, text, counts)
    cut = _CUT_TAG.match(text, max(text.rfind("<"), 0))
    if cut and not _space_of_tag(cut[1].lower(), "<").startswith("<"):
        text = text[: cut.start()]
        counts[TAGS] = counts.get(TAGS, 0) + 1
    return text


def _space_of_tag(name: str, other: str) -> str:
    """What stands in place of a tag; `other` if there is no such tag."""
    return _SPACE_OF_TAG.get(name, " " if ":" in name and _IS_OF_OFFICE(name) else other)


def _cut(
    text: str, opening: re.Pattern[str], closing_of: Callable[[re.Match[str]], str], counts: dict[str, int]
) -> str:
    """Without the passages from an opening to its closing; an opening that is never closed ends the search."""
    parts, end, lowered = [], 0, text.lower() if len(text.lower()) == len(text) else text
    while match := opening.search(text, end):
        closing = closing_of(match).lower()
        close = lowered.find(closing, match.end())
        if close < 0:
            break
        parts.append(text[end : match.start()])
        end = close + len(closing)
        end += text[end : end + 20].find(">") + 1 if closing.startswith("</") else 0
    if not parts:
        return text
    counts[TAGS] = counts.get(TAGS, 0) + len(parts)
    return " ".join([*parts, text[end:]])


# ---- mails and news articles -----------------------------------------------------------------------------------------


def _lines_like(line: str, least: int = 1, after: str = "") -> re.Pattern[str]:
    """A pattern of some lines; Python searches fast for the end of line before the first, if it is in no group."""
    return re.compile(rf"{line}(?:{line}){{{least - 1},}}+{after}")


_NAME_OF_FIELD = r"[ \t]*[A-Za-z\u00c0-\u00ff][\w.-]*:(?=[ \t\n]|\Z)"
_HEADER = re.compile(
    rf"\s*+(?:{_NAME_OF_FIELD}.*(?:\n(?!{_NAME_OF_FIELD})[ \t]+\S.*)*+(?:\n|\Z)){{2,}}+(?=[ \t]*(?:\n|\Z))"
)
_FIELD = re.compile(r"^[ \t]*([^\s:]+):", re.M)
_OF_MACHINES = frozenset(("message-id", "received", "newsgroups", "nntp-posting-host", "return-path"))
_OF_PEOPLE = frozenset(("from", "to", "date", "sent", "von", "an", "datum", "gesendet", "de", "para", "da", "fecha"))
_SUBJECT_FIELDS = frozenset(("subject", "betreff", "objet", "asunto", "oggetto", "assunto"))
_SUBJECT = re.compile(
    rf"^[ \t]*(?:{'|'.join(_SUBJECT_FIELDS)}):[ \t]*(?:(?:re|fwd?|aw|wg|sv|tr|rv)[ \t]*:[ \t]*)*+(.*)$", re.M | re.I
)
_WROTE = "wrote|writes|schrieb|schreibt|écrit|escribió|escribe|scrive|scritto|escreveu|schreef"
_ATTRIBUTION = re.compile(rf"\b(?:{_WROTE})\b[^\n]{{0,60}}[:.>]\Z")
_ATTRIBUTION_IN_MAIL = re.compile(rf"\b(?:{_WROTE}|said|says)\b[^\n]{{0,60}}[:.>]\Z")
_ATTRIBUTION_BEGINS = re.compile(r"[ \t>]*(?:In|On|Am|Le|El|Il|Em|Op|Den|Excerpts)\b")
_END_OF_ATTRIBUTION = re.compile(r":(?=[ \t]*(?:\n|\Z))")
_LONGEST_ATTRIBUTION = 400
_OTHER_MARK = re.compile(r"\n[ \t]*([:|#}<\]=+~@%])")
_QUOTED_LINE = r"\n[ \t]*(?:\||[A-Za-z]{1,3})?>[^\n]*"
_QUOTED = _lines_like(_QUOTED_LINE)
_MOST_LINES_OF_SIGNATURE = 12
# files as text, and signatures by machines
_PGP_BLOCK = re.compile(
    r"\n[ \t]*-----BEGIN PGP (?:SIGNATURE|PUBLIC KEY BLOCK)-----(?:\n(?!-----)[^\n]*)*+\n-----END PGP [^\n]*"
)
_UUENCODED = _lines_like(r"\nM[!-`][ -`]{58,59}[ \t]*(?=\n|\Z)", 2, r"(?:\n[!-`][ -`]{1,60}(?=\n`?\n[ \t]*end\b))?")
_BASE64 = _lines_like(r"\n[A-Za-z0-9+/]{60,76}(?=\n|\Z)", 2, r"(?:\n[A-Za-z0-9+/]{2,75}={0,2}(?=\n|\Z))?")


def _remove_mail(text: str, counts: dict[str, int]) -> str:
    """Without the headers of a mail or news article, except for the subject, quoted lines, a signature and files."""
    subject, begin = _headers(text)
    if begin:
        text = (f"{subject}\n\n" if subject else "") + text[begin:]
        counts[HEADERS] = counts.get(HEADERS, 0) + 1
    elif ">" not in text:
        return text
    unquoted, n_quoted = _without_quotes(f"\n{text}", begin > 0)
    if not (begin or n_quoted):
        return text
    unquoted, n_encoded = _without_encoded(unquoted)
    unquoted, n_signatures = _without_signature(unquoted)
    unquoted = unquoted[1:]
    if not unquoted.strip():  # nothing but quotations
        return text
    for kind, number in ((QUOTES, n_quoted), (ENCODED, n_encoded), (SIGNATURES, n_signatures)):
        if number:
            counts[kind] = counts.get(kind, 0) + number
    return unquoted


def _headers(text: str) -> tuple[str, int]:
    """The subject in the headers that a text begins with, and where they end; 0 if there are none."""
    subject, end = "", 0
    while header := _HEADER.match(text, end):
        names = {match[1].lower() for match in _FIELD.finditer(header[0])}
        if not (names & _OF_MACHINES or (names & _OF_PEOPLE and names & _SUBJECT_FIELDS)):
            break
        line = _SUBJECT.search(header[0])
        subject = subject or (line[1].strip() if line else "")
        end = header.end()
    return subject, end


def _without_quotes(text: str, is_mail: bool) -> tuple[str, int]:
    """The text, which begins with an end of line, without quoted lines and attributions, and their number.

    In mails, lines that begin with > are quoted, and so are those that begin with another mark if the first of them
    follows an attribution. In other texts, lines that begin with > are quoted if some of them follow an attribution.
    """
    text, n_quoted = _without_block(text, _QUOTED, is_mail)
    if not is_mail:
        return text, n_quoted
    marks = {match[1]: match.start() for match in reversed(list(_OTHER_MARK.finditer(text)))}
    for mark in [mark for mark, start in marks.items() if _attribution_before(text, 0, start, True)]:
        text, number = _without_block(text, _quoted_with(mark), True)
        n_quoted += number
    text, n_alone = _without_attributions(text)
    return text, n_quoted + n_alone


@cache
def _quoted_with(mark: str) -> re.Pattern[str]:
    return _lines_like(rf"\n[ \t]*{re.escape(mark)}[^\n]*")


def _without_block(text: str, pattern: re.Pattern[str], is_mail: bool) -> tuple[str, int]:
    parts, end, number = [], 0, 0
    for match in pattern.finditer(text):
        attribution = _attribution_before(text, end, match.start(), is_mail)
        start = match.start() - len(attribution)
        is_mail = is_mail or bool(attribution)
        number += text.count("\n", match.start(), match.end())
        if attribution:
            number += attribution.strip().count("\n") + 1
        parts.append(text[end:start])
        end = match.end()
    return ("\n".join([*parts, text[end:]]), number) if parts and is_mail else (text, 0)


def _without_attributions(text: str) -> tuple[str, int]:
    """Without attributions of which the quotation has no mark; to be sure, they have an address or an article."""
    parts, end, number = [], 0, 0
    for match in _END_OF_ATTRIBUTION.finditer(text):
        attribution = _attribution_before(text, end, match.end(), True)
        if "@" in attribution or attribution.startswith("\nIn article"):
            parts.append(text[end : match.end() - len(attribution)])
            end = match.end()
            number += attribution.count("\n")
    return ("".join([*parts, text[end:]]), number) if parts else (text, 0)


def _attribution_before(text: str, begin: int, end: int, is_mail: bool) -> str:
    """The lines before a quotation that say who wrote it, with the empty lines after them; '' if there are none."""
    lines = text[max(begin, end - _LONGEST_ATTRIBUTION) : end].rstrip().rsplit("\n", 3)[1:]
    if not lines or not (_ATTRIBUTION_IN_MAIL if is_mail else _ATTRIBUTION).search(lines[-1]):
        return ""
    n_lines = 1
    for number, line in enumerate(reversed(lines), 1):
        if not line.strip():
            break
        if _ATTRIBUTION_BEGINS.match(line):
            n_lines = number
            break
    head = "".join(f"\n{line}" for line in lines[-n_lines:])
    return text[text.rindex(head, begin, end) : end]


def _without_encoded(text: str) -> tuple[str, int]:
    n_lines = text.count("\n")
    if "\nM" in text:
        text = _UUENCODED.sub("", text)
    if "-----BEGIN PGP" in text:
        text = _PGP_BLOCK.sub("", text)
    text = _BASE64.sub("", text)
    return text, n_lines - text.count("\n")


def _without_signature(text: str) -> tuple[str, int]:
    """The text without what follows a line with two hyphens near its end."""
    lines = text.rstrip().rsplit("\n", _MOST_LINES_OF_SIGNATURE + 1)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "--":
            return "\n".join(lines[:number]), 1
    return text, 0


# ---- addresses and credits -------------------------------------------------------------------------------------------

# What a mark such as @ or :// tells is looked at from there; nothing is searched from each letter of a text
_LETTERS = "a-zA-Z\u00c0-\u024f"
_HOST = "".join(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123)))) + ".-"
_LOCAL_PART = _HOST + "_%+" + "".join(map(chr, range(0xC0, 0x250)))  # of an e-mail address, before the @
_LONGEST_HOST, _LONGEST_LOCAL_PART = 100, 64
_MARK_OF_HOST = r"\.(?:[a-z]{2,6}/|(?:com|org|net|edu|gov|mil)(?![\w-]))"
_URL_MARK = re.compile(rf"://|www\.|{_MARK_OF_HOST}")
_HOST_MARK = re.compile(_MARK_OF_HOST)
_SCHEME = re.compile(r"(?:https?|ftps?|file)\Z", re.I)
_IS_DOMAIN = re.compile(  # of addresses without http:// and www.
    "com|org|net|edu|gov|mil|int|info|biz|news|blog|shop|site|online|tech|app|de|fr|uk|es|it|nl|be|ch|at|pl|ru|ua|jp|cn"
    "|kr|tw|in|au|nz|ca|br|mx|ar|cl|eu|us|se|no|dk|fi|ie|gr|pt|cz|hu|ro|tr|il|za|io|co|ly|gl|me|tv|gd|cc|ai|st"
).fullmatch
_URL_CHARACTER = "!#-;=?-~\u00c0-\u0dff"
# no full stop, comma or bracket at the end
_REST_OF_URL = re.compile(rf"[{_URL_CHARACTER}]*[#$%&*+/-9=@A-Z_a-z~\u00c0-\u0dff-]")
_PATH_ON_HOST = re.compile(r"(?::[\w~./-]*[\w/])?")  # ftp.x.edu:pub/file.Z
_DOMAIN = re.compile(rf"(?:[{_LETTERS}0-9-]{{1,63}}\.)+[{_LETTERS}][{_LETTERS}0-9-]{{1,62}}")
# after the @; on Mastodon with the name of a server
_HANDLE = re.compile(
    r"[^\W\d]\w{1,29}+(?![\w\[({])(?:@(?:[a-zA-Z0-9-]{1,63}\.)+[a-zA-Z]{2,24}|(?:\.[a-z_]\w*)*)(?::(?=\s))?"
)
_HANDLE_PASSED_ON = re.compile(r"\w{2,30}(?::(?=\s))?")  # RT @2cool:
_BRACKETS = {"<": ">", "(": ")", "[": "]"}
_AT = re.compile("@")
_Place: TypeAlias = tuple[int, int, str]  # start, end and kind


def _remove_addresses(text: str, counts: dict[str, int]) -> str:
    if "://" in text or "www." in text or _HOST_MARK.search(text):
        text = _without_places(text, _URL_MARK, _url_at, counts)
    return _without_places(text, _AT, _name_at, counts) if "@" in text else text


def _without_places(
    text: str,
    mark: re.Pattern[str],
    place_at: Callable[[str, re.Match[str], int], _Place | None],
    counts: dict[str, int],
) -> str:
    """Without what stands at some of the marks, and brackets around it; words do not grow together."""
    parts, end, position = [], 0, 0
    while match := mark.search(text, position):
        position = match.end()
        place = place_at(text, match, end)
        if place is None:
            continue
        start, stop, kind = place
        if start > end and _BRACKETS.get(text[start - 1]) == text[stop : stop + 1]:
            start, stop = start - 1, stop + 1
        is_after_space = start == 0 or text[start - 1].isspace()
        is_before_space = stop == len(text) or text[stop].isspace()
        parts += [text[end:start], "" if is_after_space or is_before_space else " "]
        position = end = stop + (is_after_space and text[stop : stop + 1] == " ")
        counts[kind] = counts.get(kind, 0) + 1
    return "".join([*parts, text[end:]]) if parts else text


def _url_at(text: str, mark: re.Match[str], begin: int) -> _Place | None:
    """The URL with this mark: a scheme, www., a domain with a path, or a host name of three parts or more."""
    at = mark.start()
    before = text[max(begin, at - _LONGEST_HOST) : at]
    host = before[len(before.rstrip(_HOST)) :].lstrip(".-")
    if mark[0] == "://":
        scheme = _SCHEME.search(host)
        start = at - len(scheme[0]) if scheme else -1
    else:
        previous = text[at - len(host) - 1 : at - len(host)] if at - len(host) > begin else ""
        is_start = not (previous.isalnum() or previous in ("@", "/", "_")) if previous else True
        if mark[0][0] == "." and mark[0][-1] != "/":
            path = _PATH_ON_HOST.match(text, mark.end())
            return (at - len(host), path.end(), URLS) if path and is_start and "." in host else None
        is_url = not host if mark[0] == "www." else host and _IS_DOMAIN(mark[0][1:-1])
        start = at - len(host) if is_url and is_start else -1
    rest = _REST_OF_URL.match(text, mark.end()) if start >= 0 else None
    if rest is not None:
        return start, rest.end(), URLS
    return (start, mark.end(), URLS) if start >= 0 and mark[0].endswith("/") and mark[0] != "://" else None


def _name_at(text: str, mark: re.Match[str], begin: int) -> _Place | None:
    """The e-mail address or handle with this @."""
    at = mark.start()
    before = text[max(begin, at - _LONGEST_LOCAL_PART) : at]
    local = before[len(before.rstrip(_LOCAL_PART)) :]
    if local:
        domain = _DOMAIN.match(text, at + 1)
        start = at - len(local) - 7 * text.startswith("mailto:", max(begin, at - len(local) - 7))
        if domain is not None:
            return max(start, begin), domain.end(), ADDRESSES
        if local.strip("."):
            return None
    is_passed_on = text[max(at - 3, begin) : at] == "RT "
    handle = (_HANDLE_PASSED_ON if is_passed_on else _HANDLE).match(text, at + 1)
    previous = text[at - 1 : at] if at > begin else ""
    if handle is None or previous.isalnum() or previous == "@" or (previous == "/" and text[at - 2 : at] != "//"):
        return None
    return at - 3 * is_passed_on, handle.end(), HANDLES


# The beginning of many news items: "Storm nears coast (AP). AP - The storm", "MADRID (Reuters) - The storm"
_AGENCIES = "AAP|AFP|AFX|ANSA|AP|CP|Canadian Press|Bloomberg|dpa|DPA|EFE|Europa Press|IANS|Interfax|Itar-Tass|Kyodo"
_AGENCIES += "|Notimex|PA|PTI|Reuters|REUTERS|Sports Network|TASS|UPI|Xinhua|Yonhap"
_DASH = "(?:--?|[\u2013\u2014])"
_CREDIT = re.compile(
    rf"\((?:{_AGENCIES})\)\s*{_DASH}(?=\s)|(?:\A|(?<=\n))(?:{_AGENCIES})\s+{_DASH}(?=\s)"
    rf"|\(([^()\n]{{2,30}})\)[.:]?\s+\1\s+{_DASH}(?=\s)"
)
_BEGINNING = 400  # characters in which credits are looked for


def _remove_credits(text: str, counts: dict[str, int]) -> str:
    beginning = text[:_BEGINNING]
    if not any(dash in beginning for dash in (" -", ")-", "\u2013", "\u2014")):
        return text
    credited = _count(CREDITS, _CREDIT, " ", beginning, counts)
    return text if credited == beginning else credited + text[_BEGINNING:]


_STEPS: tuple[Callable[[str, dict[str, int]], str], ...] = (
    _remove_markup, _remove_mail, _remove_addresses, _remove_credits,
)  # fmt: skip
