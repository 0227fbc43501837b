#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what the balancer says that epochs move with what their stream programs move.

    traffic.py BIN_DIR NETLIST PIPES_DIR

NETLIST has its placement report beside it, PIPES_DIR what netlist2pipe made of it. For each epoch, the bytes of each DRAM channel by `netlist cost`, by the
report and by `pipegen --report` must be equal, and those that the busiest network link carries while the epoch runs equal within 10 %. Where over 4 MB move
in an epoch, its busiest channel must not move over 1.25 times what channels move on average; likewise where over 2 MB are read before it. Where over 1 MB are
read in both times, 1.45 times.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

KINDS = ("read", "written", "before", "after")
MOST_TO_MEAN, LINK_TOLERANCE = 1.25, 0.1
# Less is not judged: it takes less time than the change to an epoch, and consists of few buffers. Fewer bytes are more buffers before an epoch.
LEAST_RUNNING, LEAST_BEFORE = 4_000_000, 2_000_000
# Both together are less even: where one time has few buffers, the other does not make up for it.
LEAST_READ, MOST_TOGETHER = 1_000_000, 1.45


def epoch_number(pipes):
    return int(pipes.parent.parent.name.rsplit("_", 1)[1])


def pipegen_report(bin_dir, pipes, work):
    report = work / "report.json"
    subprocess.run([bin_dir / "pipegen", pipes, "-o", work / "blob.json", "--report", report, "-q"], check=True)
    return json.loads(report.read_text())


def channels_of(estimate):
    return [[channel[kind] for kind in KINDS] for channel in estimate["channels"]]


def channels_of_streams(report, count):
    out = [[0] * len(KINDS) for _ in range(count)]
    for channel in report["channels"]:
        if not channel["host"]:
            out[channel["channel"]] = [channel[kind] for kind in KINDS]
    return out


def busiest_link(estimate, inputs):
    return next((path["bytes"] * inputs for path in estimate["paths"] if path["kind"] == "NoC"), 0)


def objections(cost, reported, streams, inputs):
    """Of one epoch."""
    channels = channels_of(cost)
    if channels != channels_of(reported):
        yield f"the report's channels {channels_of(reported)} are not those of netlist cost, {channels}"
    if channels != (moved := channels_of_streams(streams, len(channels))):
        yield f"streams move {moved}, not {channels}"
    most = max((link["bytes"] - link["before"] for link in streams["links"]), default=0)
    for who, estimate in (("netlist cost", cost), ("the report", reported)):
        if abs(busiest_link(estimate, inputs) - most) > LINK_TOLERANCE * most:
            yield f"the busiest link carries {most} bytes, and {busiest_link(estimate, inputs)} by {who}"
    before = [channel[KINDS.index("before")] for channel in channels]
    running = [channel[KINDS.index("read")] + channel[KINDS.index("written")] for channel in channels]
    if sum(before) > LEAST_BEFORE:
        yield from uneven("before the epoch", before, MOST_TO_MEAN)
    if sum(running) > LEAST_RUNNING:
        yield from uneven("while it runs", running, MOST_TO_MEAN)
    if sum(before) + sum(channel[KINDS.index("read")] for channel in channels) > LEAST_READ:
        yield from uneven("in both times", [sum(channel) for channel in channels], MOST_TOGETHER)


def uneven(when, loads, most):
    if max(loads) * len(loads) > most * sum(loads):
        yield f"the busiest channel moves {max(loads) * len(loads) / sum(loads):.2f} times the mean {when}: {loads}"


def main():
    bin_dir, netlist, pipes_dir = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    cost = subprocess.run([bin_dir / "netlist", "cost", netlist, "--format", "json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    costs = [json.loads(line) for line in cost.splitlines()]
    report = json.loads(netlist.with_suffix(".report.json").read_text())
    pipes = sorted(pipes_dir.glob("temporal_epoch_*/overlay/pipes.json"), key=epoch_number)
    if not len(costs) == len(report["epochs"]) == len(pipes) > 0:
        sys.exit(f"{netlist}: {len(costs)} epochs by netlist cost, {len(report['epochs'])} by the report, {len(pipes)} pipes files")
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for one_cost, one_reported, one_pipes in zip(costs, report["epochs"], pipes):
            streams = pipegen_report(bin_dir, one_pipes, pathlib.Path(work))
            for objection in objections(one_cost, one_reported, streams, report["microbatch"]):
                failed = True
                print(f"{netlist.name}, {one_cost['graph']}: {objection}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
