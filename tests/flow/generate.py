#!/usr/bin/env python3
"""The models of share/examples/generate give the tokens of PyTorch's greedy loop, with caches of both kinds.

    generate.py --build BUILD_DIR

For a prompt that prefill takes whole, one of which decode takes the rest, and an image without prefill. Skipped (77) without PyTorch or ONNX.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "share/examples/generate"


def run(*command, expect=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != expect:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    if subprocess.run([sys.executable, "-c", "import torch, onnx"], capture_output=True).returncode != 0:
        print("skipped: no PyTorch, or no ONNX for Python")
        sys.exit(77)
    generate = [build / "share/buda-examples/generate", build]
    with tempfile.TemporaryDirectory() as folder:
        for cache, layout in (("static", "joined"), ("static", "heads"), ("concat", "joined"), ("concat", "heads")):
            for prompt_length in (8, 11):
                out = pathlib.Path(folder) / f"{cache}{layout}{prompt_length}"
                run(sys.executable, EXAMPLE / "export.py", out, "--cache", cache, "--layout", layout, "--prompt", prompt_length)
                for model in ("decode", "prefill"):
                    run(build / "bin/buda", "compile", out / f"{model}.onnx", "-o", out / f"{model}.tti", "--enable-link-past-cache-ios", "-q")
                run(build / "bin/tti-merge", "-mbl", out, "-mdl", "decode", "prefill", "-mml", out / "gpt.tti", "-q")
                prompt, expected = ((out / "tokens.txt").read_text().splitlines() + [""])[:2]
                assert len(expected.split()) == 64 and len(set(expected.split())) > 20, f"tokens that tell nothing: {expected}"
                for image in ("gpt", "decode"):
                    tokens = run(*generate, out / f"{image}.tti", 64, *prompt.split()).stdout.strip()
                    if tokens != expected:
                        sys.exit(f"{cache}, {layout}, prompt of {prompt_length}, {image}: expected\n{expected}\nand got\n{tokens}")
                    print(f"{cache}, {layout}, prompt of {prompt_length}, {image}: 64 tokens as PyTorch's")
        # Behind the last position there is no place.
        failed = run(*generate, out / "decode.tti", 96, *prompt.split(), expect=1)
        assert "position 96: " in failed.stderr, failed.stderr


if __name__ == "__main__":
    main()
