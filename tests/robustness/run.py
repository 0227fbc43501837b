#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feed every tool what it must refuse: damaged products, foreign files, places that cannot be read or written, and Ctrl-C.

    run.py --build BUILD_DIR --model MODEL.onnx --inputs X.npz [--cuts N] [--changes N] [--tool NAME]...

Every run must end within its time with an exit code of the contract, never by a signal or as our bug (70); a failing run must say why, leave no product and no
temporary file; and no sanitizer may speak. A damaged file may still be valid: then the run has to succeed with a product.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import slices  # noqa: E402

TIMEOUT_SECONDS = 60
FINE = {0, 1, 2, 3, 4}


class Tool:
    # `place`: where the damaged input goes, for a tool that is given a folder.
    def __init__(self, name, source, suffix, command, product=True, product_name="product", place=None):
        self.name, self.source, self.suffix, self.command, self.product, self.product_name = name, source, suffix, command, product, product_name
        self.place = place


def tools(work, inputs):
    """Every tool with a good input and a command line; IN and OUT stand for the damaged input and the product."""
    m = work / "m.pipes/temporal_epoch_0/overlay"
    plan, weights = work / "m.plan.json", work / "m.device.graph.safetensors"
    beside = [work / "m.onnx", work / "copied.graph.safetensors"] + ([weights] if weights.exists() else [])
    return [
        Tool("importer", work / "m.onnx", ".onnx", ["importer", "IN", "-o", "OUT"]),
        Tool("importer (graph)", work / "m.graph.json", ".graph.json", ["importer", "IN", "-o", "OUT"]),
        Tool("optimizer", work / "m.graph.json", ".graph.json", ["optimizer", "IN", "-o", "OUT"]),
        Tool("optimizer (weights)", work / "copied.graph.safetensors", "copied.graph.safetensors", ["optimizer", work / "copied.graph.json", "-o", "OUT"]),
        Tool("optimizer (model)", work / "m.onnx", "m.onnx", ["optimizer", work / "m.graph.json", "-o", "OUT"]),
        Tool("balancer", work / "m.device.graph.json", ".device.graph.json", ["balancer", "IN", "-o", "OUT"]),
        Tool("netlist check", work / "m.yaml", ".yaml", ["netlist", "check", "IN"], product=False),
        Tool("netlist print", work / "m.yaml", ".yaml", ["netlist", "print", "IN", "-o", "OUT"]),
        Tool("netlist plan", work / "m.yaml", ".yaml", ["netlist", "plan", "IN", "-o", "OUT"]),
        Tool("netlist2pipe", work / "m.yaml", ".yaml", ["netlist2pipe", "IN", "-o", "OUT"]),
        Tool("pipegen", m / "pipes.json", ".json", ["pipegen", "IN", "-o", "OUT"]),
        Tool("pipegen (yaml)", work / "epoch.yaml", ".yaml", ["pipegen", "IN", "-o", "OUT"]),
        Tool("tti-pack", work / "m.yaml", ".yaml", ["tti-pack", "--netlist", "IN", "--plan", plan, "--build", work / "m.pipes", "-o", "OUT"]),
        Tool("tti-pack (plan)", plan, ".plan.json", ["tti-pack", "--netlist", work / "m.yaml", "--plan", "IN", "--build", work / "m.pipes", "-o", "OUT"]),
        Tool("tti-pack info", work / "m.tti", ".tti", ["tti-pack", "info", "IN"], product=False),
        Tool("tti-pack extract", work / "m.tti", ".tti", ["tti-pack", "extract", "IN", "-o", "OUT"]),
        Tool("tti-merge", work / "m.tti", ".tti", ["tti-merge", "-mbl", ".", "-mdl", "in", "-mml", "OUT"]),
        Tool("runner", work / "m.tti", ".tti", ["runner", "IN", "--inputs", inputs, "-o", "OUT"], product_name="product.npz"),
        Tool("runner (netlist)", work / "m.yaml", ".yaml", ["runner", "IN", "--inputs", inputs, "-o", "OUT"], product_name="product.npz"),
        Tool("runner (cpu)", work / "m.graph.json", ".graph.json", ["runner", "IN", "--target", "cpu", "--inputs", inputs, "-o", "OUT"], product_name="product.npz"),
        Tool("runner (inputs)", inputs, ".npz", ["runner", work / "m.tti", "--inputs", "IN", "-o", "OUT"], product_name="product.npz"),
        Tool("runner (streams)", m / "blob.json", "blob.json", ["runner", work / "m.tti", "--inputs", inputs, "--target", "grid", "--streams", "st", "-o", "OUT"],
             product_name="product.npz", place="st/temporal_epoch_0/overlay/blob.json"),
        Tool("perf-analyzer", work / "times/summary.json", ".json", ["perf-analyzer", "--load", "IN"], product=False),
        Tool("profiler device", work / "times/profile_log_device.csv", ".csv", ["profiler", "device", "-i", "IN", "--no-webapp"], product=False),
        Tool("tt-smi", work / "telemetry.json", ".json", ["tt-smi", "-s", "-f", "OUT", "IN"]),
        Tool("buda compile", work / "m.onnx", ".onnx", ["buda", "compile", "IN", "-o", "OUT"]),
    ], beside


class Trial:
    """One call of a tool in a folder of its own, and what is wrong with how it went."""

    def __init__(self, tool, what, environment):
        self.tool, self.what, self.environment = tool, what, environment

    def problem(self, folder, text):
        command = " ".join(str(c) for c in self.tool.command)
        return f"{self.tool.name}: {self.what}: {text}\n    {command} (in {folder})"

    def run(self, folder, beside, content=None, path=None, out=None, wrap=(), must_fail=False, cwd=None):
        source = path
        if path is None:
            source = folder / (self.tool.place or ("in" + self.tool.suffix if self.tool.suffix.startswith(".") else self.tool.suffix))
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_bytes(content)
        for b in beside:
            if not (folder / b.name).exists():
                shutil.copy(b, folder)
        weights = not self.tool.suffix.startswith(".") and not self.tool.place
        if weights:  # the graph stays whole, and lies beside the damaged file
            shutil.copy(self.tool.command[1], folder)
        product = out or folder / self.tool.product_name
        before = {p for p in folder.rglob("*")}
        stand_in = {"IN": str(source), "OUT": str(product)}
        command = [stand_in.get(str(c), str(c)) for c in self.tool.command]
        if weights:
            command[1] = str(folder / pathlib.Path(command[1]).name)
        try:
            done = subprocess.run([*wrap, *command], cwd=cwd or folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return self.problem(folder, f"did not end within {TIMEOUT_SECONDS} s")
        said = done.stderr.decode(errors="replace")
        if done.returncode not in FINE:
            return self.problem(folder, f"exit code {done.returncode}: {said[-2000:]}")
        if "Sanitizer" in said or "runtime error:" in said:
            return self.problem(folder, f"a sanitizer speaks: {said[-4000:]}")
        if must_fail and done.returncode == 0:
            return self.problem(folder, "succeeded")
        if done.returncode != 0 and "error" not in said:
            return self.problem(folder, f"exit code {done.returncode} without a reason: {said[-500:]}")
        after = {p for p in folder.rglob("*")} - before
        if any(".tmp-" in p.name for p in after):
            return self.problem(folder, f"a temporary file is left: {sorted(p.name for p in after)}")
        if done.returncode not in (0, 4) and self.tool.product and product.exists() and product.is_file():
            return self.problem(folder, f"exit code {done.returncode}, but there is a product")
        if done.returncode == 0 and self.tool.product and not product.exists() and out is None:
            return self.problem(folder, "succeeded without a product")
        return None


def damaged(data, cuts, changes, rng):
    for i in range(cuts):
        yield f"cut at {i * len(data) // cuts} of {len(data)}", data[: i * len(data) // cuts]
    for _ in range(changes):
        at = rng.randrange(len(data))
        value = (data[at] + rng.randrange(1, 256)) % 256
        yield f"byte {at} of {len(data)} made {value}", data[:at] + bytes([value]) + data[at + 1 :]


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", folder], capture_output=True)
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return done.returncode == 0


def foreign_files(tool, environment, beside, root):
    """What is no input at all, and places that cannot be read or written."""
    rng = random.Random(1)
    folder = pathlib.Path(tempfile.mkdtemp(dir=root))
    for what, content in (("an empty file", b""), ("a megabyte of random bytes", rng.randbytes(1 << 20)), ("a line of text", b"hello\n")):
        yield Trial(tool, what, environment).run(folder, beside, content=content, must_fail=True)
    if tool.suffix.startswith("."):
        yield Trial(tool, "a directory", environment).run(folder, beside, path=folder, must_fail=True)
        yield Trial(tool, "a missing file", environment).run(folder, beside, path=folder / "missing", must_fail=True)
        secret = folder / ("secret" + tool.suffix)
        secret.write_bytes(tool.source.read_bytes())
        secret.chmod(0)
        # Root stays root, so that it finds the tools wherever they are, but may no longer read what is not to be read.
        wrap = () if os.getuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        yield Trial(tool, "an unreadable file", environment).run(folder, beside, path=secret, wrap=wrap, must_fail=True)
    if tool.product:
        good = tool.source.read_bytes()
        yield Trial(tool, "no folder for the product", environment).run(folder, beside, content=good, out=pathlib.Path("/dev/null") / tool.product_name, must_fail=True)
        if can_mount():
            disk = folder / "disk"
            disk.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=8", "none", str(disk)], check=True)
            try:
                (disk / "filler").write_bytes(b"x" * 4096)
                yield Trial(tool, "a full disk", environment).run(folder, beside, content=good, out=disk / tool.product_name, must_fail=True)
                left = [p.name for p in disk.iterdir() if p.is_file() and p.name != "filler"]
                if left:
                    yield f"{tool.name}: a full disk: files are left: {left}"
            finally:
                subprocess.run(["umount", str(disk)], check=True)


def ctrl_c(tool, environment, beside, root):
    """The input is a pipe that never gives anything; the tool is interrupted while it waits."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=root))
    for b in beside:
        shutil.copy(b, folder)
    if not tool.suffix.startswith("."):
        return None
    fifo = folder / ("in" + tool.suffix)
    os.mkfifo(fifo)
    temporary = folder / "tmp"
    temporary.mkdir()
    stand_in = {"IN": str(fifo), "OUT": str(folder / tool.product_name)}
    process = subprocess.Popen([stand_in.get(str(c), str(c)) for c in tool.command], cwd=folder, env={**environment, "TMPDIR": str(temporary)},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job in the background ignores it
    writer = os.open(fifo, os.O_RDWR)  # keeps the pipe open without an end
    try:
        time.sleep(0.5)
        if process.poll() is not None:
            return f"{tool.name}: Ctrl-C: ended by itself with {process.returncode}: {process.stderr.read().decode(errors='replace')}"
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"{tool.name}: Ctrl-C: goes on"
        if process.returncode != 130 or b"interrupted" not in said:
            return f"{tool.name}: Ctrl-C: exit code {process.returncode}: {said.decode(errors='replace')}"
        left = [p.name for p in folder.iterdir() if p.name.startswith("product") or ".tmp-" in p.name] + list(temporary.iterdir())
        return f"{tool.name}: Ctrl-C: files are left: {left}" if left else None
    finally:
        os.close(writer)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--inputs", required=True, type=pathlib.Path)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--tool", action="append")
    args = parser.parse_args()
    environment = {**os.environ, "PATH": f"{args.build.resolve()}/bin:{os.environ['PATH']}", "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0"}
    problems, runs = [], 0
    with tempfile.TemporaryDirectory(prefix="buda-robust-") as root:
        root = pathlib.Path(root)
        work = root / "work"
        work.mkdir()
        # Where the driver keeps its files when a stage fails.
        environment["TMPDIR"] = str(root / "tmp")
        (root / "tmp").mkdir()
        shutil.copy(args.model, work / "m.onnx")
        inputs = work / "inputs.npz"
        shutil.copy(args.inputs, inputs)
        subprocess.run(["buda", "compile", "m.onnx", "-o", "m.tti", "--build-dir", ".", "-q"], cwd=work, env=environment, check=True)
        subprocess.run(["runner", "m.tti", "--inputs", inputs, "--target", "grid", "--perf", "times", "--telemetry", "telemetry.json", "-o", "unused.npz", "-q"], cwd=work, env=environment, check=True)
        subprocess.run(["importer", "m.onnx", "--copy-tensors", "-o", "copied.graph.json"], cwd=work, env=environment, check=True)
        subprocess.run(["netlist2pipe", "m.yaml", "--device", "n150", "--epoch", "0", "-o", "-", "-q"], cwd=work, env=environment, check=True, stdout=(work / "epoch.yaml").open("wb"))
        subjects, beside = tools(work, inputs)
        subjects = [t for t in subjects if not args.tool or t.name in args.tool]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for tool in subjects:
                def trial(case, tool=tool):
                    folder = pathlib.Path(tempfile.mkdtemp(dir=root))
                    problem = Trial(tool, case[0], environment).run(folder, beside, content=case[1])
                    if not problem:
                        shutil.rmtree(folder)
                    return problem

                rng = random.Random(tool.name)
                few = tool.name == "buda compile"  # its stages are tried one by one
                cases = damaged(tool.source.read_bytes(), 5 if few else args.cuts, 5 if few else args.changes, rng)
                results = list(pool.map(trial, slices.of_turn(cases))) + list(foreign_files(tool, environment, beside, root)) + [ctrl_c(tool, environment, beside, root)]
                runs += len(results)
                found = [r for r in results if r]
                problems += found
                print(f"{tool.name}: {len(results)} runs, {len(found)} problems", flush=True)
    for p in problems[:40]:
        print(p)
    print(f"{runs - len(problems)} passed, {len(problems)} failed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
