#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damage models of every format, as files that were changed by accident or on purpose, and import them.

    models.py --build BUILD_DIR [--count N] [--seed N] [--frontend NAME]... [--models FOLDER] [--no-limit]

Of each frontend N files are made from its samples, from ONNX's test data where it is installed, and from the models below FOLDER; a file
MODEL.options beside one of these has further options of the importer. Each import must end within ten seconds and four gigabytes of addresses, with
a graph or with an error. --no-limit leaves these limits out, for builds with sanitizers.
"""
import argparse
import collections
import concurrent.futures
import io
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import slices  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ENDINGS = {"onnx": [".onnx"], "tflite": [".tflite"], "torchscript": [".pt", ".pth"], "tensorflow": [".pb", ".pbtxt"], "stablehlo": [".mlir", ".mlirbc"]}
LARGEST_SEED = 2_000_000
SECONDS, ADDRESSES = 10, 4 << 30
# What sizes, counts and offsets are often mistaken for.
NUMBERS = [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0", b"\0\0\1\0"]


def seeds_of(frontend, folder):
    found = sorted((SOURCE / "plugins/frontends" / frontend / "samples").glob("*"))
    if frontend == "onnx":
        found = [SOURCE / "share/examples/digits/digits.onnx", *sorted(pathlib.Path("/usr/share/libonnx-testdata/data").glob("pytorch-*/*/model.onnx"))]
    if folder:
        found += sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in ENDINGS[frontend])
    return [p for p in found if p.suffix in ENDINGS[frontend] and p.stat().st_size <= LARGEST_SEED]


def place(data, rng):
    """Formats have their structure near the ends of a file, and weights in between."""
    near = min(len(data), 4096)
    return rng.choice([rng.randrange(len(data)), rng.randrange(near), len(data) - 1 - rng.randrange(near)])


def changed(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 1, 2, 4])):
        if not data:
            break
        at, other = place(data, rng), place(data, rng)
        kind = rng.choice(["bit", "bit", "number", "number", "byte", "remove", "repeat", "cut", "move"])
        if kind == "bit":
            data[at] ^= 1 << rng.randrange(8)
        elif kind == "number":
            data[at:at + 4] = rng.choice(NUMBERS)
        elif kind == "byte":
            data[at] = rng.randrange(256)
        elif kind == "remove":
            del data[at:at + rng.randrange(1, 40)]
        elif kind == "repeat":
            data[at:at] = data[other:other + rng.randrange(1, 40)]
        elif kind == "move":
            size = rng.randrange(1, 64)
            data[at:at + size] = data[other:other + size]
        elif rng.random() < 0.3:
            del data[at:]
    return bytes(data)


def changed_archive(data, rng):
    """A member is changed, and the checksums are right; they would hide everything behind them otherwise."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        names = source.namelist()
        chosen = rng.choice([n for n in names if n.endswith((".py", ".pkl"))] or names)
        for name in names:
            content = source.read(name)
            target.writestr(name, changed(content, rng) if name == chosen else content)
    return out.getvalue()


def damaged(data, rng):
    return changed_archive(data, rng) if zipfile.is_zipfile(io.BytesIO(data)) and rng.random() < 0.8 else changed(data, rng)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def problem_of(importer, model, frontend, options, limited):
    command = [importer, model, "--frontend", frontend, *options, "-o", model.parent / "m.graph.json", "-q"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS if limited else 30 * SECONDS,
                              preexec_fn=limit if limited else None)
    except subprocess.TimeoutExpired:
        return "timeout", f"did not end within {SECONDS} s"
    said = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2):
        return done.returncode, f"exit code {done.returncode}: {said[-1000:]}"
    if done.returncode != 0 and "error" not in said:
        return done.returncode, f"exit code {done.returncode} without a reason"
    if "Sanitizer" in said or "runtime error:" in said:
        return done.returncode, f"a sanitizer speaks: {said[-4000:]}"
    return done.returncode, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--frontend", action="append", choices=sorted(ENDINGS))
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--no-limit", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for files that show a problem")
    options = parser.parse_args()
    importer = options.build.resolve() / "bin/importer"
    problems = 0
    with tempfile.TemporaryDirectory(prefix="buda-models-") as root, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for frontend in options.frontend or sorted(ENDINGS):
            seeds = seeds_of(frontend, options.models)

            def trial(i, frontend=frontend, seeds=seeds):
                rng = random.Random(f"{frontend} {options.seed} {i}")
                seed = rng.choice(seeds)
                folder = pathlib.Path(root) / f"{frontend}-{i}"
                folder.mkdir()
                model = folder / ("m" + seed.suffix)
                model.write_bytes(damaged(seed.read_bytes(), rng))
                beside = seed.with_name(seed.name + ".options")
                code, problem = problem_of(importer, model, frontend, beside.read_text().split() if beside.exists() else [], not options.no_limit)
                if problem and options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{folder.name}{seed.suffix}").write_bytes(model.read_bytes())
                for file in folder.iterdir():
                    file.unlink()
                return code, problem and f"{frontend} --seed {options.seed}, number {i}, from {seed.name}: {problem}"

            codes = collections.Counter()
            for code, problem in pool.map(trial, slices.of_turn(range(options.count))):
                codes[code] += 1
                if problem:
                    problems += 1
                    print(problem, flush=True)
            counts = ", ".join(f"{n} with exit code {code}" for code, n in sorted(codes.items(), key=str))
            print(f"{frontend}: {len(seeds)} models, {codes.total()} changes: {counts}", flush=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
