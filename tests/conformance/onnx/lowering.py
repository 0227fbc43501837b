#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes ONNX's own tests through the optimizer and tells, test by test, what of them runs on the device.

Each test that the importer reads is lowered, and the lowered graph evaluated in fp32 (runner --target cpu), padding included. Verdicts:
  device    all operations became device ops; outputs have the expected type, shape and values (rtol 1e-3, atol 1e-5)
  host      so have they, but some operations run on the host (CPU fallback)
  wrong     lowered, but an output differs
  refused   optimizer or runner said why they do not do it (exit 1 to 3)
  crash     anything else: a signal, exit 70, no end within a minute
Tests that the importer does not read, or that have no dense tensors, are left out: judge.py lists them.

    lowering.py --build build/ci                        everything
    lowering.py --build build/ci 'test_reduce*' -v      a pattern, with the reason of each test that is not on the device alone
    lowering.py --build build/ci --table docs/conformance/onnx-device.md
    lowering.py --build build/ci --check lowering-expected.txt --least 0.85
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import re
import struct
import sys
import tempfile

import judge

VERDICTS = ["device", "host", "wrong", "refused", "crash"]
# Sizes that inputs are promised to have: the first that holds.
SIZES = [1, 4, 10, 100, 1000000]
# Element types of tensors by their number in ONNX, as struct spells them.
FORMS = {1: "f", 2: "B", 3: "b", 4: "H", 5: "h", 6: "i", 7: "q", 10: "e", 11: "d", 12: "I", 13: "Q"}
# Nodes that stand on the host without doing anything there.
NO_WORK = {"input", "parameter", "constant", "to_host"}


def host_reason(lowered, warnings):
    """Why operations of a lowered graph run on the host; nothing when none does."""
    with open(lowered, encoding="utf-8") as f:
        nodes = json.load(f)["nodes"]
    ops = {n["op"] for n in nodes if n.get("tags", {}).get("placement") == "host" and n["op"] not in NO_WORK}
    if not ops:
        anything = any(n.get("tags", {}).get("placement") != "host" for n in nodes if n["op"] != "output")
        return "" if anything else "nothing but values that the device cannot hold"
    refused = [w for w in warnings if w.get("code") == "PA060"]
    if not refused:
        return "by name: " + ", ".join(sorted(ops))
    return "; ".join("%s: %s" % (re.match("'([^']*)'", w["message"]).group(1), w["message"].rsplit("device: ", 1)[-1]) for w in refused)


def numbers_of(data):
    """The numbers of a serialised tensor; None where it does not keep them as plain bytes."""
    kind, raw = [value for number, value in judge.fields(data) if number == 2][-1], judge.first(data, 9)
    if kind == judge.BFLOAT16:
        kind, raw = 1, b"".join(bytes(2) + raw[i:i + 2] for i in range(0, len(raw), 2))
    return [n for (n,) in struct.iter_unpack("<" + FORMS[kind], raw)] if kind in FORMS and raw else None


def ranges_of(model, sets):
    """For each input of a test by its name the range that a user who knows its numbers promises, in round figures."""
    numbers = collections.defaultdict(list)
    for data_set in sets:
        for i, name in enumerate(model.inputs):
            path = os.path.join(data_set, "input_%d.pb" % i)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    some = numbers_of(file.read())
                numbers[name] += [math.nan] if some is None else some
    ranges = {}
    for name, some in numbers.items():
        size = next((s for s in SIZES if all(-s <= n <= s for n in some)), None)
        if size:
            ranges[name] = f"{0 if min(some, default=0) >= 0 else -size}:{size}"
    return ranges


def promise_ranges(graph, ranges):
    """Says of the graph's inputs what numbers they hold; the run checks it. Without that, selections among inputs run on the host, which alone
    keeps NaN (PA092), as do integers of any size, and nothing is told of what the device could do."""
    with open(graph, encoding="utf-8") as file:
        whole = json.load(file)
    for node in whole["nodes"]:
        types = node.get("types", [])
        if node.get("op") == "input" and types and types[0]["dtype"] != "BOOL" and node["name"] in ranges:
            node.setdefault("tags", {}).setdefault("value_range", ranges[node["name"]])
    with open(graph, "w", encoding="utf-8") as file:
        json.dump(whole, file)


def lower(build, folder, path):
    """The outcome of one test; None where it is not ours to judge."""
    model = judge.Model(os.path.join(path, "model.onnx"))
    sets = sorted(os.path.join(path, d) for d in os.listdir(path) if d.startswith("test_data_set_"))
    if not model.dense or not sets:
        return None
    outcome = judge.Outcome(folder, os.path.basename(path), model)
    with tempfile.TemporaryDirectory(prefix="buda-onnx-") as scratch:
        graph, lowered = os.path.join(scratch, "model.graph.json"), os.path.join(scratch, "model.device.graph.json")
        sets = [judge.with_real_types(model, data_set, scratch) for data_set in sets]
        ranges, done = ranges_of(model, sets), False
        for data_set in sets:
            if not done or outcome.values:
                if not judge.import_model(build, path, data_set, graph, outcome):
                    return None
                promise_ranges(graph, ranges)
                code, said = judge.tool(build, "optimizer", [graph, "-o", lowered], ("error", "warning"))
                if code != 0:
                    judge.settle(outcome, "optimizer", code, [d for d in said if d["severity"] == "error"])
                    return outcome
                outcome.reason = host_reason(lowered, said)
                done = True
            rtol = "0.0078125" if judge.BFLOAT16 in model.output_types else "1e-3"
            code, errors = judge.tool(build, "runner", [lowered, "--target", "cpu", "--inputs", data_set, "--expect", data_set,
                                                        "--rtol", rtol, "--atol", "1e-5", "--same-type"])
            if code != 0:
                judge.settle(outcome, "runner", code, errors)
                return outcome
    outcome.verdict = "host" if outcome.reason else "device"
    return outcome


def counts(outcomes):
    c = collections.Counter(o.verdict for o in outcomes)
    return [c[v] for v in VERDICTS]


def share(outcomes):
    return sum(o.verdict == "device" for o in outcomes) / max(1, len(outcomes))


def print_summary(outcomes, verbose):
    if verbose:
        for o in outcomes:
            if o.verdict != "device" or verbose > 1:
                print("%-8s %s%s" % (o.verdict, o.key(), ": " + o.reason if o.reason else ""))
    print("%-20s %6s" % ("", "tests") + "".join("%9s" % v for v in VERDICTS))
    for folder, some in judge.by_folder(outcomes):
        print("%-20s %6d" % (folder, len(some)) + "".join("%9d" % c for c in counts(some)) + "  %5.1f %% on the device" % (100 * share(some)))


INTRO = """# ONNX: what lowers to the device

Written by `tests/conformance/onnx/lowering.py --table`; do not edit. Each test of ONNX's backend suite that the [importer reads](onnx.md) goes through
`optimizer`, with a promise of how large the numbers of each input are, and whether some are negative (`--value-range`); the lowered graph is evaluated in fp32, padding included, and compared with the expected outputs (relative tolerance 0.001, absolute 0.00001).
*device*: all operations became device ops. Conversions of inputs and outputs are the host's. *host*: some or all operations run on the host
([CPU fallback](../tools/optimizer.md#cpu-fallback)).
"""


def table(outcomes):
    row = judge.row
    head = row(["---"] * 2 + ["---:"] * len(VERDICTS))
    out = [INTRO, "\n", row(["folder", "tests"] + VERDICTS), head]
    for folder, some in judge.by_folder(outcomes):
        out.append(row([folder, len(some)] + counts(some)))
    out.append("\nOf the tests of single operators (`node`) %.1f %% run on the device.\n" %
               (100 * share([o for o in outcomes if o.folder == "node"])))
    out += ["\n## By operator\n\nA test counts for every operator that its model uses.\n\n", row(["operator", "tests"] + VERDICTS), head]
    for op, some in judge.by_op(outcomes):
        out.append(row(["`%s`" % op, len(some)] + counts(some)))
    out += ["\n## Not on the device alone\n\n", row(["test", "verdict", "reason"]), row(["---"] * 3)]
    for o in outcomes:
        if o.verdict != "device":
            out.append(row([o.key(), o.verdict, o.reason.replace("|", "\\|")]))
    return "".join(out)


EXPECTED_INTRO = """# Tests of ONNX that do not lower to the device as a whole, and how: "verdict test". lowering.py --check compares a run with this list.
"""


def check(outcomes, path, update, whole):
    expected = {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            if line.strip() and not line.startswith("#"):
                verdict, key = line.split()
                expected[key] = verdict
    if update:
        seen = {o.key() for o in outcomes}
        listed = {k: v for k, v in expected.items() if not whole and k not in seen}
        listed.update({o.key(): o.verdict for o in outcomes if o.verdict != "device"})
        with open(path, "w", encoding="utf-8") as f:
            f.write(EXPECTED_INTRO + "".join("%s %s\n" % (listed[k], k) for k in sorted(listed)))
        return True
    fine = True
    for o in outcomes:
        wanted = expected.get(o.key(), "device")
        if VERDICTS.index(o.verdict) < VERDICTS.index(wanted):
            print("%s: %s now, and not %s: bring the list up to date (--update)" % (o.key(), o.verdict, wanted))
        elif o.verdict != wanted:
            fine = False
            print("%s: expected %s, but %s%s" % (o.key(), wanted, o.verdict, ": " + o.reason if o.reason else ""))
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", help="folders (node, simple, …), or patterns of test names; default: all")
    parser.add_argument("--build", required=True, help="the build tree with bin/importer, bin/optimizer and bin/runner")
    parser.add_argument("--data", default=judge.DATA, help="the folder of the tests; default: %(default)s")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--table", metavar="FILE", help="write the page of results")
    parser.add_argument("--check", metavar="FILE", help="compare with the list of tests that are known not to be on the device")
    parser.add_argument("--update", action="store_true", help="write the list instead")
    parser.add_argument("--least", type=float, default=0, help="fail where a smaller part of the folder node is on the device")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="the reason of each test that is not on the device; twice: all")
    o = parser.parse_args()
    if not os.path.isdir(o.data):
        print("skipped: there is no %s (Debian package libonnx-testdata)" % o.data)
        return 77
    tests = judge.selected(o.data, o.tests)
    if not tests:
        print("no test has such a name")
        return 2
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        outcomes = [x for x in pool.map(lambda t: lower(o.build, *t), tests) if x is not None]
    print_summary(outcomes, o.verbose)
    fine = check(outcomes, o.check, o.update, not o.tests) if o.check else True
    if o.table:
        os.makedirs(os.path.dirname(o.table) or ".", exist_ok=True)
        with open(o.table, "w", encoding="utf-8") as f:
            f.write(table(outcomes))
    nodes = [x for x in outcomes if x.folder == "node"]
    if not o.tests and judge.slices.COUNT == 1 and share(nodes) < o.least:
        print("only %.1f %% of the tests in node are on the device" % (100 * share(nodes)))
        fine = False
    return 0 if fine and not any(x.verdict == "crash" for x in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
