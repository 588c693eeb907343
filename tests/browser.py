"""The explorer in a real browser: headless Chromium, and what a reader does with a page."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from page_data import data_of
from topicfold import HLTA, LDCC, LTM, PLSA, Corpus, build_report

WIDTHS = {"desk": 1280, "phone": 400}
_PATIENCE = 20  # seconds a page may take before a test gives up
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",  # WebGL without a graphics card
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",  # small in containers
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_THEMES = {
    "garden": "rose tulip soil spade seed hedge lawn rake",
    "kitchen": "pan oven flour sugar knife bread spice bowl",
    "sky": "star moon comet orbit planet galaxy telescope cloud",
    "sea": "wave harbour sail anchor tide island gull rope",
}


def small_corpus() -> Corpus:
    """80 documents of three paragraphs on four themes, with all that a report can show."""
    rng = np.random.default_rng(0)
    names = list(_THEMES)

    def text(*themes: str) -> str:
        return "\n\n".join(" ".join(rng.choice(_THEMES[theme].split(), 8)).capitalize() + "." for theme in themes)

    main = [names[d % 4] for d in range(80)]
    return Corpus.from_texts(
        [text(theme, theme, names[(d // 4) % 4]) for d, theme in enumerate(main)],
        ids=[f"d{d}" for d in range(80)],
        titles=[f"About the {theme}, part {d // 4}" for d, theme in enumerate(main)],
        labels=main,
        links=[(f"d{d}", f"d{(d + 4) % 80}") for d in range(80)],
        timestamps=[f"{2000 + d // 10}-03-01" for d in range(80)],
        segments="paragraphs",
        keep_texts=True,
    )


def small_reports(corpus: Corpus, folder: Path) -> dict[str, Path]:
    """Pages on the corpus, by the model they are of."""
    quiet: dict[str, Any] = {"random_state": 0, "verbose": False}
    plsa, other = PLSA(4, **quiet).fit(corpus), PLSA(6, **quiet).fit(corpus)
    bags = Corpus.from_counts(corpus.counts, corpus.vocabulary)
    reports = {
        "plsa": build_report(plsa, corpus, name="Four themes", compare=other, compare_name="six topics"),
        "hlta": build_report(HLTA(2, 2, 3, **quiet).fit(corpus), corpus),
        "ldcc": build_report(LDCC(3, 4, n_sweeps=30, burn_in=20, **quiet).fit(corpus), corpus),
        "ltm": build_report(LTM(4, graph_weight=1.0, **quiet).fit(corpus), corpus),
        "counts": build_report(PLSA(4, **quiet).fit(bags), bags),
        "part": build_report(plsa, corpus, names={1: "given name"}, max_documents=20),
    }
    files = {name: folder / f"{name}.html" for name in reports}
    for name, report in reports.items():
        report.save(files[name])
    return files


def start_browser() -> webdriver.Chrome:
    """Chromium with a profile of its own; without one a skip, or where TOPICFOLD_BROWSER=required a failure."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    chromedriver = shutil.which("chromedriver")
    if browser is None or chromedriver is None:
        give_up = pytest.fail if os.environ.get("TOPICFOLD_BROWSER") == "required" else pytest.skip
        give_up("needs Chromium and chromedriver")
    os.environ["SE_OFFLINE"] = "true"  # selenium looks for no browser elsewhere
    options = webdriver.ChromeOptions()
    for flag in _FLAGS:
        options.add_argument(flag)
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(chromedriver))


class Page:
    """A report that is open in the browser."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        self.opened: set[str] = set()

    # ---- where -------------------------------------------------------------------------------------------------------

    def open(self, file: Path, address: str = "overview") -> None:
        """Load the file anew, as from a link to the address."""
        self.driver.get("about:blank")  # else a second address of one file is no load
        self.opened.add(file.as_uri())
        self.driver.get(f"{file.as_uri()}#{address}")
        self.until(lambda: self.js("return document.documentElement.dataset.ready") == "yes")

    def reload(self) -> None:
        self.driver.refresh()
        self.until(lambda: self.js("return document.documentElement.dataset.ready") == "yes")

    def go(self, address: str) -> None:
        """To another address of the page that is open."""
        self.driver.execute_async_script(
            """const [address, done] = arguments;
            if (location.hash === '#' + address) done();
            addEventListener('hashchange', () => done(), { once: true });
            location.hash = address;""",
            address,
        )

    def view(self) -> str:
        return self.js("return document.getElementById('main').dataset.view")

    def look(self, width: int = WIDTHS["desk"], *, dark: bool = False) -> None:
        """How wide the window is, and what the reader's system asks for."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    # ---- reading -----------------------------------------------------------------------------------------------------

    def js(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, _PATIENCE, poll_frequency=0.02).until(lambda _: condition())

    def find(self, css: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def link(self, text: str) -> WebElement:
        return self.driver.find_element(By.LINK_TEXT, text)

    def texts(self, css: str) -> list[str]:
        """The text of each element as it stands in the page, seen or not."""
        script = "return [...document.querySelectorAll(arguments[0])].map((found) => found.textContent)"
        return self.js(script, css)

    def text(self, css: str) -> str:
        (found,) = self.texts(css)
        return found

    def count(self, css: str) -> int:
        return self.js("return document.querySelectorAll(arguments[0]).length", css)

    def data(self) -> dict[str, Any]:
        """The report, as the page holds it."""
        address = self.driver.current_url.partition("#")[0]
        return data_of(Path(url2pathname(urlsplit(address).path)).read_text(encoding="utf-8"))

    def focused(self) -> str:
        """The id of the element with the focus, or its text."""
        return self.js("return document.activeElement.id || document.activeElement.textContent")

    def too_wide(self) -> bool:
        """Whether the page as a whole scrolls sideways."""
        return self.js("return document.documentElement.scrollWidth > innerWidth")

    def printed_text_runs(self) -> int:
        """How many pieces of text the page has on paper."""
        paper = base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        assert paper.startswith(b"%PDF")
        streams = re.findall(rb"/FlateDecode[^>]*>>\s*stream\r?\n(.*?)\r?\nendstream", paper, re.DOTALL)
        return sum(len(re.findall(rb"\bT[jJ]\b", zlib.decompressobj().decompress(stream))) for stream in streams)

    # ---- doing -------------------------------------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def downloaded(self, file: Path) -> None:
        """Wait until a file is there, whole: the browser makes it empty at first."""
        self.until(lambda: file.exists() and file.stat().st_size)

    def point_at(self, css: str, x: float, y: float) -> None:
        """Move the pointer to a place measured from the element's corner."""
        box = self.js(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.x, box.y]", css
        )
        actions = ActionChains(self.driver)
        actions.w3c_actions.pointer_action.move_to_location(round(box[0] + x), round(box[1] + y))
        actions.perform()

    def follow(self, link: WebElement) -> None:
        """Click, and wait until the view it leads to is there."""
        self.js(
            "window.arrived = false; addEventListener('hashchange', () => { window.arrived = true }, { once: true })"
        )
        link.click()
        self.until(lambda: self.js("return window.arrived"))

    # ---- the map -----------------------------------------------------------------------------------------------------

    def ink(self) -> int:
        """How many points of the map's canvas are painted: not as its corner is."""
        return self.js(
            _PIXELS + "let n = 0; for (let i = 0; i < data.length; i += 4) "
            "n += data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]; return n"
        )

    def picture(self) -> str:
        """The map as it is drawn, its points and what is above them."""
        return self.js(_PIXELS + "return copy.toDataURL()")

    def colourful_place(self) -> tuple[int, int]:
        """The most colourful point of the map."""
        return self.js(
            _PIXELS
            + """let [best, place] = [-1, 0];
            for (let i = 0; i < data.length; i += 4) {
              const chroma = Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
              if (data[i + 3] > 200 && chroma > best) [best, place] = [chroma, i / 4];
            }
            return [place % map.width, Math.floor(place / map.width)]"""
        )

    # ---- behind the scenes -------------------------------------------------------------------------------------------

    def complaints(self) -> list[str]:
        """What the console said since this was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def outside_requests(self) -> list[str]:
        """What was asked for beside the files that were opened, since this was last asked; what the policy stopped is
        no request, but a complaint."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = {}
        for method, told in ((event["method"], event["params"]) for event in events):
            if method == "Network.requestWillBeSent":
                sent[told["requestId"]] = told["request"]["url"]
            elif method == "Network.webSocketCreated":
                sent[told["requestId"]] = told["url"]
            elif method == "Network.loadingFailed" and told.get("blockedReason") == "csp":
                sent.pop(told["requestId"], None)
        return [url for url in sent.values() if not self._is_own(url)]

    def _is_own(self, url: str) -> bool:
        return url.partition("#")[0] in self.opened or url.startswith(("data:", "blob:", "about:"))

    def close(self) -> None:
        """Leave nothing behind for the next test, and check what every page must keep: no errors, no network."""
        complaints, requests = self.complaints(), self.outside_requests()
        if self.opened:
            self.js("localStorage.clear()")
        assert not complaints, complaints
        assert not requests, requests


# from a copy: the browser complains of a canvas that is read often
_PIXELS = """const map = document.querySelector('#map-canvas');
const copy = Object.assign(document.createElement('canvas'), { width: map.width, height: map.height });
const context = copy.getContext('2d', { willReadFrequently: true });
for (const layer of document.querySelectorAll('.layers canvas')) context.drawImage(layer, 0, 0);
const { data } = context.getImageData(0, 0, map.width, map.height);
"""
