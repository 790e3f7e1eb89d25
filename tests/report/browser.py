"""A real browser for tests of pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
MAX_SCRIPT_S = 5 * PATIENCE


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window; skips the test where there is none."""
    pytest.importorskip("selenium", reason="no selenium: pip install selenium")
    if not CHROMIUM or not DRIVER:
        pytest.skip("no chromium with chromedriver on this machine")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"),
        # What a browser does besides showing pages takes processor time and asks other servers.
        *("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--disable-extensions"),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(MAX_SCRIPT_S)  # a script may take long on a busy machine
    driver.command_executor.client_config.timeout = MAX_SCRIPT_S
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """What tests do with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str, width: int = 1280, dark: bool = False) -> None:
        """Loads a page from disk or from an address; with replays in it, waits for the first one."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(page if isinstance(page, str) else page.as_uri())
        if self.js("return document.getElementById('viewer') !== null"):
            self.wait("return viewer.dataset.open !== undefined")

    def js(self, script: str, *arguments: object) -> Any:
        """Runs a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str, *arguments: object) -> None:
        """Waits until a script says true, on a page that is all there."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02).until(
            lambda _: self.js(condition, *arguments) and self.js("return document.readyState === 'complete'")
        )

    def replay(self, match: str) -> None:
        """Opens a match in the viewer."""
        self.js(
            "const list = viewer.querySelector('[data-part=match]'); list.value = arguments[0];"
            "delete viewer.dataset.open; list.dispatchEvent(new Event('change'))",
            match,
        )
        self.wait("return viewer.dataset.open === arguments[0]", match)

    def watch_as(self, who: str) -> None:
        """Chooses whose eyes the table is seen with."""
        self.js(
            "const list = viewer.querySelector('[data-part=observer]'); list.value = arguments[0];"
            "list.dispatchEvent(new Event('change'))",
            who,
        )

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that can be seen."""
        return list(
            self.js(
                "return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility())"
                ".map((one) => one.textContent.trim())",
                selector,
            )
        )

    def complaints(self) -> list[str]:
        """What the browser's console said since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def leave(self) -> None:
        """Leave the page, whose server may have ended, and forget what it said."""
        self.driver.get("about:blank")
        self.complaints()

    def requests(self) -> list[str]:
        """What pages asked for since the last time."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
