#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill runs with --perf at random moments: their folder has the files of one run, or the tools refuse it, and the next run mends it.

    kill_report.py --build BUILD_DIR --model MODEL.onnx --inputs INPUTS.npz [--kills N]

The folder holds the report of another image, which has other files, and a file of somebody else.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import slices  # noqa: E402

LIST = ".openbuda-files.json"
MINE = "notes.txt"


class Report:
    def __init__(self, work, environment, inputs):
        self.work, self.environment = work, environment
        self.folder = work / "reports/m/perf"
        self.inputs = inputs

    def command(self, image):
        return ["buda", "run", image, "--inputs", self.inputs, "--target", "grid", "--perf", self.folder, "-o", self.work / "out.npz", "-q"]

    def call(self, command):
        return subprocess.run(command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def run(self, image):
        done = self.call(self.command(image))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def run_killed(self, image, after):
        """Whether it was killed before its end."""
        process = subprocess.Popen(self.command(image), cwd=self.work, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
        ended = process.wait() == 0
        # The tool that it has started may take longer to die, and what it has begun of a call it ends.
        while self.is_alive(process.pid):
            time.sleep(0.001)
        return not ended

    @staticmethod
    def is_alive(group):
        stats = pathlib.Path("/proc").glob("[0-9]*/stat")
        for stat in stats:
            try:
                state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(of) == group and state not in "ZX":
                return True
        return False

    def files(self):
        """The files that a tool may show, which the list is not, nor what a kill left of a list that was being written."""
        paths = (p for p in self.folder.rglob("*") if p.is_file() and not p.name.startswith(LIST))
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in paths}

    def refusals(self):
        """What the tools say of the folder, by tool; None where it is shown."""
        page = self.work / "page"
        shutil.rmtree(page, ignore_errors=True)
        commands = {"perf-analyzer": ["perf-analyzer", self.folder, "--print"],
                    "profiler": ["profiler", "device", "-i", self.folder, "-o", self.work / "profile", "--no-webapp", "--no-print-stats"]}
        out = {}
        for name, command in commands.items():
            done = self.call(command)
            out[name] = None if done.returncode == 0 else done.stderr
        done = self.call(["reportify", "export", self.work / "reports", "-o", page])
        if "RY002" not in done.stderr:  # without npm there is no page
            out["reportify"] = done.stderr or None
        return out


def problems_of(report, refusals, old, new):
    found = report.files()
    if found.pop(MINE, None) != b"mine":
        yield "a file of somebody else is gone"
    if found == old and "IO008" not in (refusals["perf-analyzer"] or "") and "RY004" not in (refusals.get("reportify", "RY004") or ""):
        yield "the report of another image is shown as a run of this one"
    refusals = {tool: text for tool, text in refusals.items() if text is None or "RY004" not in text}
    if found in (old, new):
        # A kill between the last file and the list is a refusal, too.
        yield from (f"{tool}: {text}" for tool, text in refusals.items() if text and "IO008" not in text)
    else:
        others = sorted(f for f in set(found) | set(new) if found.get(f) != new.get(f))
        yield from (f"{tool} shows a mixture; not as in the new report are {others}" for tool, text in refusals.items() if text is None or "IO008" not in text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--inputs", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=46)
    options = parser.parse_args()
    environment = {**os.environ, "PATH": f"{options.build.resolve() / 'bin'}:{os.environ['PATH']}"}
    kills = slices.share(options.kills)
    rng, problems, killed, refused, runs = random.Random(options.seed), [], 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="buda-kill-report-") as work:
        report = Report(pathlib.Path(work), environment, options.inputs.resolve())
        report.folder.parent.mkdir(parents=True)
        compile_model = ["buda", "compile", options.model.resolve(), "-q"]
        for name, more in (("old", ["--policy", "single_op_per_epoch"]), ("new", ["--build-dir", report.folder.parent])):
            done = report.call([*compile_model, "-o", f"{name}.tti", *more])
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        report.run("old.tti")
        old = report.files()
        shutil.copytree(report.folder, report.work / "old")
        begin = time.monotonic()
        report.run("new.tti")
        whole = time.monotonic() - begin
        new = report.files()
        assert not set(old) <= set(new) and any(old[f] != new[f] for f in new), "the two reports are alike"
        while killed < kills and runs < 10 * kills:
            runs += 1
            shutil.rmtree(report.folder, ignore_errors=True)
            shutil.copytree(report.work / "old", report.folder)
            (report.folder / MINE).write_bytes(b"mine")
            # The writing is at the end: more kills there.
            after = whole * (rng.uniform(0, 1) if runs % 4 == 0 else rng.uniform(0.7, 1.05))
            begin = time.monotonic()
            if not report.run_killed("new.tti", after):
                whole = time.monotonic() - begin
                continue
            killed += 1
            refusals = report.refusals()
            wrong = list(problems_of(report, refusals, old, new))
            refused += any(text and "IO008" in text for text in refusals.values())
            report.run("new.tti")
            if report.files() != {**new, MINE: b"mine"}:
                wrong.append("the next run leaves other files than its own")
            if left := [p.name for p in report.folder.parent.rglob("*") if ".tmp-" in p.name]:
                wrong.append(f"the next run leaves {left}")
            problems += [f"killed after {after:.3f} s: {text}" for text in wrong]
    print(f"{killed} of {runs} runs of about {whole:.3f} s were killed before their end; after {refused} the report is refused")
    if killed < kills:
        problems.append(f"only {killed} runs were killed in time")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
