"""A headless Chromium that a test drives, by the WebDriver protocol, which is JSON over HTTP."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

KEYS = {"right": "\ue014", "left": "\ue012", "home": "\ue011", "end": "\ue010"}


def missing() -> str:
    """What is not installed; "" if all is there."""
    lacking = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"{' and '.join(lacking)} not installed (make setup WITH=browser)" if lacking else ""


@functools.lru_cache(maxsize=None)
def started() -> Browser:
    """The one browser of all tests, which ends with them."""
    folder = tempfile.TemporaryDirectory()
    chromium = Browser(folder.name)
    atexit.register(folder.cleanup)
    atexit.register(chromium.close)  # which goes first
    return chromium


@contextlib.contextmanager
def window(width: int, height: int):
    """The browser at a window of its own; what this leaves in its storage and on its console is gone with it."""
    chromium = started()
    first = chromium.ask("GET", "/window")
    chromium.ask("POST", "/window", {"handle": chromium.ask("POST", "/window/new", {"type": "tab"})["handle"]})
    chromium.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True)
    chromium.command("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        yield chromium
    finally:
        chromium.run("try { localStorage.clear() } catch {}  // a page of data has none")
        chromium.ask("DELETE", "/window")
        chromium.ask("POST", "/window", {"handle": first})
        chromium.console()


class Browser:
    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.address.rpartition(':')[2]}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}"]
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {
            "args": arguments, "binary": shutil.which("chromium")}}
        for _ in range(100):
            try:
                self.session = ""
                self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
                return
            except OSError:
                time.sleep(0.1)
        self.close()
        raise RuntimeError("chromedriver does not answer")

    def ask(self, method: str, path: str, words: dict | None = None):
        prefix = f"/session/{self.session}" if self.session else ""
        data = json.dumps(words or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + prefix + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def command(self, name: str, **parameters):
        """A command of Chromium's own protocol."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, address: str) -> None:
        self.ask("POST", "/url", {"url": address})

    def run(self, script: str):
        """What a function with this body returns on the page."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def wait(self, script: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not self.run(f"return {script}"):
            assert time.monotonic() < end, f"the page does not come to {script}"
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def console(self) -> list[str]:
        """What has been said on the console, as errors and warnings."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def close(self) -> None:
        try:
            self.ask("DELETE", "")
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait(10)
