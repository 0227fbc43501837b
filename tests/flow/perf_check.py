#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the folder that `runner --perf DIR --perf-level 3` has written.

    perf_check.py DIR         on every core, steps and waits follow one another without gaps: their sum is the core's lifetime exactly; of the
                              transfers that a resource decides, no more pass it in 10,000 cycles than it can carry, beyond one for each
                              that shares it
    perf_check.py --csv DIR   also: the headers of the tables are those of TT-Buda and TT-Metal to the byte, and their numbers are what
                              the events of the trace give
    perf_check.py --analyzer TOOL DIR
                              also: the sums that perf-analyzer shows, and the waits that it reads, are those of the events

It shares no code with the writers: all it reads is DIR. Exit code: 0, or 1 with a line for each fault.
"""
import argparse
import collections
import csv
import gzip
import io
import json
import pathlib
import re
import subprocess
import sys

# What the tools that read these files look for (see docs/formats/perf-tables.md).
OP_PERF = ("name, type, epoch, grid, tiles, cycles, limiter_cycles, "
           + "".join(f"estimated input bandwidth {i}, " for i in range(8)) + "estimated output bandwidth 0")
GRAPH_REPORT = ("global_epoch_ids,program_names,graph_name,op_name,first_to_last_input,grid_size,kernel_total_runtime,"
                "kernel_runtime_per_input,kernel_math_utilization,bw_bound_total_runtime,bw_bound_runtime_per_input,"
                "bw_bound_math_utilization")
RUNTIME = ("core-label,device_id,aiclk,first-and-last-inputs,total-runtime,active-math-cycles-single-input,"
           "math-utilization-over-all-inputs,math-utilization-last-input-recorded,runtime-last-input-recorded,"
           "num-cycles-per-tensor,num-tensors-per-second,input0-bw,input1-bw,output-bw")
ALL_EPOCHS = (",program-name,graph-name,aiclk,device-id,input-count,first-to-last-inputs,num-cycles-per-tensor-all-inputs,"
              "num-tensors-per-second-all-inputs,num-cycles-all-inputs,largest-wait-for-epoch-binary,")
OP_REPORT = ("OP CODE,OP TYPE,GLOBAL CALL COUNT,ATTRIBUTES,MATH FIDELITY,CORE COUNT,PARALLELIZATION STRATEGY,HOST START TS,"
             "HOST END TS,HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],"
             "DEVICE KERNEL DURATION [ns],DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],"
             "DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns]")
PROFILE_LOG = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
TICKS = 16  # per cycle: the resolution of simulated time


class Core:
    """The events of one core in one execution, in ticks."""

    def __init__(self):
        self.steps, self.waits, self.inputs = [], [], []
        self.worked = 0  # cycles
        self.waited = collections.Counter()  # ticks, by what for
        self.streams = {"tiles in": None, "tiles out": None}
        self.op = None


def read_trace(folder, clock_hz):
    """(executions, {(chip, place, number of the execution): Core}) of trace.json.gz."""
    with gzip.open(folder / "trace.json.gz") as file:
        events = json.load(file)["traceEvents"]
    tracks, executions, cores = {}, [], collections.defaultdict(Core)
    ticks = lambda microseconds: round(microseconds * 1e-6 * clock_hz * TICKS)
    for event in events:
        if event["ph"] == "M" and event["name"] == "thread_name":
            tracks[event["pid"], event["tid"]] = event["args"]["name"]
    # A core's events belong to the execution in which they begin.
    spans = [(ticks(e["ts"]), ticks(e["ts"] + e["dur"]), e["name"]) for e in events if e["ph"] == "X" and e["pid"] == 0]
    executions = sorted(spans)
    for event in events:
        if event["ph"] != "X" or event["pid"] == 0:
            continue
        place = re.match(r"core (\d+-\d+) ", tracks[event["pid"], event["tid"]])
        if place is None:
            continue
        begin, end = ticks(event["ts"]), ticks(event["ts"] + event["dur"])
        number = max((i for i, span in enumerate(executions) if span[0] <= begin), default=0)
        core, name = cores[event["pid"] - 1, place[1], number], event["name"]
        if name == "step":
            core.steps.append((begin, end, event["args"]["input"]))
        elif name.startswith("waits for "):
            core.waits.append((begin, end))
            core.waited[name] += end - begin
        elif name in core.streams:
            core.streams[name] = (begin, end)
        else:
            core.op = re.sub(r" input \d+$", "", name)
            core.inputs.append((begin, end))
            core.worked += event["args"]["worked_cycles"]
    return executions, cores


def conservation(cores, fault):
    for (chip, place, _), core in sorted(cores.items()):
        parts = sorted([step[:2] for step in core.steps] + core.waits)
        for before, after in zip(parts, parts[1:]):
            if before[1] != after[0]:
                fault(f"core {place} of chip {chip}: {after[0] - before[1]} ticks between {before[1]} and {after[0]} are neither work "
                      "nor wait")
                break


WINDOW, BIN = 10000 * TICKS, 1000 * TICKS


def capacity(folder, summary, fault):
    """What passes a resource in any window, of the transfers whose rate it decides."""
    with gzip.open(folder / "trace.json.gz") as file:
        events = json.load(file)["traceEvents"]
    rates = {}  # bytes per tick, by resource
    for epoch in summary["epochs"]:
        for load in epoch["loads"]:
            if load["utilisation"] > 0:
                rates[load["resource"]] = load["bytes"] / load["utilisation"] / epoch["cycles"] / TICKS
    passed = collections.defaultdict(lambda: collections.defaultdict(float))   # bytes, by resource and bin
    largest = collections.defaultdict(lambda: collections.defaultdict(dict))   # the same, of each track: a transfer that is under way
    for event in events:
        if event["ph"] != "X" or event["name"] not in ("send", "read", "write"):
            continue
        resource, size = event["args"]["slowest"], event["args"]["bytes"]
        begin = event["ts"] * 1e-6 * summary["clock_hz"] * TICKS
        end = begin + max(event["dur"] * 1e-6 * summary["clock_hz"] * TICKS, 1)
        for at in range(int(begin // BIN), int(end // BIN) + 1):
            part = min(end, (at + 1) * BIN) - max(begin, at * BIN)
            passed[resource][at] += size * part / (end - begin)
            tracks = largest[resource][at]
            tracks[event["pid"], event["tid"]] = max(size, tracks.get((event["pid"], event["tid"]), 0))
    for resource, bins in sorted(passed.items()):
        for first in bins:
            window = range(first, first + WINDOW // BIN)
            total = sum(bins.get(at, 0) for at in window)
            if resource not in rates or total <= rates[resource] * WINDOW:
                continue
            sharers = {}
            for at in window:
                for track, size in largest[resource].get(at, {}).items():
                    sharers[track] = max(size, sharers.get(track, 0))
            if total > rates[resource] * WINDOW + sum(sharers.values()):
                fault(f"{resource} carries {total:.0f} bytes in the 10,000 cycles from {first * BIN // TICKS} on, and can carry "
                      f"{rates[resource] * WINDOW:.0f}; {len(sharers)} transfers share it")
                break


def first_line(path, fault, expected, whole=True):
    lines = path.read_text().split("\n")
    if lines[0] != expected and (whole or not lines[0].startswith(expected + ",")):
        fault(f"{path.name}: the header is '{lines[0]}'")
    return lines


def headers(folder, fault):
    first_line(folder / "op_perf.csv", fault, OP_PERF)
    first_line(folder / "perf_results/perf_info_all_epochs.csv", fault, ALL_EPOCHS)
    for path in folder.glob("perf_results/device/*/*/runtime_table.csv"):
        first_line(path, fault, RUNTIME)
    for path in folder.glob("perf_results/analyzer_results/*/graph_perf_report.csv"):
        columns = first_line(path, fault, GRAPH_REPORT, whole=False)[0].split(",")[len(GRAPH_REPORT.split(",")):]
        inputs = (len(columns) - 2) // 2
        expected = [f"{kind}_{i}" for i in range(inputs) for kind in ("input_pipe_bw", "required_input_bw")]
        if columns != expected + ["output_pipe_bw_0", "required_output_pipe_bw_0"]:
            fault(f"{path.name}: columns of pipes are {columns}")
    first_line(folder / "ops_perf_results.csv", fault, OP_REPORT, whole=False)
    lines = (folder / "profile_log_device.csv").read_text().split("\n")
    if not re.fullmatch(r"Chip clock is at [\d.]+ GHz", lines[0]) or lines[1] != PROFILE_LOG:
        fault(f"profile_log_device.csv: the header is {lines[:2]}")


def last_executions(executions):
    """Numbers of the last execution of each graph, of which summaries tell."""
    return {graph: number for number, (_, _, graph) in enumerate(executions)}


def waits(executions, cores, summary, fault):
    """The parts of the time for which kernels wait, for each input and for space."""
    last = last_executions(executions)
    waited, count = collections.defaultdict(collections.Counter), collections.Counter()
    for (_, _, number), core in cores.items():
        if core.inputs and last.get(executions[number][2]) == number:
            waited[executions[number][2], core.op].update(core.waited)
            count[executions[number][2], core.op] += 1
    for epoch in summary["epochs"]:
        for op in epoch["ops"]:
            key = epoch["graph"], op["name"]
            told = [(f"waits for input {i}", pipe["waits"]) for i, pipe in enumerate(op["inputs"])] + [("waits for space", op["output"]["waits"])]
            for what, part in told:
                near(part * epoch["cycles"] * count[key], waited[key][what] / TICKS, fault, f"'{op['name']}' of '{epoch['graph']}' {what}: cycles of all cores", count[key])


def printed_tables(tool, folder):
    """The rows of perf-analyzer's tables, cut where two blanks are, by the graph or '' for the summary."""
    text = subprocess.run([tool, folder, "--print", "--full-names"], capture_output=True, text=True, check=True).stdout
    tables = {}
    for block in text.split("\n\n"):
        lines = block.rstrip("\n").split("\n")
        heading = next(i for i, line in enumerate(lines) if re.match(r"(epoch  +cycles|op  +grid)", line))
        graph = re.match(r"epoch \d+ of \d+: (.+)", lines[0])
        tables[graph[1] if graph else ""] = [re.split(r"  +", line.strip()) for line in lines[heading + 1:]]
    return tables


def analyzer(tool, folder, executions, cores, summary, fault):
    """What perf-analyzer shows: inputs, executions and time of epochs, cycles of kernels."""
    tables = printed_tables(tool, folder)
    times, counts = collections.Counter(), collections.Counter()
    for begin, end, graph in executions:
        times[graph] += end - begin
        counts[graph] += 1
    works, inputs = collections.defaultdict(float), collections.Counter()
    for (_, _, number), core in cores.items():
        if core.inputs:
            key = executions[number][2], core.op
            works[key] = max(works[key], core.worked / len(core.inputs))
            inputs[executions[number][2]] = max(inputs[executions[number][2]], len(core.inputs))
    for row in tables[""]:
        graph = row[0].split(" ", 1)[1]
        near(row[7], inputs[graph], fault, f"perf-analyzer: inputs of '{graph}'", 0)
        near(row[8], counts[graph], fault, f"perf-analyzer: executions of '{graph}'", 0)
        near(row[9], 100 * times[graph] / sum(times.values()), fault, f"perf-analyzer: time of '{graph}'", 0.051)
        ops = {op[0]: float(op[3]) for op in tables[graph]}
        near(row[1], max(float(op[4]) for op in tables[graph]), fault, f"perf-analyzer: cycles of '{graph}'", 0)
        for name, kernel in ops.items():
            near(kernel, works[graph, name], fault, f"perf-analyzer: kernel of '{name}' of '{graph}'")
        if {(graph, name) for name in ops} != {key for key in works if key[0] == graph}:
            fault(f"perf-analyzer: ops of '{graph}' are {sorted(ops)}")
    if len(tables) != len(summary["epochs"]) + 1:
        fault(f"perf-analyzer shows {len(tables) - 1} epochs")


def check(folder, tables, tool=None):
    """Faults of a folder, as texts."""
    summary = json.loads((folder / "summary.json").read_text())
    faults = []
    executions, cores = read_trace(folder, summary["clock_hz"])
    conservation(cores, faults.append)
    capacity(folder, summary, faults.append)
    if tables:
        headers(folder, faults.append)
    if tables and not faults:
        profile_log(folder, executions, cores, faults.append)
        graph_report(folder, executions, cores, summary, faults.append)
        op_report(folder, executions, cores, summary["clock_hz"], faults.append)
    if tool:
        waits(executions, cores, summary, faults.append)
        analyzer(tool, folder, executions, cores, summary, faults.append)
    return faults


def near(written, computed, fault, what, slack=1.0):
    if abs(float(written) - computed) > slack + 1e-4 * abs(computed):
        fault(f"{what} is {written}; the events give {computed:.3f}")


def profile_log(folder, executions, cores, fault):
    rows = collections.defaultdict(list)
    for line in (folder / "profile_log_device.csv").read_text().split("\n")[2:]:
        if line:
            chip, x, y, risc, marker, cycle = line.split(", ")
            rows[int(chip), f"{x}-{y}", risc].append((int(marker), int(cycle)))
    for (chip, place, number), core in sorted(cores.items()):
        if not core.inputs:
            continue
        kernel = (min(i[0] for i in core.inputs), max(i[1] for i in core.inputs))
        spans = {"NCRISC": core.streams["tiles in"], "BRISC": core.streams["tiles out"], "TRISC0": kernel, "TRISC1": kernel,
                 "TRISC2": kernel}
        for risc, span in spans.items():
            markers = rows[chip, place, risc]
            if span is None:
                continue
            expected = [executions[number][0], *span, executions[number][1]]
            if not any([m for m, _ in markers[at:at + 4]] == [1, 2, 3, 4]
                       and all(abs(c - t / TICKS) <= 1 for (_, c), t in zip(markers[at:at + 4], expected))
                       for at in range(0, len(markers), 4)):
                fault(f"profile_log_device.csv: {risc} of core {place}: {markers[:4]}; the events give {expected}")


def graph_report(folder, executions, cores, summary, fault):
    works = collections.defaultdict(list)
    for (_, _, number), core in cores.items():
        if core.inputs:
            works[executions[number][2], core.op].append(core.worked / len(core.inputs))
    for path in sorted(folder.glob("perf_results/analyzer_results/*/graph_perf_report.csv")):
        for row in csv.DictReader(io.StringIO(path.read_text())):
            cycles = works.get((row["graph_name"], row["op_name"]))
            if cycles is None:
                fault(f"{path.name}: no core works for '{row['op_name']}'")
                continue
            inputs = int(row["first_to_last_input"].split("->")[1]) + 1
            near(row["kernel_runtime_per_input"], max(cycles), fault, f"kernel_runtime_per_input of '{row['op_name']}'")
            near(row["kernel_total_runtime"], max(cycles) * inputs, fault, f"kernel_total_runtime of '{row['op_name']}'", inputs * 1.0)
            op = next(o for e in summary["epochs"] if e["graph"] == row["graph_name"] for o in e["ops"] if o["name"] == row["op_name"])
            if max(cycles) > 1:
                near(row["kernel_math_utilization"], 100 * op.get("math", 0) / max(cycles), fault,
                     f"kernel_math_utilization of '{row['op_name']}'", 0.5)
            for i, pipe in enumerate(op["inputs"]):
                if pipe["bytes"] and max(cycles) > 1:
                    near(row[f"required_input_bw_{i}"], pipe["bytes"] / max(cycles), fault,
                         f"required_input_bw_{i} of '{row['op_name']}'", 0.1)


def op_report(folder, executions, cores, clock_hz, fault):
    rows = list(csv.DictReader(io.StringIO((folder / "ops_perf_results.csv").read_text())))
    spans = {}
    for (_, _, number), core in cores.items():
        for begin, end in core.inputs:
            low, high = spans.get((number, core.op), (begin, end))
            spans[number, core.op] = min(low, begin), max(high, end)
    if len(rows) != len(spans):
        fault(f"ops_perf_results.csv has {len(rows)} rows; {len(spans)} ops have run")
    for row in rows:
        op, graph = re.match(r"name=(\S+) graph=(\S+(?:, \S+)*?) t=", row["ATTRIBUTES"]).groups()
        start = int(row["DEVICE FW START CYCLE"])
        found = [n for n, (begin, _, name) in enumerate(executions) if name == graph and abs(begin / TICKS - start) <= 1]
        if not found or (found[0], op) not in spans:
            fault(f"ops_perf_results.csv: '{op}' of '{graph}' at {start}: no such execution")
            continue
        begin, end = spans[found[0], op]
        nanoseconds = 1e9 / clock_hz / TICKS
        near(row["DEVICE TRISC0 KERNEL DURATION [ns]"], (end - begin) * nanoseconds, fault, f"TRISC0 of '{op}'")
        first, last, _ = executions[found[0]]
        near(row["DEVICE FW DURATION [ns]"], (last - first) * nanoseconds, fault, f"firmware of '{op}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--analyzer", type=pathlib.Path, metavar="TOOL")
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    faults = check(args.folder, args.csv, args.analyzer)
    for fault in faults[:40]:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
