"""The explorer in Firefox, by WebDriver BiDi: Firefox speaks it by itself, so that no driver has to be installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websocket import WebSocket, create_connection

_BROWSERS = ("firefox", "firefox-esr")
_PATIENCE = 60  # seconds the browser may take before a test gives up
_SETTINGS = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """A headless Firefox with a profile of its own and one window."""

    def __init__(self, profile: Path, *, dark: bool = False) -> None:
        browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
        if browser is None:
            pytest.skip("needs Firefox")
        settings = _SETTINGS | {"layout.css.prefers-color-scheme.content-override": 0 if dark else 1}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items()]
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        told = ["--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port=0"]
        with open(profile / "output", "wb") as output:
            self._process = subprocess.Popen([browser, *told], stdout=output, stderr=subprocess.STDOUT)
        self.dark = dark
        self._socket: WebSocket | None = None
        self._count = 0
        self.errors: list[str] = []
        try:
            self._connect(profile / "output")
        except BaseException:
            self.close()
            raise

    def _connect(self, output: Path) -> None:
        def listening() -> str | None:
            assert self._process.poll() is None, output.read_text(encoding="utf-8", errors="replace")
            found = [
                line for line in output.read_text(encoding="utf-8", errors="replace").splitlines() if "ws://" in line
            ]
            return found[0].split()[-1] if found else None

        self._socket = create_connection(f"{until(listening)}/session", timeout=_PATIENCE, suppress_origin=True)
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._window = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and wait for its answer; errors that the page has meanwhile are kept."""
        assert self._socket is not None
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": params}))
        while True:
            said = json.loads(self._socket.recv())
            if said["type"] == "event":
                entry = said["params"]
                if entry.get("level") in ("error", "warn"):
                    self.errors.append(f"{entry['level']}: {entry['text']}")
            elif said.get("id") == self._count:
                assert said["type"] == "success", said
                return said["result"]

    def open(self, file: Path, address: str = "overview") -> None:
        self.ask("browsingContext.navigate", context=self._window, url="about:blank", wait="complete")
        self.ask("browsingContext.navigate", context=self._window, url=f"{file.as_uri()}#{address}", wait="complete")
        until(lambda: self.js("document.documentElement.dataset.ready") == "yes")

    def go(self, address: str) -> None:
        """To another address of the page that is open."""
        self.js(f"""new Promise((done) => {{
            if (location.hash === {json.dumps("#" + address)}) done();
            addEventListener('hashchange', () => done(), {{ once: true }});
            location.hash = {json.dumps(address)};
        }})""")

    def js(self, expression: str) -> Any:
        """The value of an expression, which goes through JSON; a promise is waited for."""
        whole = f"(async () => JSON.stringify((await ({expression})) ?? null))()"
        target = {"context": self._window}
        told = self.ask("script.evaluate", expression=whole, target=target, awaitPromise=True, userActivation=True)
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def look(self, width: int, height: int = 900) -> None:
        self.ask("browsingContext.setViewport", context=self._window, viewport={"width": width, "height": height})

    def drag(self, places: list[tuple[int, int]]) -> None:
        """Press the pointer at the first place, move it over the others, and let it go."""
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 20} for x, y in places]
        steps = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self.ask("input.performActions", context=self._window, actions=[pointer])

    def screenshot(self) -> str:
        """The window as a PNG in base64."""
        return self.ask("browsingContext.captureScreenshot", context=self._window)["data"]

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._process.terminate()
        self._process.wait(_PATIENCE)


def until(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + _PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return found
