#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that another program makes shorter while a tool reads them: a message names the file, or all was read before; nothing is left.

    truncated.py --build BUILD_DIR [--times N]

The optimizer and the balancer map the parameters of a large product of matrices; they are stopped N times each at a random moment, in which the
file is cut.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROWS = 1024


def write_model(folder):
    header = json.dumps({"w": {"dtype": "F32", "shape": [ROWS, ROWS], "data_offsets": [0, 4 * ROWS * ROWS]}}).encode()
    values = random.Random(1).randbytes(2 * ROWS * ROWS)
    values = b"".join(b"\0" + values[i:i + 1] + values[i + 1:i + 2] + b"\x3f" for i in range(0, len(values), 2))
    (folder / "m.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values)
    nodes = [{"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, ROWS]}]},
             {"name": "w", "op": "parameter", "types": [{"dtype": "F32", "shape": [ROWS, ROWS]}], "value": "w"},
             {"name": "y", "op": "matmul", "inputs": ["x", "w"]},
             {"name": "out", "op": "output", "inputs": ["y"]}]
    (folder / "m.json").write_text(json.dumps({"schema": "buda.graph/1", "name": "m", "level": "tensor", "tensors": [{"name": "w", "dtype": "F32", "shape": [ROWS, ROWS], "file": "m.safetensors"}], "nodes": nodes}))


def run_cut(command, folder, environment, file, after, rng):
    """Exit code and what was said; the file is whole again afterwards."""
    whole = file.read_bytes()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    time.sleep(after)
    process.send_signal(signal.SIGSTOP)
    os.truncate(file, rng.choice([0, 4096, len(whole) // 2, len(whole) - 1]))
    process.send_signal(signal.SIGCONT)
    said = process.communicate(timeout=60)[1]
    file.unlink()
    file.write_bytes(whole)
    return process.returncode, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--times", type=int, default=40)
    options = parser.parse_args()
    rng, problems, told = random.Random(46), [], 0
    with tempfile.TemporaryDirectory(prefix="buda-truncated-") as work:
        folder = pathlib.Path(work)
        temporary = folder / "tmp"
        temporary.mkdir()
        environment = {**os.environ, "PATH": f"{options.build.resolve() / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
        write_model(folder)
        for command, file, product in ((["optimizer", "m.json", "-o", "d.json", "-q"], folder / "m.safetensors", "d"),
                                       (["balancer", "d.json", "-o", "n.yaml", "-q"], folder / "m.safetensors", "n")):
            begin = time.monotonic()
            subprocess.run(command, cwd=folder, env=environment, check=True)
            whole = time.monotonic() - begin
            before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
            for _ in range(options.times):
                for made in [name for name in before if name.split(".")[0] == product]:
                    (folder / made).unlink(missing_ok=True)
                code, said = run_cut(command, folder, environment, file, rng.uniform(0, whole), rng)
                what = f"{command[0]}: ends with {code}: {said.strip()[:300]}"
                told += code == 1
                left = [p.name for p in folder.iterdir() if p.name not in before and p.name != "tmp"] + [p.name for p in temporary.iterdir()]
                if code not in (0, 1) or (code == 1 and file.name not in said) or left:
                    problems.append(f"{what}; left: {left}")
            for name, content in before.items():
                (folder / name).write_bytes(content)
    print(f"{told} of {2 * options.times} runs met the cut file, the others had read it")
    if told == 0:
        problems.append("no run met the cut file")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
