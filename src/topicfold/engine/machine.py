"""What is known about the machine: its memory, its processes, and the cache folder of its user."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

__all__ = ["is_running", "lock_file", "machine_memory", "user_cache"]


def machine_memory() -> int:
    """The memory of the machine in bytes; 16 GB if it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf, and some systems do not know the name
        return 1 << 34


def is_running(process: int) -> bool:
    """Whether a process of this machine is running; True if that cannot be found out."""
    if os.name == "nt":  # signal 0 would end the process there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process of another user
        return True
    return True


def lock_file(file: BinaryIO) -> bool:
    """Lock an open file until it is closed or this process ends; False if another process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def user_cache(name: str) -> Path:
    """The folder of a cache of topicfold, for files that can be created again; it may not exist yet."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "topicfold" / name
