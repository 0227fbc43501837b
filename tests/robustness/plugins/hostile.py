#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plugins that end the process, crash, throw, loop, are damaged or belong to others: the message names the plugin, and nothing stays.

    hostile.py --build BUILD_DIR [--cuts N] [--changes N] [--few]

Its file is cut short N times, and N times a byte of its headers is another one. With --few not everything is done everywhere.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PLACES = ("load", "query", "register", "make", "recognizes", "import", "end")
ENDS = ("exit", "quick_exit", "_exit", "_Exit")
CRASHES = ("abort", "crash")


class Trial:
    def __init__(self, build, work):
        self.importer, self.work = build / "bin/importer", work
        self.plugin = work / "hostile.so"
        shutil.copy(build / "tests/hostile.so", self.plugin)
        self.temporary = work / "tmp"
        self.temporary.mkdir()
        self.model = work / "m.model"
        self.model.write_text("any")
        self.product = work / "m.graph.json"
        self.problems = []

    def start(self, hostile):
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("BUDA_")}, "HOSTILE": hostile, "TMPDIR": str(self.temporary)}
        command = [self.importer, self.model, "-o", self.product, "--plugin", self.plugin, "--frontend", "hostile"]
        if hostile.startswith("recognizes"):
            command = command[:-2]
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")

    def run(self, hostile):
        process = self.start(hostile)
        try:
            said = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            return None, process.communicate()[1]
        return process.returncode, said

    def judge(self, what, code, said, codes, words, has_report=False):
        reports = list(self.temporary.iterdir())
        wrong = []
        if code not in codes:
            wrong.append(f"ends with {code}")
        wrong += [f"does not say '{word}'" for word in words if word not in said]
        if "bug of ours" in said:
            wrong.append("is called our bug")
        if code != 0 and self.product.exists():
            wrong.append("leaves a product")
        if has_report:
            if len(reports) != 1 or str(reports[0]) not in said or "sha256" not in reports[0].read_text() or "backtrace:" not in reports[0].read_text():
                wrong.append(f"leaves {reports}, which is not the one report that it names")
        elif reports:
            wrong.append(f"leaves {reports}")
        for path in (*reports, self.product):
            path.unlink(missing_ok=True)
        left = sorted(p.name for p in self.work.iterdir() if p.name not in ("hostile.so", "m.model", "tmp"))
        if left:
            wrong.append(f"leaves {left}")
        if "hostile.so" not in said and code != 70:
            wrong.append("does not name the plugin")
        self.problems += [f"{what}: {text}: {said.strip()[:300]}" for text in wrong]


def misbehaviour(trial, few):
    for i, place in enumerate(PLACES):
        for how in ENDS[i % 4:i % 4 + 1] if few else ENDS:
            trial.judge(f"{place} {how}", *trial.run(f"{place} {how}"), {70}, ["hostile.so", "by a call of exit", "[BUG]"])
        for how in CRASHES[i % 2:i % 2 + 1] if few else CRASHES:
            trial.judge(f"{place} {how}", *trial.run(f"{place} {how}"), {70}, ["crashed in the", "hostile.so", "[BUG]", "buda-crash-"], has_report=True)
        if few:
            continue
        trial.judge(f"{place} thread-exit", *trial.run(f"{place} thread-exit"), {70}, ["a plugin or a library has ended this program"])
        if place != "end":  # a destructor's exception ends the program
            trial.judge(f"{place} throw", *trial.run(f"{place} throw"), {1, 70}, ["hostile.so", "out of ideas", "its author"])
    trial.judge("import fork", *trial.run("import fork"), {1}, ["[XX001]"])


# A warning comes after half a minute (unit.plugin has a test of it); who interrupts it is told.
def endless_loops(trial, places):
    for place in places:
        process = trial.start(f"{place} loop")
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        trial.judge(f"{place} loop", process.returncode, said, {130}, ["interrupted in the", "hostile.so"])


def damaged_files(trial, cuts, changes):
    whole, rng = trial.plugin.read_bytes(), random.Random(46)
    for i in range(cuts):
        length = rng.randrange(len(whole)) if i % 2 else rng.choice((0, 1, 16, 63, 64, 120, 4096))
        trial.plugin.write_bytes(whole[:length])
        # What is cut off behind the segments is not needed.
        trial.judge(f"cut to {length} bytes", *trial.run("none"), {1}, ["hostile.so"])
    for i in range(changes):
        at, value = rng.randrange(64 + 56 * 12), rng.randrange(256)
        trial.plugin.write_bytes(whole[:at] + bytes([value]) + whole[at + 1:])
        code, said = trial.run("none")
        crashed = code == 70
        trial.judge(f"byte {at} is {value}", code, said, {1, 70}, [], has_report=crashed)
    trial.plugin.write_bytes(whole)


def rights_of_others(trial):
    trial.plugin.chmod(0o666)
    trial.judge("all may write to it", *trial.run("none"), {1}, ["hostile.so: warning: all users may change this plugin", "[PL010]"])
    trial.plugin.chmod(0o644)
    code, said = trial.run("none")
    trial.judge("only its owner may write to it", code, said, {1}, ["[XX001]"])
    if "PL010" in said:
        trial.problems.append(f"a safe plugin is warned of: {said}")
    if os.geteuid() == 0:
        os.chown(trial.plugin, 12345, -1)
        trial.judge("another user's", *trial.run("none"), {1}, ["user 12345 may change this plugin", "[PL010]"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--few", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="buda-hostile-") as work:
        trial = Trial(options.build.resolve(), pathlib.Path(work))
        misbehaviour(trial, options.few)
        damaged_files(trial, options.cuts, options.changes)
        rights_of_others(trial)
        endless_loops(trial, ("import",) if options.few else ("register", "import"))
    for problem in trial.problems:
        print(problem, file=sys.stderr)
    return 1 if trial.problems else 0


if __name__ == "__main__":
    sys.exit(main())
