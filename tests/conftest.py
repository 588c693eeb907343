"""Small corpora whose answer is obvious."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

if sys.platform == "win32":
    collect_ignore = ["harness", "test_harness.py"]  # it forks


@pytest.fixture(scope="session")
def blocks() -> tuple[sp.csr_array, np.ndarray]:
    """30 documents in three blocks of ten, each block with three words of its own: (counts, block)."""
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2], 10)
    counts = np.zeros((30, 9), int)
    for document, own in enumerate(block):
        counts[document, 3 * own : 3 * own + 3] = rng.integers(1, 6, 3)
    return sp.csr_array(counts), block


@pytest.fixture(scope="session")
def sampled() -> sp.csr_array:
    """400 documents of about 40 tokens drawn from four overlapping topics over 30 words."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(30, 0.2), 4)
    mixes = rng.dirichlet(np.full(4, 0.3), 400)
    return sp.csr_array(np.array([rng.multinomial(rng.integers(20, 60), mix @ topics) for mix in mixes]))


@pytest.fixture(autouse=True)
def ctrl_c_is_heard() -> Iterator[None]:
    """A process started in the background ignores Ctrl-C, and the tests that press it would wait in vain."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """A browser for all tests of the explorer."""
    from browser import start_browser

    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture
def page(driver: Any) -> Iterator[Any]:
    """A desktop-wide window in light colours; at the end, no error was logged and no network was used."""
    from browser import Page

    page = Page(driver)
    page.look()
    yield page
    page.close()


@pytest.fixture(scope="session")
def themes() -> Any:
    """80 documents of three paragraphs on four themes, with all that a report can show."""
    from browser import small_corpus

    return small_corpus()


@pytest.fixture(scope="session")
def reports(themes: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages on the four themes, by the model they are of."""
    from browser import small_reports

    return small_reports(themes, tmp_path_factory.mktemp("reports"))
