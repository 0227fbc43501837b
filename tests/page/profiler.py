#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drive the page of profiler in headless Chromium: from disk, and as the dashboard.

    profiler.py --build BUILD_DIR --source SOURCE_DIR [--pictures DIR]
"""
import argparse
import io
import pathlib
import sys
import tarfile
import tempfile
import unittest

import reports
from browser import Browser
from server import Server

ARGUMENTS = None


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        net = ARGUMENTS.source / "tests/flow/three_epochs.yaml"
        reports.run(ARGUMENTS.build / "bin/runner", net, "--stimulus", "--target", "grid", "-q", "-o", cls.folder / "out.npz",
                    "--perf", cls.folder / "times")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.temporary.cleanup()

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def picture(self, name):
        if ARGUMENTS.pictures:
            self.browser.picture(ARGUMENTS.pictures / f"profiler-{name}.png")

    def span(self):
        return self.browser.script("return window.plot.end - window.plot.begin")

    def check_plot(self):
        self.browser.wait("document.body.dataset.ready === 'yes'")
        whole = self.span()
        canvas = self.browser.one("canvas")
        self.browser.script("arguments[0].focus()", canvas)
        self.browser.press("+")
        self.assertAlmostEqual(self.span(), whole / 2, delta=1)
        self.browser.script("arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: 300, clientX: 400, clientY: 100, cancelable: true}))", canvas)
        self.assertAlmostEqual(self.span(), whole, delta=1)
        self.browser.press("+", "+", "0")
        self.assertEqual(self.span(), whole)
        # The first TRISC kernel of the first core, by the place of its bar.
        self.browser.script("""const p = window.plot, b = p.rows[0].bars.find((b) => b.lane === 2), r = p.canvas.getBoundingClientRect();
            p.canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: r.x + p.x((b.begin + b.end) / 2), clientY: r.y + 22 + 2 + 2 * 4 + 1}))""")
        self.assertRegex(self.browser.text("#facts"), r"chip 0 core 1-1: TRISC0 kernel, run 0, cycles \d+ to \d+: \d+ \(\d+ ns\)")
        self.assertIn("TRISC2 kernel", self.browser.text("table"))

    def test_file_opens_from_disk_and_asks_for_nothing(self):
        reports.run(ARGUMENTS.build / "bin/profiler", "device", "-i", self.folder / "times", "-o", self.folder / "output", "--no-webapp")
        self.browser.requests()
        self.browser.driver.get((self.folder / "output/device/device_perf.html").as_uri())
        self.check_plot()
        self.picture("device")
        self.assertEqual([a for a in self.browser.requests() if not a.startswith(("file:", "about:"))], [])
        self.assertTrue(self.browser.script("return document.getElementById('download').hidden"))

    def test_dashboard_has_the_artifacts(self):
        server = Server(ARGUMENTS.build / "bin/profiler", "device", "-i", self.folder / "times", "-o", self.folder / "served", "--no-print-stats")
        try:
            self.browser.requests()
            self.browser.driver.get(server.page)
            self.check_plot()
            self.picture("dashboard")
            self.assertEqual([a for a in self.browser.requests() if not a.startswith((server.page, "about:"))], [])
            link = self.browser.one("#download")
            self.assertEqual(link.text, "DOWNLOAD ARTIFACTS")
            answer, data = server.ask("GET", "/" + link.get_attribute("href").rsplit("/", 1)[1])
            self.assertEqual(answer.status, 200)
            names = tarfile.open(fileobj=io.BytesIO(data)).getnames()
            self.assertEqual(names, ["device_perf.html", "device_rearranged_timestamps.csv", "device_stats.txt", "profile_log_device.csv"])
            self.assertEqual(server.ask("GET", "/../times/summary.json")[0].status, 404)
            self.assertEqual(server.ask("POST", "/")[0].status, 405)
            self.assertEqual(server.listens_at(), {"0100007F"})
        finally:
            server.stop()

    def test_ops_have_a_dashboard(self):
        server = Server(ARGUMENTS.build / "bin/profiler", "ops", "-i", self.folder / "times", "-o", self.folder / "served", "--webapp")
        try:
            self.browser.driver.get(server.page)
            self.browser.wait("document.body.dataset.ready === 'yes'")
            self.picture("ops")
            self.assertEqual(self.browser.text("h1"), "Ops Profiler Dashboard")
            self.assertIn("nop 3 ", self.browser.text("table"))
        finally:
            server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--pictures", type=pathlib.Path)
    ARGUMENTS, rest = parser.parse_known_args()
    if ARGUMENTS.pictures:
        ARGUMENTS.pictures.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
