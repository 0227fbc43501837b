#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares OpenBuda with other implementations on real models of npm packages and real inputs, and writes docs/conformance/real.md.

    judge.py [--models REGEX] [--seconds S] [--raise-seconds S] [--check] --build DIR --page FILE

Needs node, the packages that package-lock.json names in DIR/real/node_modules (`make conformance-real` puts them there), scikit-image's pictures
and espeak-ng. models.json has a row for each model: "package" and "file", the "part" of a packed file, "inputs" by name (recipes.py),
"constant": inputs that determine shapes or branches and become --value, "options" of the importer. Results are kept in DIR/real/models/NAME until
the row, the model or the tools change. With --models only those models are run, whose names match, and the page is printed instead of written.
--seconds limits each call of a tool, and --raise-seconds those with --accuracy, which
compile and run the model up to 40 times. --check ends with 1 if the page differs from what would be written, times aside.
"""
import argparse
import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import sys

import numpy as np

import frozen
import measure
import packed
import page
import recipes
import reference
import toolchain

HERE = pathlib.Path(__file__).resolve().parent
JUDGED = ("exact", "bits")  # the modes in which a model should be right, whatever its formats


@dataclasses.dataclass
class Places:
    """The build whose tools are judged, the node_modules that hold models and references, and where results are kept."""
    build: pathlib.Path
    packages: pathlib.Path
    results: pathlib.Path


@dataclasses.dataclass
class Limits:
    """In seconds: of a call, and of one with --accuracy."""
    call: int
    raising: int


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def identity_of_tools(build):
    """Changes when a tool, a library or a plugin is built again."""
    files = sorted(p for pattern in ("bin/*", "lib/*.so*", "lib/buda/**/*.so") for p in build.glob(pattern) if p.is_file())
    return digest(*(f"{p} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files))


def identity_of_judge():
    """Changes when anything changes that the results depend on: not the page, nor the tests."""
    parts = [p for p in sorted(HERE.glob("*.py")) if p.name not in ("page.py", "small.py", "test.py")]
    return digest(*(p.read_text() for p in [*parts, HERE / "reference.js", HERE / "package-lock.json"]))


def place_model(packages, row, folder):
    """The model under its own name in the folder where the tools run, and the file that the reference reads."""
    file = packages / row["package"] / row["file"]
    if not file.is_file():
        raise SystemExit(f"{file} is missing: run `make conformance-real`")
    if file.suffix == ".json":
        model = folder / f"{row['name']}.pb"
        model.write_bytes(frozen.convert(file))
        return model, file
    model = folder / row.get("part", file.name)
    if "part" in row:
        model.write_bytes(packed.extract(file, row["part"]))
    else:
        shutil.copyfile(file, model)
    return model, model


def expect(packages, model, row, folder):
    """(inputs, expected outputs, what the reference says about the model); kept in the folder."""
    kept, key = folder / "expected.json", digest(json.dumps(row), identity_of_judge())
    if kept.exists() and json.loads(kept.read_text())["key"] == key:
        with np.load(folder / "given.npz") as given, np.load(folder / "expected.npz") as expected:
            told = json.loads(kept.read_text())
            return {n: given[n] for n in told["given"]}, {n: expected[n] for n in told["expected"]}, told["described"]
    described = reference.describe(packages, model)
    inputs = recipes.inputs_of(packages, model, row)
    expected = reference.run(packages, model, inputs)
    np.savez(folder / "given.npz", **inputs)
    np.savez(folder / "expected.npz", **expected)
    kept.write_text(json.dumps({"key": key, "given": list(inputs), "expected": list(expected), "described": described}))
    return inputs, expected, described


def refused(outcome, subject=""):
    code = re.search(r"\[([A-Z]{2}\d{3})\]", outcome.message)
    message = re.sub(r"\s*\[[A-Z]{2}\d{3}\]$", "", outcome.message)
    return {"refused": subject + message, "code": code.group(1) if code else "late" if outcome.message.startswith("not done") else "failed", "hint": outcome.hint}


def judged(outcome, expected):
    if outcome.message:
        return refused(outcome)
    pairs = measure.pair(outcome.outputs, expected)
    total = measure.worst([measure.compare(actual, wanted) for actual, wanted in pairs], [wanted.size for _, wanted in pairs])
    return {"correlation": total.correlation, "error": total.error, "right": total.right}


def options_of(row, described, inputs, folder):
    """Of the importer: sizes, constant inputs, and what the row says."""
    options = toolchain.dimensions(described, inputs)
    for name in row.get("constant", []):
        np.save(folder / f"{name}.npy", inputs[name])
        options += ["--value", f"{name}={name}.npy"]
    return options + row.get("options", [])


def raise_accuracy(tools, folder, seconds, model, options, run):
    """What --accuracy makes of the model: the result in the mode that is wrong, if one is; or why no formats are enough."""
    more = ["--accuracy", str(measure.LEAST_CORRELATION), "--calibrate", "inputs.npz", "--expect", "wanted.npz"]
    compiled = toolchain.compile_model(tools, folder, seconds, model.name, "raised.tti", "n150", options + more)
    if compiled.message:
        return refused(compiled)
    results = [run("raised.tti", "--set", f"target.golden.mode={mode}") for mode in JUDGED]
    return next((result for result in results if not result.get("right")), results[-1])


def run_ways(tools, folder, limits, model, options, inputs, expected):
    """By way: what came of it; and the time of compiling for n150. With --accuracy only what is wrong without it is compiled."""
    seconds = limits.call
    imported, names, outputs = toolchain.read_graph(tools, folder, seconds, model.name, options)
    if imported.message:
        return {way: refused(imported) for way, _ in page.COLUMNS}, None
    np.savez(folder / "inputs.npz", **toolchain.rename(inputs, names))
    np.savez(folder / "wanted.npz", **toolchain.rename(expected, outputs))
    run = lambda product, *more: judged(toolchain.run(tools, folder, seconds, product, outputs, *more), expected)
    ways = {"bfloat16": run("model.graph.json", "--formats", "bfloat16")}
    compiled = toolchain.compile_model(tools, folder, seconds, model.name, "n150.tti", "n150", options)
    for mode in toolchain.MODES:
        ways[mode] = refused(compiled) if compiled.message else run("n150.tti", "--set", f"target.golden.mode={mode}")
    if any(ways[mode].get("right") is False for mode in JUDGED):
        ways["accuracy"] = raise_accuracy(tools, folder, limits.raising, model, options, run)
    other = toolchain.compile_model(tools, folder, seconds, model.name, "e150.tti", "e150", options)
    ways["e150"] = refused(other) if other.message else run("e150.tti")
    return ways, None if compiled.message else compiled.seconds


def judge(places, row, limits):
    """The result of a row: {"ways", "compile"}; taken from its folder if nothing has changed."""
    folder = places.results / row["name"]
    folder.mkdir(parents=True, exist_ok=True)
    kept, key = folder / "result.json", digest(json.dumps(row), identity_of_judge(), identity_of_tools(places.build), str(limits))
    if kept.exists() and json.loads(kept.read_text())["key"] == key:
        return json.loads(kept.read_text())
    model, original = place_model(places.packages, row, folder)
    try:
        inputs, expected, described = expect(places.packages, original, row, folder)
    except reference.Refused as error:
        raise SystemExit(f"{row['name']}: the reference does not run it: {error}") from error
    ways, compile_seconds = run_ways(places.build / "bin", folder, limits, model, options_of(row, described, inputs, folder), inputs, expected)
    result = {"key": key, "ways": ways, "compile": compile_seconds}
    kept.write_text(json.dumps(result))
    for image in folder.glob("*.tti"):
        image.unlink()
    return result


def versions():
    packages = json.loads((HERE / "package.json").read_text())["dependencies"]
    return {"onnxruntime": packages["onnxruntime-node"], "tflite": packages["@tensorflow/tfjs-tflite"], "tfjs": packages["@tensorflow/tfjs-core"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="", metavar="REGEX")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--raise-seconds", type=int, default=3600)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rows = [row for row in json.loads((HERE / "models.json").read_text()) if re.search(args.models, row["name"])]
    if not rows:
        raise SystemExit(f"no model's name matches '{args.models}'")
    build = args.build.resolve()
    places = Places(build, build / "real" / "node_modules", build / "real" / "models")
    results = {}
    for row in rows:
        results[row["name"]] = judge(places, row, Limits(args.seconds, args.raise_seconds))
        print(page.table([row], results)[-1], flush=True)
    written = page.write(rows, results, versions())
    if args.models:
        return
    if args.check:
        sys.exit(args.page.read_text() != written and page.without_times(args.page.read_text()) != page.without_times(written))
    args.page.write_text(written)


if __name__ == "__main__":
    main()
