#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own tests through importer and runner and tells, test by test, what came of it.

A test is a folder with model.onnx and test_data_set_*/{input,output}_N.pb. Verdicts:
  pass      imported, and for every data set all outputs have the expected type, shape and values (rtol 1e-3, atol 1e-7, as ONNX's own runner)
  wrong     imported and run, but an output differs
  refused   importer or runner said why they do not do it (exit 1 to 3)
  crash     anything else: a signal, exit 70, no end within a minute
  n/a       an input or output of the model is no dense tensor of numbers or booleans

    judge.py --build build/ci                        everything
    judge.py --build build/ci node 'test_lstm*' -v   a folder and a pattern, with the reason of each failure
    judge.py --build build/ci --table docs/conformance/onnx.md
    judge.py --build build/ci --check expected.txt   fails where a test does not do what the file says (--update writes it)
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import slices  # noqa: E402

DATA = "/usr/share/libonnx-testdata/data"
FOLDERS = ["node", "pytorch-converted", "pytorch-operator", "simple"]
VERDICTS = ["pass", "wrong", "refused", "crash", "n/a"]
TIME_LIMIT = 60  # seconds for one process
# TensorProto.DataType: strings and complex numbers are no numbers of ours.
NOT_DENSE_TYPES = {8, 14, 15}


# ---- protobuf, as much of it as is needed to look at a model

def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of each field: an int, or the bytes of a length-delimited one."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value = data[at:at + length]
            at += length
        else:
            length = 8 if kind == 1 else 4
            value = data[at:at + length]
            at += length
        yield tag >> 3, value


def first(data, number, default=b""):
    return next((value for n, value in fields(data) if n == number), default)


def text(data):
    return data.decode("utf-8", "replace")


class Model:
    """What the judge wants to know of a ModelProto."""

    def __init__(self, path):
        with open(path, "rb") as f:
            model = f.read()
        self.opset = 0
        graph = first(model, 7)
        for number, value in fields(model):
            if number == 8 and text(first(value, 1)) in ("", "ai.onnx"):
                self.opset = first(value, 2, 0)
        initializers = {text(first(v, 8)) for n, v in fields(graph) if n == 5}
        inputs = [v for n, v in fields(graph) if n == 11 and text(first(v, 1)) not in initializers]
        outputs = [v for n, v in fields(graph) if n == 12]
        self.inputs = [text(first(v, 1)) for v in inputs]
        self.input_types = [first(first(first(v, 2), 1), 1, 0) for v in inputs]
        self.output_types = [first(first(first(v, 2), 1), 1, 0) for v in outputs]
        self.dense = all(self.is_dense(first(v, 2)) for v in inputs + outputs)
        self.op_types = sorted({self.op_type(v) for n, v in fields(graph) if n == 1})

    @staticmethod
    def op_type(node):
        domain = text(first(node, 7))
        return text(first(node, 4)) if domain in ("", "ai.onnx") else domain + "." + text(first(node, 4))

    @staticmethod
    def is_dense(type_proto):
        tensor = first(type_proto, 1, None)
        return tensor is not None and first(tensor, 1, 0) not in NOT_DENSE_TYPES


UINT16, BFLOAT16 = 4, 16


def with_real_types(model, data_set, scratch):
    """NumPy has no bfloat16, so ONNX's tests keep such tensors as UINT16 with the same bits. The data set with their types put right."""
    wrong = [("input_%d.pb" % i) for i, t in enumerate(model.input_types) if t == BFLOAT16]
    wrong += [("output_%d.pb" % i) for i, t in enumerate(model.output_types) if t == BFLOAT16]
    if not wrong:
        return data_set
    folder = os.path.join(scratch, os.path.basename(data_set))
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(data_set):
        with open(os.path.join(data_set, name), "rb") as f:
            data = f.read()
        if name in wrong and first(data, 2, 0) == UINT16:
            # Of two values of a field the last counts.
            data += bytes([2 << 3, BFLOAT16])
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    return folder


# ---- one test

class Outcome:
    def __init__(self, folder, name, model):
        self.folder, self.name, self.model = folder, name, model
        self.verdict, self.reason, self.values = "pass", "", []

    def key(self):
        return self.folder + "/" + self.name


def tool(build, name, arguments, severities=("error",)):
    """Exit code (negative: a signal; None: no end), and what it said as diagnostics."""
    command = [os.path.join(build, "bin", name), *arguments, "--diagnostics=json"]
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, []
    said = []
    for line in done.stderr.decode("utf-8", "replace").splitlines():
        try:
            said.append(json.loads(line))
        except ValueError:
            continue
    return done.returncode, [d for d in said if isinstance(d, dict) and d.get("severity") in severities]


def reason_of(errors):
    if not errors:
        return "no reason given"
    error = errors[0]
    notes = [n.get("message", "") for n in error.get("notes", [])]
    return error.get("message", "") + "".join(": " + n for n in notes[:1]) + " [" + error.get("code", "") + "]"


def settle(outcome, step, code, errors):
    if code is None:
        outcome.verdict, outcome.reason = "crash", step + " did not end within %d s" % TIME_LIMIT
    elif code == 4:
        outcome.verdict, outcome.reason = "wrong", reason_of(errors)
    elif code in (1, 2, 3):
        outcome.verdict, outcome.reason = "refused", reason_of(errors)
    else:
        outcome.verdict, outcome.reason = "crash", "%s ended with %d: %s" % (step, code, reason_of(errors))


def values_asked_for(errors):
    return [v for e in errors for v in e.get("data", {}).get("values", "").split(",") if v]


def import_model(build, path, data_set, graph, outcome):
    """Imports; inputs that the importer must know it gets from the data set. Whether that went well."""
    given = {}
    while True:
        arguments = [os.path.join(path, "model.onnx"), "-o", graph]
        for name in given:
            arguments += ["--value", "%s=%s" % (name, given[name])]
        code, errors = tool(build, "importer", arguments)
        outcome.values = sorted(given)
        if code == 0:
            return True
        asked = {v for v in values_asked_for(errors) if v in outcome.model.inputs and v not in given}
        if code != 1 or not asked:
            settle(outcome, "importer", code, errors)
            return False
        for name in asked:
            given[name] = os.path.join(data_set, "input_%d.pb" % outcome.model.inputs.index(name))


def judge(build, folder, path):
    outcome = Outcome(folder, os.path.basename(path), Model(os.path.join(path, "model.onnx")))
    if not outcome.model.dense:
        outcome.verdict, outcome.reason = "n/a", "an input or output is no dense tensor of numbers or booleans"
        return outcome
    sets = sorted(os.path.join(path, d) for d in os.listdir(path) if d.startswith("test_data_set_"))
    with tempfile.TemporaryDirectory(prefix="buda-onnx-") as scratch:
        graph = os.path.join(scratch, "model.graph.json")
        imported = False
        for data_set in sets:
            data_set = with_real_types(outcome.model, data_set, scratch)
            if not imported or outcome.values:
                if not import_model(build, path, data_set, graph, outcome):
                    return outcome
                imported = True
            # One unit in the last place of a bfloat16: ONNX cuts off in the tests where it rounds in the text.
            rtol = "0.0078125" if BFLOAT16 in outcome.model.output_types else "1e-3"
            code, errors = tool(build, "runner", [graph, "--target", "cpu", "--inputs", data_set, "--expect", data_set, "--rtol", rtol,
                                                  "--atol", "1e-7", "--same-type"])
            if code != 0:
                settle(outcome, "runner", code, errors)
                return outcome
    if not sets:
        outcome.verdict, outcome.reason = "n/a", "the test has no data"
    return outcome


# ---- all of them, and reports

def selected(data, patterns):
    """The tests of these names; without names all, or a slice of them."""
    tests = list(matching(data, patterns))
    return tests if patterns else slices.of_turn(tests)


def matching(data, patterns):
    for folder in FOLDERS:
        root = os.path.join(data, folder)
        names = sorted(os.listdir(root)) if os.path.isdir(root) else []
        for name in names:
            if not os.path.exists(os.path.join(root, name, "model.onnx")):
                continue
            if not patterns or any(p == folder or fnmatch.fnmatch(name, p) or fnmatch.fnmatch(folder + "/" + name, p) for p in patterns):
                yield folder, os.path.join(root, name)


def counts(outcomes):
    c = collections.Counter(o.verdict for o in outcomes)
    return [c[v] for v in VERDICTS]


def row(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |\n"


def by_folder(outcomes):
    for folder in FOLDERS:
        some = [o for o in outcomes if o.folder == folder]
        if some:
            yield folder, some


def by_op(outcomes):
    groups = collections.defaultdict(list)
    for o in outcomes:
        for op in o.model.op_types:
            groups[op].append(o)
    return sorted(groups.items())


def print_summary(outcomes, verbose):
    if verbose:
        for o in outcomes:
            if o.verdict != "pass" or verbose > 1:
                print("%-8s %s%s" % (o.verdict, o.key(), ": " + o.reason if o.reason else ""))
    print("%-20s %6s" % ("", "tests") + "".join("%9s" % v for v in VERDICTS))
    for folder, some in by_folder(outcomes):
        print("%-20s %6d" % (folder, len(some)) + "".join("%9d" % c for c in counts(some)))
    print("not passing, by op type:")
    for op, some in by_op(outcomes):
        failing = [o for o in some if o.verdict not in ("pass", "n/a")]
        if failing:
            print("  %-28s %4d of %4d" % (op, len(failing), len(some)) + "".join("%9d" % c for c in counts(some)))


INTRO = """# ONNX: its own tests

Written by `tests/conformance/onnx/judge.py --table`; do not edit. Each test of ONNX's backend suite (Debian's `libonnx-testdata`: model, inputs, expected
outputs) goes through `importer` and `runner --target cpu`. It passes when every output has the expected type, shape and values (relative tolerance
0.001, absolute 0.0000001, which are ONNX's own). *n/a*: an input or output is no dense tensor of numbers or booleans. Where an input decides about shapes
(the last table), the importer got it from the test by `--value`.

Two things about the tests: NumPy has no bfloat16, so they keep such tensors as UINT16 with the same bits, which the judge puts right; and they cut floats off to bfloat16
where ONNX says that Cast rounds, so models with such outputs may differ by one unit in the last place (0.0078125).
"""


def table(outcomes):
    out = [INTRO, "\n", row(["folder", "tests"] + VERDICTS), row(["---"] * 2 + ["---:"] * len(VERDICTS))]
    for folder, some in by_folder(outcomes):
        out.append(row([folder, len(some)] + counts(some)))
    out += ["\n## By operator\n\nA test counts for every operator that its model uses; only those with tests are listed.\n\n",
            row(["operator", "tests"] + VERDICTS), row(["---"] * 2 + ["---:"] * len(VERDICTS))]
    for op, some in by_op(outcomes):
        out.append(row(["`%s`" % op, len(some)] + counts(some)))
    out += ["\n## Not passed\n\n", row(["test", "verdict", "reason"]), row(["---"] * 3)]
    for o in outcomes:
        if o.verdict not in ("pass", "n/a"):
            out.append(row([o.key(), o.verdict, o.reason.replace("|", "\\|")]))
    out += ["\n## Inputs fixed while importing\n\n", row(["test", "`--value`"]), row(["---"] * 2)]
    for o in outcomes:
        if o.values and o.verdict == "pass":
            out.append(row([o.key(), ", ".join(o.values)]))
    return "".join(out)


EXPECTED_INTRO = """# Tests of ONNX that do not pass, and how: "verdict test". Everything else passes. judge.py --check compares a run with this list.
"""


def check(outcomes, path, update, whole):
    expected = {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            if line.strip() and not line.startswith("#"):
                verdict, key = line.split()
                expected[key] = verdict
    if update:
        listed = {k: v for k, v in expected.items() if not whole and k not in {o.key() for o in outcomes}}
        listed.update({o.key(): o.verdict for o in outcomes if o.verdict != "pass"})
        with open(path, "w", encoding="utf-8") as f:
            f.write(EXPECTED_INTRO + "".join("%s %s\n" % (listed[k], k) for k in sorted(listed)))
        return True
    fine = True
    for o in outcomes:
        wanted = expected.get(o.key(), "pass")
        if o.verdict == wanted:
            continue
        if o.verdict == "pass":
            print("%s passes now: take it off the list" % o.key())
            continue
        fine = False
        print("%s: expected %s, but %s%s" % (o.key(), wanted, o.verdict, ": " + o.reason if o.reason else ""))
    if not fine:
        print("if that is right: judge.py --build %s --check %s --update" % ("BUILD", os.path.basename(path)))
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", help="folders (node, simple, …), or patterns of test names; default: all")
    parser.add_argument("--build", required=True, help="the build tree with bin/importer and bin/runner")
    parser.add_argument("--data", default=DATA, help="the folder of the tests; default: %(default)s")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--table", metavar="FILE", help="write the page of results")
    parser.add_argument("--check", metavar="FILE", help="compare with the list of tests that are known not to pass")
    parser.add_argument("--update", action="store_true", help="write the list instead")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="the reason of each test that does not pass; twice: all tests")
    o = parser.parse_args()
    if not os.path.isdir(o.data):
        print("skipped: there is no %s (Debian package libonnx-testdata)" % o.data)
        return 77
    tests = selected(o.data, o.tests)
    if not tests:
        print("no test has such a name")
        return 2
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        outcomes = list(pool.map(lambda t: judge(o.build, *t), tests))
    print_summary(outcomes, o.verbose)
    fine = check(outcomes, o.check, o.update, not o.tests) if o.check else True
    if o.table:
        os.makedirs(os.path.dirname(o.table) or ".", exist_ok=True)
        with open(o.table, "w", encoding="utf-8") as f:
            f.write(table(outcomes))
    return 0 if fine and not any(x.verdict == "crash" for x in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
