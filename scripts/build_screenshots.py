"""Take the screenshots of the explorer in docs/images again. Needs Chromium, chromedriver and selenium."""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from topicfold.cli.app import cli

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
VIEWS = {
    "explorer-overview": "overview",
    "explorer-topic": "topic=3",
    "explorer-map": "map",
    "explorer-groups": "groups",
}
SIZE = {"width": 1280, "height": 860, "deviceScaleFactor": 1, "mobile": False}


def main() -> None:
    """Write the page of `topicfold demo`, and take a screenshot of each view."""
    os.environ["SE_OFFLINE"] = "true"
    options = webdriver.ChromeOptions()
    webgl = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # without a graphics card
    for flag in ("--headless=new", "--no-sandbox", *webgl, "--disable-background-networking"):
        options.add_argument(flag)
    options.add_argument("--hide-scrollbars")
    options.binary_location = str(shutil.which("chromium"))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "demo.html")
        files = ["--out", str(Path(folder, "model")), "--corpus-out", str(Path(folder, "corpus"))]
        cli(["demo", *files, "--report", str(page)], standalone_mode=False)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
            for name, view in VIEWS.items():
                driver.get("about:blank")
                driver.get(f"{page.as_uri()}#{view}")
                ready = "return document.documentElement.dataset.ready"
                WebDriverWait(driver, 30).until(lambda browser, ready=ready: browser.execute_script(ready))
                shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
                (IMAGES / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
