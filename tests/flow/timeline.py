#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks timelines of a compilation and of a run against the trace event format, and that all that was at work is on one clock.

    timeline.py BUILD_DIR SOURCE_DIR

What a viewer requires: an object with a list traceEvents; each event has ph, pid, tid and name; complete events (X) have ts and dur, metadata
events (M) name processes and threads; complete events of a thread nest.
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import time


def fail(text):
    sys.exit(f"timeline: {text}")


def require(condition, text):
    if not condition:
        fail(text)


def check_event(event):
    require(isinstance(event, dict), f"{event} is no object")
    for key in ("pid", "tid"):
        require(isinstance(event.get(key), int) and event[key] >= 0, f"{event}: {key} is no number of a process or thread")
    require(isinstance(event.get("name"), str), f"{event} has no name")
    require(isinstance(event.get("args", {}), dict), f"{event}: args is no object")
    if event.get("ph") == "X":
        for key in ("ts", "dur"):
            require(isinstance(event.get(key), (int, float)) and not isinstance(event[key], bool) and event[key] >= 0, f"{event}: {key} is no time")
    elif event.get("ph") == "M":
        require(event["name"] in ("process_name", "thread_name", "thread_sort_index"), f"{event}: unknown metadata")
        if event["name"] != "thread_sort_index":
            require(isinstance(event["args"].get("name"), str), f"{event} names nothing")
    else:
        fail(f"{event}: ph is neither X nor M")


def check_nesting(events):
    """Of a thread, the longer one first where two begin together. Times are rounded to a nanosecond."""
    open_until = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        begin, end = event["ts"], event["ts"] + event["dur"]
        while open_until and open_until[-1] <= begin + 0.0015:
            open_until.pop()
        require(not open_until or end <= open_until[-1] + 0.0015, f"{event} overlaps one that began before it and ends at {open_until[-1:]}")
        open_until.append(end)


class Trace:
    def __init__(self, path):
        opened = gzip.open(path) if path.suffix == ".gz" else open(path)
        with opened as file:
            trace = json.load(file)
        require(isinstance(trace, dict) and isinstance(trace.get("traceEvents"), list), f"{path}: no object with traceEvents")
        require(trace.get("displayTimeUnit") in ("ms", "ns"), f"{path}: displayTimeUnit")
        self.processes, self.threads, self.spans = {}, {}, collections.defaultdict(list)
        for event in trace["traceEvents"]:
            check_event(event)
            if event["ph"] == "X":
                self.spans[event["pid"], event["tid"]].append(event)
            elif event["name"] == "process_name":
                require(event["pid"] not in self.processes, f"process {event['pid']} has two names")
                self.processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                self.threads[event["pid"], event["tid"]] = event["args"]["name"]
        for thread, events in self.spans.items():
            require(thread[0] in self.processes and thread in self.threads, f"{thread} has no name")
            check_nesting(events)

    def of(self, process, thread):
        return [e for key, events in self.spans.items() if self.processes[key[0]] == process and self.threads[key] == thread for e in events]

    def every(self):
        return [e for events in self.spans.values() for e in events]


def run(*command):
    before = time.monotonic() * 1e6
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    require(done.returncode == 0, f"{command}: {done.stderr}")
    return before, time.monotonic() * 1e6


def within(events, begin, end):
    for event in events:
        require(begin <= event["ts"] and event["ts"] + event["dur"] <= end, f"{event} is not within {begin} to {end}")


def compiled(build, source, folder):
    began, ended = run(build / "bin/buda", "compile", source / "share/examples/digits/digits.onnx", "-o", folder / "digits.tti", "--timeline", folder / "compile.json")
    trace = Trace(folder / "compile.json")
    within(trace.every(), began, ended)
    names = set(trace.processes.values())
    require(names == {"buda compile", "importer", "optimizer", "balancer", "netlist2pipe", "pipegen", "tti-pack"}, f"processes {names}")
    stages = {e["name"]: e for e in trace.of("buda compile", "stages")}
    for tool in names - {"buda compile"}:
        within(trace.of(tool, "stages"), stages[tool]["ts"], stages[tool]["ts"] + stages[tool]["dur"])
    passes = {e["name"] for e in trace.of("optimizer", "stages")}
    require({"lower-to-device", "decompose"} <= passes, f"passes {passes}")
    require({"enumerating implementations", "placing", "building the netlist"} <= {e["name"] for e in trace.of("balancer", "stages")}, "balancer")


def ran(build, source, folder):
    images = source / "share/examples/digits/digits.images.npz"
    began, ended = run(build / "bin/buda", "run", folder / "digits.tti", "--inputs", images, "-o", folder / "out.npz", "--target", "grid", "--timeline",
                       folder / "run.json", "--perf", folder / "times")
    trace = Trace(folder / "run.json")
    calls = trace.of("buda run", "calls of the device")
    within(trace.of("buda run", "stages") + calls, began, ended)
    require({"open", "push", "start", "pop"} <= {c["name"] for c in calls}, f"calls {[c['name'] for c in calls]}")
    executions = [e for key, events in trace.spans.items() if trace.processes[key[0]] == "programs" for e in events]
    alone = Trace(folder / "times/trace.json.gz")
    for name, process in ((e["name"], p) for (p, _), events in alone.spans.items() for e in events[:1]):
        require(alone.processes[process] in trace.processes.values(), f"{name}: no such process in the timeline")
    lengths = lambda t, p: sorted(round(e["dur"], 3) for key, events in t.spans.items() if t.processes[key[0]] == p for e in events)
    require(lengths(trace, "chip 0") == lengths(alone, "chip 0"), "events of the chip last as long as in trace.json.gz")
    starts = [c["ts"] for c in calls if c["name"] == "start"]
    require(abs(min(e["ts"] for e in executions) - starts[0] - min(e["ts"] for k, v in alone.spans.items() if alone.processes[k[0]] == "programs" for e in v)) < 1,
            "the first execution begins with the first program")


def main():
    build, source = map(pathlib.Path, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        compiled(build, source, pathlib.Path(name))
        ran(build, source, pathlib.Path(name))


if __name__ == "__main__":
    main()
