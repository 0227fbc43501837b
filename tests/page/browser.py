# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, and what tests ask of a page in it."""
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

SECONDS = 20


class Browser:
    def __init__(self):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        # The tests' user may be root, for whom Chromium has no sandbox; the pages are our own.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900", "--hide-scrollbars"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def quit(self):
        self.driver.quit()

    def open(self, page, view=""):
        """Opens a view and gives the seconds until it was drawn."""
        self.driver.get("about:blank")
        began = time.monotonic()
        self.driver.get(page + view)
        self.wait(f"document.body.dataset.ready === {view!r}")
        return time.monotonic() - began

    def busy_seconds(self):
        """Processor time of the page's main thread, since its process began."""
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def wait(self, condition):
        began = time.monotonic()
        while not self.script(f"return Boolean({condition})"):
            if time.monotonic() - began > SECONDS:
                raise AssertionError(f"never true: {condition}; the page shows: {self.text('body')[:2000]}")
            time.sleep(0.02)

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.one(selector).text

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def hover(self, element):
        ActionChains(self.driver).move_to_element(element).perform()

    def picture(self, path):
        self.driver.save_screenshot(str(path))

    def complaints(self):
        """What the page wrote on the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that the page asked for since the last call."""
        import json
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
