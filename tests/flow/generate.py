#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The models of share/examples/generate give the tokens of PyTorch's greedy loop, with caches of both kinds.

    generate.py --build BUILD_DIR

For a prompt that prefill takes whole, one of which decode takes the rest, and an image without prefill. Late tokens take no longer than
early ones. Skipped (77) without PyTorch or ONNX.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

# Cache, layout, and further options of the compiler.
MODELS = [("static", "joined", []), ("static", "heads", []), ("concat", "joined", []), ("concat", "heads", []), ("concat", "heads", ["--cpu-fallback-ops", "embedding,concatenate"])]
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "share/examples/generate"


def run(*command, expect=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != expect:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def cpu_seconds(command):
    """Of the processor, which other work on the machine hardly changes; the least of three runs."""
    least = float("inf")
    for _ in range(3):
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}")
        least = min(least, used.ru_utime + used.ru_stime)
    return least


def check_pace(generate, image, prompt):
    """What a token takes does not grow with the number of those before it: if it did, it would each time that it is measured."""
    for _ in range(3):
        few, more, most = (cpu_seconds([*generate, image, count, *prompt.split()]) for count in (24, 56, 88))
        early, late = ((after - before) / 32 * 1000 for before, after in ((few, more), (more, most)))
        print(f"    {early:.2f} ms for each of the tokens 25 to 56, {late:.2f} ms for 57 to 88")
        if late <= 1.5 * early + 1:
            return
    sys.exit("later tokens take longer")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    if subprocess.run([sys.executable, "-c", "import torch, onnx"], capture_output=True).returncode != 0:
        print("skipped: no PyTorch, or no ONNX for Python")
        sys.exit(77)
    generate = [build / "share/buda-examples/generate", build]
    with tempfile.TemporaryDirectory() as folder:
        for cache, layout, options in MODELS:
            for prompt_length in (8, 11):
                name = ", ".join([cache, layout, *options, f"prompt of {prompt_length}"])
                out = pathlib.Path(folder) / name
                run(sys.executable, EXAMPLE / "export.py", out, "--cache", cache, "--layout", layout, "--prompt", prompt_length)
                for model in ("decode", "prefill"):
                    run(build / "bin/buda", "compile", out / f"{model}.onnx", "-o", out / f"{model}.tti", "--enable-link-past-cache-ios", "-q", *options)
                run(build / "bin/tti-merge", "-mbl", out, "-mdl", "decode", "prefill", "-mml", out / "gpt.tti", "-q")
                prompt, expected = ((out / "tokens.txt").read_text().splitlines() + [""])[:2]
                assert len(expected.split()) == 64 and len(set(expected.split())) > 20, f"tokens that tell nothing: {expected}"
                for image in ("gpt", "decode"):
                    tokens = run(*generate, out / f"{image}.tti", 64, *prompt.split()).stdout.strip()
                    if tokens != expected:
                        sys.exit(f"{name}, {image}: expected\n{expected}\nand got\n{tokens}")
                    print(f"{name}, {image}: 64 tokens as PyTorch's")
                if prompt_length == 8:
                    check_pace(generate, out / "gpt.tti", prompt)
        # Behind the last position there is no place.
        failed = run(*generate, out / "decode.tti", 96, *prompt.split(), expect=1)
        assert "position 96: " in failed.stderr, failed.stderr


if __name__ == "__main__":
    main()
