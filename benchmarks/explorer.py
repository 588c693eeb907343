"""The explorer: the size of its page, the time to build it, and the time a browser needs until it can be used."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from .common import PLAIN_TEXTS, SEED, Row, Setting, alternating, at_least, cpu, installed, missing, seconds
from .paragraphs import write_paragraphs

_DOCUMENTS = 20_000
_PARAGRAPHS = 200_000  # the most that a page contains
_TOPICS = 50
_MAPPED = 6_000  # documents of a map that is judged by all pairwise distances
_MAP_SEEDS = 3
_FRAMES = 60
_POINTS = {20_000: 8e-3, 50_000: 16e-3, 200_000: 50e-3}  # points on the map: seconds of the main thread per frame
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",  # WebGL without a graphics card
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
)


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from topicfold import LDA, PLSA
    from topicfold.datasets import load_demo

    demo = load_demo()
    yield from _kept("the demo", LDA(20, random_state=SEED).fit_transform(demo))
    if setting.file is not None:
        some = setting.corpus.subset(range(min(_MAPPED, len(setting.corpus))))
        yield from _kept(f"{len(some):,} posts of 20 Newsgroups", LDA(30, random_state=SEED).fit_transform(some))
    model = PLSA(20, beta=0.01, random_state=SEED).fit(demo)
    yield from _page("the demo", model, demo, most_bytes=6e6, most_seconds=1, setting=setting)
    yield from _points(model, demo, setting)
    corpus = _many(setting)
    model = PLSA(_TOPICS, random_state=SEED).fit(corpus)
    yield from _page(f"{len(corpus):,} documents", model, corpus, most_bytes=25e6, most_seconds=1.5, setting=setting)
    yield from _layout(model.doc_topic_, setting)
    corpus = _paragraphs(setting)
    model = PLSA(_TOPICS, max_iter=10, random_state=SEED).fit(corpus)
    yield from _page(f"{len(corpus):,} paragraphs", model, corpus, most_bytes=60e6, most_seconds=5, setting=setting)


def _many(setting: Setting) -> Any:
    """Documents with titles; texts are repeated if there are too few."""
    from topicfold import Corpus

    texts = setting.raw_texts
    n_documents = len(texts) if setting.quick else _DOCUMENTS
    texts = [texts[d % len(texts)] for d in range(n_documents)]
    titles = [text.strip()[:60] for text in texts]
    return Corpus.from_texts(texts, titles=titles, keep_texts=True, min_df=12, max_df=0.06, **PLAIN_TEXTS)


def _paragraphs(setting: Setting) -> Any:
    """Paragraphs with all the data that a report can show."""
    from topicfold import Corpus

    data = None if setting.file is None else setting.file.parents[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "paragraphs.csv")
        write_paragraphs(path, 2_000 if setting.quick else _PARAGRAPHS, data)
        columns = {"text": "text", "id": "id", "title": "title", "labels": "source", "timestamp": "date"}
        return Corpus.read(path, **columns, keep_texts=True, min_df=5, max_df=0.5, **PLAIN_TEXTS)


def _page(
    what: str, model: Any, corpus: Any, most_bytes: float, most_seconds: float, setting: Setting
) -> Iterator[Row]:
    from topicfold import build_report

    report = build_report(model, corpus)  # compiles the kernels
    building_time = alternating(lambda: cpu(lambda: build_report(model, corpus)), repeats=setting.repeats(3, 1))[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "topics.html")
        report.save(path)
        size = path.stat().st_size
        yield Row(f"explorer, {what}: building the report", seconds(building_time))
        yield Row(
            f"explorer, {what}: size of the page", _size(size), goal=f"<= {_size(most_bytes)}", met=size <= most_bytes
        )
        name = f"explorer, {what}: CPU time in the browser until the page can be used"
        if not installed("selenium") or shutil.which("chromium") is None or shutil.which("chromedriver") is None:
            yield Row(name, "", remark="needs selenium, Chromium and chromedriver")
            return
        opened, frame = alternating(
            lambda: _in_browser(path, _until_ready), lambda: _in_browser(path, _a_frame), repeats=setting.repeats(5, 1)
        )
        yield Row(name, seconds(opened), goal=f"<= {most_seconds:g} s", met=opened <= most_seconds)
        yield Row(f"explorer, {what}: one frame of the map while zooming, without a graphics card", seconds(frame))


def _points(model: Any, corpus: Any, setting: Setting) -> Iterator[Row]:
    """Frames of maps with more and more points: the documents of a page repeated, each a little apart."""
    import numpy as np

    from topicfold import build_report
    from topicfold.report.page import Report

    data = build_report(model, corpus).data
    rng = np.random.default_rng(SEED)
    for n_points, most in _POINTS.items():
        name = f"explorer, one frame of the map of {n_points:,} documents while zooming, without a graphics card"
        if not installed("selenium") or shutil.which("chromium") is None or shutil.which("chromedriver") is None:
            yield Row(name, "", remark="needs selenium, Chromium and chromedriver")
            continue
        again = [d % len(data["documents"]["id"]) for d in range(1_000 if setting.quick else n_points)]
        columns = {key: [column[d] for d in again] for key, column in data["documents"].items() if column is not None}
        columns |= {"id": [str(d) for d in range(len(again))], "text": [""] * len(again), "marks": [""] * len(again)}
        for axis in "xy":
            columns[axis] = (np.array(columns[axis]) + rng.normal(0, 60, len(again))).round().astype(int).tolist()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "topics.html")
            Report({**data, "documents": {**data["documents"], **columns}}).save(path)
            opened, frame = alternating(
                partial(_in_browser, path, _until_ready),
                partial(_in_browser, path, _a_frame),
                repeats=setting.repeats(3, 1),
            )
        yield Row(
            name, seconds(frame), goal=f"<= {seconds(most)}", met=frame <= most, remark=f"opened in {seconds(opened)}"
        )


def _size(value: float) -> str:
    return f"{value / 1e6:.1f} MB"


def _in_browser(path: Path, measure: Callable[[Any, Path], float]) -> float:
    """The result of a measurement in a new browser."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    os.environ["SE_OFFLINE"] = "true"
    options = webdriver.ChromeOptions()
    for flag in _FLAGS:
        options.add_argument(flag)
    options.binary_location = str(shutil.which("chromium"))
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(120)
        driver.execute_cdp_cmd(
            "Performance.enable", {"timeDomain": "threadTicks"}
        )  # CPU time, whatever else is running
        return measure(driver, path)
    finally:
        driver.quit()


def _until_ready(driver: Any, path: Path, view: str = "overview") -> float:
    """CPU seconds of the page's main thread until the view is drawn."""
    from selenium.webdriver.support.ui import WebDriverWait

    before = _busy(driver)
    driver.get(f"{path.as_uri()}#{view}")
    ready = "return document.documentElement.dataset.ready"
    WebDriverWait(driver, 60).until(lambda page: page.execute_script(ready))
    return _busy(driver) - before


def _a_frame(driver: Any, path: Path) -> float:
    """CPU seconds of the page's main thread per frame of the map while zooming in step by step."""
    _until_ready(driver, path, "map")
    before = _busy(driver)
    driver.execute_async_script(
        """const [frames, done] = arguments, canvas = document.getElementById('map-canvas');
        let left = frames;
        const step = () => {
          if (left-- === 0) return requestAnimationFrame(() => done());
          canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -20, clientX: 640, clientY: 400, bubbles: true }));
          return requestAnimationFrame(step);
        };
        step();""",
        _FRAMES,
    )
    return (_busy(driver) - before) / _FRAMES


def _busy(driver: Any) -> float:
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def _layout(doc_topic: Any, setting: Setting) -> Iterator[Row]:
    """The time of our map against umap-learn, from the same topic shares."""
    from topicfold import document_positions

    name = f"explorer, positions of {len(doc_topic):,} documents on the map, against umap-learn"
    if not installed("umap"):
        yield missing(name, "umap-learn")
        return
    for compiled in (document_positions, partial(document_positions, method="umap"), _by_umap):
        compiled(doc_topic[:5_000])  # with more than 4,096 points it searches approximately
    ours, same_graph, peer = alternating(
        lambda: cpu(lambda: document_positions(doc_topic)),
        lambda: cpu(lambda: document_positions(doc_topic, method="umap")),
        lambda: cpu(lambda: _by_umap(doc_topic)),
        repeats=setting.repeats(3, 1),
    )
    yield at_least(name, ours, peer, 3, seconds)
    ratio = f"{same_graph / ours:.2f}x"
    yield Row(f"{name} on the same graph", seconds(ours), seconds(same_graph), ratio, "for reference")


def _kept(what: str, doc_topic: Any) -> Iterator[Row]:
    """How well maps keep neighbourhoods, by cosine of the square roots of topic shares: means over seeds."""
    import numpy as np
    from sklearn.manifold import trustworthiness

    from topicfold import document_positions

    name = f"explorer, {what}: trustworthiness of the map"
    if not installed("umap"):
        yield missing(name, "umap-learn")
        return
    makers = (document_positions, _by_umap)
    maps = [[make(doc_topic, random_state=seed) for seed in range(_MAP_SEEDS)] for make in makers]
    for n_neighbors in (5, 15, 30):
        ours, peer = (
            mean(
                trustworthiness(np.sqrt(doc_topic), places, n_neighbors=n_neighbors, metric="cosine") for places in some
            )
            for some in maps
        )
        named = f"{name}, {n_neighbors} neighbours, against umap-learn"
        yield Row(named, f"{ours:.4f}", f"{peer:.4f}", f"{ours / peer:.4f}x", "at least level", ours >= peer)


def _by_umap(doc_topic: Any, random_state: int = SEED) -> Any:
    """A map by umap-learn at its defaults, from the same vectors as ours."""
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tensorflow, and that a seed means one thread
        import umap

        return umap.UMAP(metric="cosine", random_state=random_state).fit_transform(np.sqrt(doc_topic))
