#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What target grid reports of a run: that times and bytes are conserved, causes predict, the size of transfers does
not matter, files have their columns, and equal runs are equal.

    simulated_times.py BUILD_DIR SOURCE_DIR [NETLIST.yaml...]

Compiles small models with one and with several inputs in an epoch, runs their netlists with generated inputs, and computes anew from the
events what the tables say. With netlists given, those are taken instead. Prints a line for each; ends with 1 when something differs.
"""
import csv
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import perf_check

CPU_MODELS = ["mlp", "elementwise", "attention", "cnn"]
INPUTS_OF_AN_EPOCH = [1, 16]
INPUTS_WITH_A_PERIOD = 8
# Of the time or period of an epoch.
MOST_WRONG_PREDICTION = 0.01
MOST_EFFECT_OF_OTHERS = 0.005
# Where transfers take most of the time: a kernel that ends earlier changes the order in which they meet on links, and who waits there.
MOST_EFFECT_OF_ORDER = 0.02
# Of the size of transfers, on cycles per input.
MOST_EFFECT_OF_CHUNKS = 0.03

OP_PERF = ("name, type, epoch, grid, tiles, cycles, limiter_cycles, " + ", ".join(f"estimated input bandwidth {i}" for i in range(8)) +
           ", estimated output bandwidth 0")
ALL_EPOCHS = (",program-name,graph-name,aiclk,device-id,input-count,first-to-last-inputs,num-cycles-per-tensor-all-inputs,"
              "num-tensors-per-second-all-inputs,num-cycles-all-inputs,largest-wait-for-epoch-binary,")
RUNTIME_TABLE = ("core-label,device_id,aiclk,first-and-last-inputs,total-runtime,active-math-cycles-single-input,math-utilization-over-all-inputs,"
                 "math-utilization-last-input-recorded,runtime-last-input-recorded,num-cycles-per-tensor,num-tensors-per-second,input0-bw,"
                 "input1-bw,output-bw")
ANALYSIS = ["op_name", "kernel_total_runtime", "bw_bound_total_runtime", "first_to_last_input", "kernel_math_utilization",
            "bw_bound_math_utilization", "input_pipe_bw_0", "required_input_bw_0", "output_pipe_bw_0", "required_output_pipe_bw_0"]
OP_REPORT = ("OP CODE,OP TYPE,GLOBAL CALL COUNT,ATTRIBUTES,MATH FIDELITY,CORE COUNT,PARALLELIZATION STRATEGY,HOST START TS,HOST END TS,"
             "HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],"
             "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL DURATION [ns],"
             "DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,"
             "INPUT_0_DATA TYPE,INPUT_0_MEMORY,")
OP_REPORT_END = ("OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATA TYPE,OUTPUT_0_MEMORY,CALL DEPTH,CompileProgram,"
                 "ConfigureDeviceWithProgram,LaunchProgram,ReadFromDevice,WriteToDevice,DumpDeviceProfileResults")
RISCS = ["NCRISC", "BRISC", "TRISC0", "TRISC1", "TRISC2"]


class Wrong(Exception):
    pass


def expect(true, what):
    if not true:
        raise Wrong(what)


def near(a, b, rest=0.51):
    return abs(a - b) <= rest


def run(tools, netlist, folder, *options):
    command = [tools / "runner", netlist, "--bare", "--stimulus", "--target", "grid", "--perf", folder, "-o", folder.with_suffix(".npz"), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    expect(done.returncode == 0, f"runner ends with {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads((folder / "summary.json").read_text())


def hashes(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def check_headers(folder, summary):
    first = lambda path: (folder / path).read_text().split("\n", 1)[0]
    expect(first("op_perf.csv") == OP_PERF, "columns of op_perf.csv")
    expect(first("perf_results/perf_info_all_epochs.csv") == ALL_EPOCHS, "columns of perf_info_all_epochs.csv")
    tables = sorted(folder.glob("perf_results/device/*/*/runtime_table.csv"))
    expect(len(tables) >= len(summary["epochs"]), "a runtime table for each epoch")
    for table in tables:
        expect(table.read_text().split("\n", 1)[0] == RUNTIME_TABLE, "columns of runtime_table.csv")
    for report in folder.glob("perf_results/analyzer_results/*/graph_perf_report.csv"):
        columns = report.read_text().split("\n", 1)[0].split(",")
        expect(set(ANALYSIS) <= set(columns), f"columns of {report.name}")
    expect(first("ops_perf_results.csv").startswith(OP_REPORT) and first("ops_perf_results.csv").endswith(OP_REPORT_END), "columns of the report of ops")
    log = (folder / "profile_log_device.csv").read_text().splitlines()[2:]
    for at in range(0, len(log), 4):
        rows = [row.split(", ") for row in log[at:at + 4]]
        expect([row[4] for row in rows] == ["1", "2", "3", "4"] and len({tuple(row[:4]) for row in rows}) == 1, "four markers for each RISC")
        expect(rows[0][3] == RISCS[at // 4 % 5], "the order of RISCs")
        times = [int(row[5]) for row in rows]
        expect(times == sorted(times), f"markers in order of time: {rows}")


def trace_of(folder):
    events = json.loads(gzip.decompress((folder / "trace.json.gz").read_bytes()))["traceEvents"]
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    return [e for e in events if e["ph"] == "X"], tracks


def check_trace(folder, summary):
    """Steps and waits of a core follow one another without gaps or overlaps, from level 2 on; sums are those of the summary."""
    events, tracks = trace_of(folder)
    scale = 1e6 / summary["clock_hz"]
    epochs = sorted((e for e in events if "epoch" in e["args"]), key=lambda e: e["ts"])
    expect(near(sum(e["dur"] for e in epochs) / scale, sum(e["total"] for e in summary["epochs"]), 1), "epochs add up to the time")
    worked, cores, by_track = {}, {}, {}
    for e in events:
        track = (e["pid"], e["tid"])
        if e["name"] == "step" or e["name"].startswith("waits for"):
            by_track.setdefault(track, []).append(e)
        if "worked_cycles" in e["args"]:
            name = e["name"].rsplit(" input ", 1)[0]
            worked[name] = worked.get(name, 0) + e["args"]["worked_cycles"]
            cores.setdefault(name, set()).add(track)
    for track, parts in by_track.items():
        parts.sort(key=lambda e: (e["ts"], e["dur"]))
        for before, after in zip(parts, parts[1:]):
            gap = after["ts"] - before["ts"] - before["dur"]
            between = any(abs(after["ts"] - e["ts"]) < 1e-3 or before["ts"] < e["ts"] + e["dur"] <= after["ts"] + 1e-4 for e in epochs)
            expect(gap > -2e-4 and (gap < 2e-4 or between), f"a gap of {gap} us on {tracks[track]}")
    for epoch in summary["epochs"]:
        for op in epoch["ops"]:
            count = epoch["executions"] * op["cores"]
            expect(len(cores.get(op["name"], ())) == op["cores"], f"cores of {op['name']}")
            busy = op["busy"] * epoch["cycles"]
            expect(near(worked[op["name"]] / count, busy, 1 + 1e-6 * busy), f"{op['name']} works {worked[op['name']] / count} cycles, not {busy}")
            expect(busy <= (op["kernel"] + 1) * epoch["inputs"], f"{op['name']} works longer than its slowest core")


def check_moved(folder, summary):
    """What reads and writes of level 3 bring and take is what passes DRAM, in one execution of each epoch."""
    events, _ = trace_of(folder)
    moved = sum(e["args"]["bytes"] for e in events if e["name"] in ("read", "write"))
    halves = sum(load["bytes"] * epoch["executions"] for epoch in summary["epochs"] for load in epoch["loads"]
                 if load["resource"].startswith("DRAM") or load["resource"] == "host")
    expect(moved == halves, f"{moved} bytes are read and written, {halves} pass memories")


def check_sums(summary):
    for epoch in summary["epochs"]:
        expect(sum(c["cycles"] for c in epoch["causes"]) == epoch["span"], "causes add up to their span")
        if epoch["inputs"] < INPUTS_WITH_A_PERIOD:
            expect(epoch["span"] == epoch["cycles"], "causes span the epoch")
        expect(0 < epoch["span"] <= epoch["cycles"], "causes span a part of the epoch")
        for op in epoch["ops"]:
            waits = op["output"]["waits"] + sum(i["waits"] for i in op["inputs"])
            expect(op["busy"] + waits <= 1 + 1e-9, f"{op['name']} works and waits longer than the epoch")
        for load in epoch["loads"]:
            expect(load["utilisation"] <= 1 + 1e-6, f"{load['resource']} carries more than it can")
        longest = max(op["kernel"] for op in epoch["ops"])
        expect(epoch["period"] >= 0.999 * longest or epoch["inputs"] < 3, f"a period of {epoch['period']}, with a kernel of {longest}")


def check_tables(folder, summary):
    """The analysis has the kernels of the summary, and no pipe is faster than the kernel needs."""
    for epoch in summary["epochs"]:
        for path in folder.glob("perf_results/analyzer_results/*/graph_perf_report.csv"):
            for row in csv.DictReader(path.open()):
                if row["graph_name"] != epoch["graph"]:
                    continue
                op = next(o for o in epoch["ops"] if o["name"] == row["op_name"])
                first, last = map(int, row["first_to_last_input"].split("->"))
                expect(last - first + 1 == epoch["inputs"], "first_to_last_input")
                expect(near(float(row["kernel_total_runtime"]), op["kernel"] * epoch["inputs"], 1), "kernel_total_runtime")
                expect(float(row["bw_bound_total_runtime"]) >= float(row["kernel_total_runtime"]), "bw_bound_total_runtime")
                expect(float(row["input_pipe_bw_0"]) <= float(row["required_input_bw_0"]) + 1e-3, "input_pipe_bw_0")


def time_of(epoch):
    """What the causes add up to: a period, or the whole of an epoch of few inputs."""
    return epoch["period"] if epoch["inputs"] >= INPUTS_WITH_A_PERIOD else epoch["cycles"]


def first_cause(epoch):
    cause = max(epoch["causes"], key=lambda c: c["share"])
    return {key: value for key, value in cause.items() if key != "share"}


def ahead_of_others(epoch, name):
    """By which part an op's kernel takes longer than that of any other: what remains of a saving when another one takes over."""
    own = next(op["kernel"] for op in epoch["ops"] if op["name"] == name)
    return max(0, 1 - max([op["kernel"] for op in epoch["ops"] if op["name"] != name], default=0) / own)


def mostly_transfers(epoch):
    kinds = ("send", "read", "write", "latency")
    return sum(c["share"] for c in epoch["causes"] if c["kind"] in kinds) > 0.5


def check_causes(tools, netlist, work, summary):
    """A kernel that takes 5 % less shortens its epoch by 5 % of its part of the causes; one without a part by nothing."""
    told = []
    epoch_number, epoch = max(enumerate(summary["epochs"]), key=lambda e: e[1]["total"])
    shares = {c["op"]: c["share"] for c in epoch["causes"] if c["kind"] == "kernel"}
    names = [max(shares, key=shares.get)] if shares else []
    names += [op["name"] for op in epoch["ops"] if op["name"] not in shares][:1]
    for name in names:
        faster = run(tools, netlist, work / "faster", "--perf-level", "0", "--set", f"target.grid.scale={name}=0.95")["epochs"][epoch_number]
        share = shares.get(name, 0)
        effect, predicted = 1 - time_of(faster) / time_of(epoch), 0.05 * share
        if epoch["inputs"] > 1 and share:
            predicted = min(predicted, ahead_of_others(epoch, name))
        told.append(f"{share:.0%}: {effect:.2%} ({predicted:.2%})")
        if share and first_cause(faster) != first_cause(epoch):
            # Another limit takes over on the way, as far as which the prediction goes.
            expect(-MOST_EFFECT_OF_OTHERS <= effect <= predicted + MOST_WRONG_PREDICTION, f"'{name}', 5 % faster: the epoch takes {effect:.2%} less")
            continue
        most = MOST_EFFECT_OF_ORDER if mostly_transfers(epoch) else MOST_WRONG_PREDICTION if share else MOST_EFFECT_OF_OTHERS
        expect(abs(effect - predicted) <= most, f"'{name}', {share:.0%} of the causes, 5 % faster: the epoch takes {effect:.2%} less, not {predicted:.2%}")
    return ", ".join(told)


def check_chunks(tools, netlist, work, summary):
    """Transfers of several tiles take the time of single ones."""
    single = run(tools, netlist, work / "single", "--perf-level", "0", "--set", "target.grid.chunk-tiles=1")
    for usual, epoch in zip(summary["epochs"], single["epochs"]):
        difference = time_of(usual) / time_of(epoch) - 1
        expect(abs(difference) <= MOST_EFFECT_OF_CHUNKS,
               f"'{epoch['graph']}' takes {time_of(epoch)} cycles with transfers of single tiles, usually {difference:+.2%}")


def check(tools, netlist, work):
    summary = run(tools, netlist, work / "all", "--perf-level", "3", "--threads", "1")
    run(tools, netlist, work / "again", "--perf-level", "3", "--threads", "2")
    expect(hashes(work / "all") == hashes(work / "again"), "reports depend on the number of threads")
    for level in "012":
        expect(run(tools, netlist, work / f"level{level}", "--perf-level", level) == summary, f"level {level} changes the summary")
    check_sums(summary)
    check_headers(work / "all", summary)
    faults = perf_check.check(work / "all", tables=True, tool=tools / "perf-analyzer")
    expect(not faults, "; ".join(faults[:3]))
    check_trace(work / "level2", summary)
    check_moved(work / "all", summary)
    check_tables(work / "all", summary)
    check_chunks(tools, netlist, work, summary)
    return check_causes(tools, netlist, work, summary)


def compile_models(tools, source, work):
    models = [source / "tests/models" / f"{name}.onnx" for name in CPU_MODELS]
    models += [source / "share/examples/digits" / f"{name}.onnx" for name in ("digits", "digits-conv")]
    for model in models:
        for inputs in INPUTS_OF_AN_EPOCH:
            folder = work / f"{model.stem}-{inputs}"
            folder.mkdir()
            command = [tools / "buda", "compile", model, "-o", folder / "m.tti", "--device", "n150", "--build-dir", folder, "--microbatch", str(inputs)]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
            if done.returncode != 0:
                raise Wrong(f"{model.name}: {done.stderr.strip()[-500:]}")
            netlists = sorted(folder.glob("*.yaml"))
            if netlists:
                yield folder.name, netlists[0]


def main():
    build, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    tools, wrong = build / "bin", 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        given = [(pathlib.Path(n).stem, pathlib.Path(n).resolve()) for n in sys.argv[3:]]
        for name, netlist in given or compile_models(tools, source, work):
            reports = work / f"reports-{name}"
            reports.mkdir()
            try:
                print(f"{name}: {check(tools, netlist, reports)}", flush=True)
            except Wrong as problem:
                print(f"{name}: wrong: {problem}", flush=True)
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
