#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every policy does what its name says, and none is much better than the default, by the placement reports of the models of tests/models;
and plans for odd numbers of inputs cannot deadlock.

    policies.py BUILD_DIR SOURCE_DIR [MODEL.onnx ...]
"""
import json
import pathlib
import sys
import tempfile

from tools import Failed, run

DEVICES = ["n150", "e150"]
MICROBATCHES = [1, 64]
# Of what is drawn, something may be better by chance.
LUCK = 1.01
POLICIES = ["minimize_grid", "maximize_t_minimize_grid", "random", "single_op_per_epoch", "one_row", "nlp", "ribbon", "default"]


def cores(op):
    return op["grid"][0] * op["grid"][1]


def parts(op):
    return op["t"]


def ops_of(report):
    return {op["name"]: op for epoch in report["epochs"] for op in epoch["ops"]}


def require(holds, what):
    if not holds:
        raise Failed(what)


def check_names(reports):
    """`reports`: by policy, of one model."""
    by_policy = {policy: ops_of(report) for policy, report in reports.items()}
    for policy, ops in by_policy.items():
        for name, op in by_policy["minimize_grid"].items():
            if name in ops:
                require(cores(op) <= cores(ops[name]), f"minimize_grid gives op '{name}' {cores(op)} cores, {policy} {cores(ops[name])}")
    most_parts = by_policy["maximize_t_minimize_grid"]
    for policy in ["minimize_grid", "nlp", "ribbon", "one_row", "single_op_per_epoch", "default"]:
        total = sum(parts(op) for op in by_policy[policy].values())
        require(sum(map(parts, most_parts.values())) >= total, f"maximize_t_minimize_grid has fewer parts than {policy}")
    alone = reports["single_op_per_epoch"]
    require(all(len(epoch["ops"]) == 1 for epoch in alone["epochs"]), "single_op_per_epoch has an epoch of several ops")
    fit_one_row = {name for ops in by_policy.values() for name, op in ops.items() if op["grid"][0] == 1}
    for name, op in by_policy["one_row"].items():
        require(op["grid"][0] == 1 or name not in fit_one_row, f"one_row gives op '{name}' grid {op['grid']}")
    resident = sum(len(op.get("resident_inputs", [])) for op in by_policy["nlp"].values())
    require(resident >= sum(len(op.get("resident_inputs", [])) for op in by_policy["default"].values()), "nlp keeps fewer weights in L1 than the default")
    for policy, report in reports.items():
        mine, best = report["totals"]["inputs_per_second"], reports["default"]["totals"]["inputs_per_second"]
        require(mine <= (LUCK if policy == "random" else 1) * best, f"{policy} reaches {mine} inputs/s, the default {best}")


class Tools:
    def __init__(self, build, work):
        self.bin, self.work = build / "bin", work

    def report(self, graph, *options):
        out = self.work / "report.json"
        run(self.bin / "balancer", graph, "-o", self.work / "n.yaml", "--report", out, "-q", *options)
        return json.loads(out.read_text())

    def netlist(self, graph, *options):
        run(self.bin / "balancer", graph, "-o", self.work / "n.yaml", "-q", *options)
        return (self.work / "n.yaml").read_text()

    def try_model(self, model):
        graph = self.work / "device.graph.json"
        for device in DEVICES:
            run(self.bin / "importer", model, "-o", self.work / "graph.json")
            run(self.bin / "optimizer", self.work / "graph.json", "-o", graph, "--device", device)
            for microbatch in MICROBATCHES:
                given = ["--device", device, "--microbatch", str(microbatch)]
                reports = {policy: self.report(graph, "--policy", policy, *given) for policy in POLICIES}
                check_names(reports)
                for rows in (1, 2):
                    self.try_ribbon(reports, rows, self.report(graph, "--policy", "ribbon", "--set", f"policy.ribbon.rows={rows}", *given))
            # Halves of output buffers that an odd number of inputs would not fill.
            for microbatch in (3, 5, 15):
                self.netlist(graph, "--device", device, "--microbatch", str(microbatch))
                run(self.bin / "netlist", "check", "--liveness", self.work / "n.yaml", "--device", device)
        self.try_seeds(graph)

    def try_ribbon(self, reports, rows, report):
        """Ops of which some policy shows that they may have so many rows have them."""
        able = {name for other in reports.values() for name, op in ops_of(other).items() if op["grid"][0] == rows}
        for name, op in ops_of(report).items():
            require(op["grid"][0] == rows or name not in able, f"ribbon with {rows} rows gives op '{name}' grid {op['grid']}")

    def try_seeds(self, graph):
        first, again, *others = (self.netlist(graph, "--device", DEVICES[-1], "--policy", "random", "--seed", seed) for seed in "77123456")
        require(first == again, "random gives two netlists for one seed")
        has_choice = any(op["candidates"] > 1 for op in ops_of(self.report(graph, "--device", DEVICES[-1])).values())
        require(not has_choice or any(other != first for other in others), "random gives one netlist for all seeds")


def main():
    build, source = map(pathlib.Path, sys.argv[1:3])
    models = [pathlib.Path(m) for m in sys.argv[3:]] or sorted((source / "tests/models").glob("*.onnx"))
    failed = 0
    for model in models:
        with tempfile.TemporaryDirectory() as work:
            try:
                Tools(build, pathlib.Path(work)).try_model(model)
                print(f"{model.stem}: ok")
            except Failed as e:
                failed += 1
                print(f"{model.stem}: {e}")
    return 1 if failed else 0


sys.exit(main())
