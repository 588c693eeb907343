"""The cache folder of the user, for files that can be created again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["user_cache"]


def user_cache(name: str) -> Path:
    """The folder of a cache of topicfold, which may not exist yet."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "topicfold" / name
