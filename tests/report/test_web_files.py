"""The scripts of a page: modules joined in the order of their imports; what would not survive that is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicfold.report import web_files
from topicfold.report.web_files import joined_scripts

WEB = Path(web_files.__file__).parent / "web"


@pytest.fixture
def joined(monkeypatch):
    """Join a.js with the other files that are given."""

    def join(**files):
        texts = {f"{name.replace('__', '/')}.js": text for name, text in files.items()}
        monkeypatch.setattr(web_files, "web_file", texts.__getitem__)
        return joined_scripts.__wrapped__("a.js")

    return join


def test_modules_follow_those_they_import(joined):
    a = "// Starts.\n\nimport { c } from './c.js';\nimport {\n  b,\n  B,\n} from './views/b.js';\n\nb(c, B);\n"
    b = "import { c } from '../c.js';\n\nexport async function b() {}\nexport class B {}\nconst local = c;\n"
    c = "export let c = 1;\n"
    expected = [
        "'use strict';",
        "(async () => {",
        "let c = 1;",
        "async function b() {}",
        "class B {}",
        "const local = c;",
        "// Starts.",
        "b(c, B);",
        "})();",
    ]
    assert [line for line in joined(a=a, views__b=b, c=c).splitlines() if line] == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": "import b from './b.js';\n"}, r"^a\.js has \"import b from './b\.js';\": expected `import \{ name \}"),
        ({"a": "import * as b from './b.js';\n"}, "expected `import"),
        ({"a": "import './b.js';\n"}, "expected `import"),
        ({"a": "import { b } from 'b';\n"}, "expected `import"),
        ({"a": "export default function a() {}\n"}, "has 'export default function"),
        ({"a": "export { a };\n"}, "has 'export { a };'"),
        ({"a": "export * from './b.js';\n"}, 'has "export'),
        ({"a": "export const { a } = b;\n"}, "has 'export const { a } = b;'"),
        ({"a": "const [a] = b;\n"}, "has 'const \\[a\\]"),
        ({"a": "var a = 1;\n"}, "has 'var a = 1;'"),
        (
            {"a": "import { b } from './b.js';\n", "b": "const b = 1;\n"},
            r"^a\.js imports b: expected an export of b\.js; add or rename it$",
        ),
        (
            {"a": "import { b as c } from './b.js';\n", "b": "export const b = 1;\n"},
            r"^a\.js imports as: expected an export of b\.js",
        ),
        (
            {"a": "import { b } from './b.js';\nconst twice = b;\n", "b": "export const b = 1;\nfunction twice() {}\n"},
            r"^a\.js has twice, and so has b\.js: expected one; rename it$",
        ),
        (
            {
                "a": "import { b } from './b.js';\n",
                "b": "import { c } from './c.js';\nexport const b = 1;\n",
                "c": "import { b } from './b.js';\nexport const c = 1;\n",
            },
            r"^b\.js -> c\.js -> b\.js: expected no cycle of imports",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(joined, files, message):
    with pytest.raises(ValueError, match=message):
        joined(**{"b": "export const b = 1;\n", **files})


def test_every_script_is_part_of_a_page():
    pages = joined_scripts("explorer.js") + joined_scripts("tasks.js")
    scripts = [path for path in WEB.rglob("*.js") if path.parent.name != "vendor"]
    assert len(scripts) > 30
    for script in scripts:
        assert script.read_text(encoding="utf-8").splitlines()[0] in pages, script
