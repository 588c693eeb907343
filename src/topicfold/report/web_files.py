"""The files in web/, and its scripts joined into one.

The scripts are ES modules. A page opened from disk may not load modules, and its security policy lists the hash of each
script; so the modules that an entry needs are put one after the other, without their imports and exports, into one
function. They then share one scope. What would mean something else in it is refused.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib import resources

__all__ = ["joined_scripts", "web_file"]

_IMPORT = re.compile(r"^import \{([^}]*)\} from '(\.\.?/[^']+)';\n", re.MULTILINE)
_DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let) (\w+)", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import\b|export\b|var\b|(?:const|let) [\[{]).*", re.MULTILINE)


def web_file(name: str) -> str:
    """The text of a file in web/."""
    return (resources.files(__package__) / "web").joinpath(*name.split("/")).read_text(encoding="utf-8")


@cache
def joined_scripts(entry: str) -> str:
    """A script and the modules it imports, each after those that it imports itself, in one async function."""
    modules: dict[str, str] = {}  # by the names of their files: their text without imports and exports
    declared: dict[str, str] = {}  # by the name of a function, class or variable: its module
    exported: dict[str, set[str]] = {}

    def add(name: str, importers: list[str]) -> None:
        if name in importers:
            cycle = " -> ".join([*importers[importers.index(name) :], name])
            raise ValueError(f"{cycle}: expected no cycle of imports; move what they share to a file of its own")
        if name in modules:
            return
        text = web_file(name)
        for names, path in _IMPORT.findall(text):
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            add(imported, [*importers, name])
            if missing := set(filter(None, re.split(r"[,\s]+", names))) - exported[imported]:
                raise ValueError(f"{name} imports {min(missing)}: expected an export of {imported}; add or rename it")
        body = _DECLARATION.sub(lambda found: found[0].removeprefix("export "), _IMPORT.sub("", text))
        if unknown := _UNKNOWN.search(body):
            raise ValueError(
                f"{name} has {unknown[0]!r}: expected `import {{ name }} from './file.js'`, or `export` before a "
                "function, class, const or let with one name; write it so"
            )
        for _, local in _DECLARATION.findall(text):
            if local in declared:
                raise ValueError(f"{name} has {local}, and so has {declared[local]}: expected one; rename it")
            declared[local] = name
        exported[name] = {local for export, local in _DECLARATION.findall(text) if export}
        modules[name] = body.strip() + "\n"

    add(entry, [])
    return "".join(["'use strict';\n(async () => {\n", "\n".join(modules.values()), "})();\n"])
