#!/usr/bin/env python3
"""A compile that fails leaves nothing: no product, and no temporary file.

    failing_compiles.py BUILD_DIR SOURCE_DIR [--of-each N] [-v]

Two sources of failing compiles: models that the unit tests of the frontends have refused (BUDA_KEEP_REFUSED), and the failing calls of compiling tools in
tests/cli, with their files. Each is a call of `buda compile` here, with TMPDIR on an empty folder and an output that does not exist. Printed are the codes
met, and those of the stages of a compilation that none of the calls gave.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("buda", "importer", "optimizer", "balancer")
# Modules whose messages `buda compile` may print.
STAGES = ("buda", "cli", "cache", "schema", "io", "plugin", "device", "importer", "frontends", "graph", "tensor", "ops", "passes",
          "optimizer", "compiler", "balance", "balancer", "policies", "host_plan", "overlay", "kernels", "liveness")
CODE = re.compile(r"(?:error|warning): .*\[([A-Z]{2}\d{3})\]$|\"code\": ?\"([A-Z]{2}\d{3})\"", re.M)
# Options of a tool that belong to files which `buda compile` names itself.
OWN_OUTPUTS = ("-o", "--output", "--report", "--json", "--svg", "--netlist", "--graph", "--cache", "--listing", "--constraints-out")
SECONDS = 120


class Call:
    """A failing call: arguments of `buda compile`, the folder it is made in, and what it is known by."""

    def __init__(self, name, folder, arguments, stdin=b""):
        self.name, self.folder, self.arguments, self.stdin = name, folder, arguments, stdin


def refused_models(build, folder, of_each):
    environment = os.environ | {"BUDA_KEEP_REFUSED": str(folder)}
    subprocess.run([build / "tests/unit_frontends", "--gtest_brief=1"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    met = collections.Counter()
    for about in sorted(folder.glob("*/options.json"), key=lambda p: int(p.parent.name)):
        options = json.loads(about.read_text())
        met[options["code"]] += 1
        if met[options["code"]] > of_each:
            continue
        arguments = [options["model"]]
        for option, values in (("--dim", options["dims"]), ("--input-shape", options["shapes"])):
            arguments += [word for value in values for word in (option, value)]
        if options["frontend"]:
            arguments += ["--frontend", options["frontend"]]
        yield Call(f"{options['code']} of unit_frontends", about.parent, arguments)


def compile_arguments(words):
    """Of a call of one of the tools, the arguments of `buda compile`; None where it does something else."""
    if words[0] == "buda":
        if words[1:2] != ["compile"]:
            return None
        words = words[1:]
    out, skip = [], False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in OWN_OUTPUTS:
            skip = True
        elif word.split("=")[0] not in OWN_OUTPUTS:
            out.append(word)
    return out


def failing_calls(cli, path, build, folder):
    """Runs a test of the command line step by step, and keeps the folder as it was before each failing call."""
    _, sections = cli.parse(path)
    here = folder / "here"
    here.mkdir()
    with tempfile.TemporaryDirectory() as temporary:
        environment = cli.environment_of(build, temporary)
        for number, (inputs, command, _) in enumerate(cli.steps(sections)):
            stdin = cli.place_inputs(inputs, here)
            line = "\n".join(command.lines)
            words = single_call(line)
            arguments = compile_arguments(words) if words else None
            before = folder / str(number)
            if arguments is not None:
                shutil.copytree(here, before, symlinks=True, ignore=lambda d, names: [n for n in names if pathlib.Path(d, n).is_fifo()])
            try:
                done = subprocess.run(["sh", "-c", line], cwd=here, env=environment, input=stdin, capture_output=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                continue
            if arguments is not None and done.returncode != 0:
                yield Call(f"{path.parent.name}/{path.name}", before, arguments, stdin)


def single_call(line):
    """The words of a line that is one call of a compiling tool."""
    line = re.sub(r"\s(2>&1|2> ?\S+|> ?\S+)(?=\s|$)", "", line)
    if re.search(r"[$`|;&<>()]", line) or "\n" in line:
        return None
    words = shlex.split(line)
    return words if words and words[0] in TOOLS and not any(w.startswith(("--help", "--list")) for w in words) else None


def outcome(build, call):
    """(codes, what was left behind) of a call; None where it compiles."""
    with tempfile.TemporaryDirectory() as top:
        temporary, product = pathlib.Path(top, "tmp"), pathlib.Path(top, "product/m.tti")
        temporary.mkdir()
        product.parent.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("BUDA_", "PYBUDA_"))} | {"TMPDIR": str(temporary)}
        command = [build / "bin/buda", "compile", *call.arguments, "-o", product]
        try:
            done = subprocess.run(command, cwd=call.folder, env=environment, input=call.stdin, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return [], [f"it did not end within {SECONDS} s"]
        if done.returncode == 0:
            return None
        said = done.stderr.decode(errors="replace")
        left = [str(p.relative_to(top)) for p in pathlib.Path(top).rglob("*") if p not in (temporary, product.parent)]
        if done.returncode < 0 or done.returncode > 3:
            left.append(f"exit code {done.returncode}: {said[-300:]}")
        return [code for pair in CODE.findall(said) for code in pair if code], left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("source", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--of-each", type=int, default=5, help="so many of the refused models of each code")
    parser.add_argument("-v", action="store_true", help="say what each call gave")
    args = parser.parse_args()
    for folder in ("tests/cli", "share/packages"):
        sys.path.insert(0, str(args.source / folder))
    import diagnostics
    import run as cli
    possible = {e["code"] for e in diagnostics.index_of(args.source) if e["module"].split("/")[0] in STAGES}
    with tempfile.TemporaryDirectory(prefix="buda-failing-") as top:
        calls = list(refused_models(args.build, pathlib.Path(top, "models"), args.of_each))
        for tool in TOOLS:
            for path in sorted((args.source / "tests/cli" / tool).glob("*.test")):
                folder = pathlib.Path(top, tool, path.name)
                folder.mkdir(parents=True)
                calls += failing_calls(cli, path, args.build, folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = list(pool.map(lambda call: outcome(args.build, call), calls))
    met, failed = collections.Counter(), []
    for call, found in zip(calls, outcomes):
        if args.v:
            print(call.name, shlex.join(map(str, call.arguments)), found)
        if found:
            met.update(set(found[0]))
            failed += [f"{call.name}: {shlex.join(map(str, call.arguments))}: {what}" for what in found[1]]
    print(f"{len(calls)} calls, {sum(o is not None for o in outcomes)} fail, with {len(met)} codes: " + ", ".join(sorted(met)))
    print("of these stages, in no call: " + ", ".join(sorted(possible - set(met))))
    if failed:
        sys.exit("\n".join(failed))
    if len(met) < 40:
        sys.exit("hardly a code was met: the test looks at the wrong thing")


if __name__ == "__main__":
    main()
