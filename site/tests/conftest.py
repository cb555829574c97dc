"""The site in a browser: a server under a path of its own, Chromium, and how tests look at pages."""

import base64
import functools
import http.server
import json
import pathlib
import shutil
import threading

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).parents[2]
SITE = ROOT / "target/site"
SCREENSHOTS = ROOT / "target/site-screenshots"
#: The site lies deep in another one's tree: it works under any path.
PREFIX = "/some/where/else/"


class Handler(http.server.SimpleHTTPRequestHandler):
    """The site below the prefix, and nothing else."""

    def translate_path(self, path):
        inside = path.removeprefix(PREFIX) if path.startswith(PREFIX) else "nothing/is/here"
        return super().translate_path("/" + inside)

    def log_message(self, *arguments):
        """Says nothing."""


@pytest.fixture(scope="session")
def address():
    """The address of the site's folder."""
    handler = functools.partial(Handler, directory=SITE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    server.shutdown()


@pytest.fixture(scope="session")
def driver():
    """One browser for all tests."""
    options = webdriver.ChromeOptions()
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    # A test that changes the address two hundred times within ten seconds is not an attack.
    arguments.append("--disable-ipc-flooding-protection")
    for argument in arguments:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


class Pages:
    """Pages of the site, opened and looked at."""

    def __init__(self, driver, address):
        self.driver = driver
        self.address = address

    def open(self, page, width=1280, scheme="light"):
        """Opens a page, and waits until its scripts are done; `page` may say fields."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Else a change of the fields alone would load nothing.
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(self.address + page)
        has_scripts = self.script("return Boolean(document.querySelector('script'))")
        if has_scripts:
            self.wait(lambda: self.script("return document.documentElement.dataset.ready"))

    def wait(self, condition):
        """Waits until something holds, and gives it."""
        return WebDriverWait(self.driver, 20).until(lambda _: condition())

    def script(self, text, *arguments):
        """Runs a piece of JavaScript."""
        return self.driver.execute_script(text, *arguments)

    def find(self, selector):
        """The first element of a selector."""
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        """Every element of a selector."""
        return self.driver.find_elements("css selector", selector)

    def type(self, selector, text):
        """Types a text in place of what a field says."""
        field = self.find(selector)
        field.clear()
        field.send_keys(text)

    def answer(self):
        """The answer that the page received."""
        return json.loads(self.find("#answer").get_attribute("data-answer"))

    def headline(self):
        """The headline of the answer."""
        return self.find("#answer h2").text

    def fields(self):
        """The part of the address after `#`."""
        return self.script("return location.hash.slice(1)")

    def log(self):
        """The messages of the browser's console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def screenshot(self, name):
        """Keeps a picture of the whole page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        (SCREENSHOTS / f"{name}.png").write_bytes(self.picture())

    def picture(self):
        """The page as PNG, up to so many pixels."""
        width, height = self.script("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 3000), "scale": 1}
        command = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", command)
        return base64.b64decode(taken["data"])


@pytest.fixture
def pages(driver, address):
    """Pages that may not complain during any test."""
    pages = Pages(driver, address)
    yield pages
    assert pages.log() == []
