#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compile that fails leaves nothing: no product, and no temporary file.

    failing_compiles.py BUILD_DIR SOURCE_DIR [--of-each N] [--single] [-v]

Two sources of failing compiles: models that the unit tests of the frontends have refused (BUDA_KEEP_REFUSED), and the failing calls of compiling tools in
tests/cli, with their files. Each is a call of `buda compile` here, with TMPDIR on an empty folder and an output that does not exist. Printed are the codes
met, and those of the stages of a compilation that none of the calls gave, with the reason where compile never gives them (ELSEWHERE). The codes of
compile_codes.txt have to be met.
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
CODE = re.compile(r"(?:error|warning|note): .*\[([A-Z]{2}\d{3})\]$|\"code\": ?\"([A-Z]{2}\d{3})\"", re.M)
# Codes that no call of `buda compile` gives as long as this is no bug of ours; a code, or the letters of many. Tests that give them stand in the second place.
ELSEWHERE = {
    "BA": ("products of the balancer alone", "tests/cli/balancer"),
    "BB": ("blobs that others have written", "tests/unit/overlay, tests/cli/pipegen"),
    "BD002 CL010 IO007": ("names of its product, which this script chooses", "tests/cli/buda/bad-config.test"),
    "BD004 BD005 BD007 BD008": ("commands other than compile", "tests/cli/buda"),
    "BL012 BL013": ("places that a policy asks for and that do not fit: the default one looks first", "tests/unit/balance/policy_test.cpp"),
    "BL000 BL004 BL010 BL030 BL045 BL046 BL054": ("graphs, netlists and plans that the balancer alone is given, and policies of others", "tests/cli/balancer, tests/unit/balance"),
    "BL001 BL002 BL003 BL005 BL006 BL007 BL008 BL009 BL018 BL019 BL024 BL025": ("graphs of device level that the optimizer would have refused or mended",
                                                                               "tests/unit/balance"),
    "CL007": ("products on standard output", "tests/cli/contract"),
    "CL011": ("two inputs that are standard input", "tests/cli/contract/bad-files.test"),
    "CL008": ("stages of another installation", "tests/unit/cli"),
    "CO001": ("programs that embed the compiler and cancel it", "tests/unit/compiler"),
    "GC": ("graph cut and graph diff", "tests/cli/graph"),
    "GR002 GR010 GR013": ("graphs of device level, or made by a program", "tests/unit/graph"),
    "HP": ("host plans that others have written", "tests/unit/runtime"),
    "IO004 IO009": ("lack of memory, threads or files", "tests/robustness/scarce.py"),
    "IO005 IO006": ("programs that cannot be started, and interrupts", "tests/unit/io, tests/robustness/kill.py"),
    "IO008 IO013 IO040": ("folders of reports and shared memory", "tests/robustness"),
    "IP004 IP006": ("the importer's own options", "tests/cli/importer"),
    "KC": ("kernels, which kernelc and the target tensix compile", "tests/cli/kernelc"),
    "LV": ("netlist check --liveness", "tests/unit/liveness"),
    "MD": ("modules of programs that embed the compiler", "tests/unit/ops"),
    "OP007 OP008 OP060 OP061": ("evaluation of graphs", "tests/unit/ops"),
    "OV001 OV002 OV010 OV012": ("pipes that others have written", "tests/unit/overlay"),
    "OV003 OV011 OV013 OV015 OV016 OV017 OV018": ("streams and memories that the balancer keeps free", "tests/unit/overlay, tests/cli/pipegen"),
    "IP002": ("frontends of others that are as certain", "tests/unit/frontends"),
    "GF002 ON002": ("models of more than millions of nodes", "tests/cli/contract/bad-memory.test"),
    "BL056 BL057": ("steps of training, which buda train compiles", "tests/unit/balance, tests/flow"),
    "SM003": ("simulations of plans, which take another plan then", "tests/cli/runner"),
    "ON041 PA035 TF042": ("models that compile, with this warning", "tests/unit/frontends, tests/cli/buda/bad-passes.test"),
    "TN001 TN003": ("tensors of programs: of files the reader tells it first", "tests/unit/tensor"),
    "PA003": ("the optimizer alone: compile always knows the device", "tests/cli/optimizer"),
    "PA010 PA011 PA012 PA013 PA014 PA040": ("faulty decompositions and passes", "tests/unit/passes"),
    "PL011": ("plugins that work for very long", "tests/robustness/plugins"),
    "ON003 SH002 TF005 TS006 GF005 OP006 TN002": ("models that do not fit in the machine's memory", "tests/unit/frontends/little_memory_test.cpp, tests/robustness/scarce.py"),
    "TN011 TN012 TN013 TN014": ("tiles of a device", "tests/unit/tensor"),
    "TN022": ("files of tensors that are written", "tests/unit/tensor"),
    "TN04": ("comparisons of results, by the runner", "tests/cli/runner"),
}
# Options of a tool that belong to files which `buda compile` names itself.
OWN_OUTPUTS = ("-o", "--output", "--report", "--json", "--svg", "--netlist", "--graph", "--listing", "--constraints-out")
# What the user asks for stays.
KEEPS = "--save-temps"
SECONDS = 120
# Codes that the calls of --of-each 1 --single give; each has to be met.
EXPECTED = "tests/robustness/compile_codes.txt"


class Call:
    """A failing call: arguments of `buda compile`, the folder it is made in, and what it is known by."""

    def __init__(self, name, folder, arguments, stdin=b"", code=""):
        self.name, self.folder, self.arguments, self.stdin, self.code = name, folder, arguments, stdin, code


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
        for option, values in (("--dim", options["dims"]), ("--input-shape", options["shapes"]), ("--value", options["values"]),
                               ("--set", options["settings"])):
            arguments += [word for value in values for word in (option, value)]
        if options["frontend"]:
            arguments += ["--frontend", options["frontend"]]
        yield Call(f"{options['code']} of unit_frontends", about.parent, arguments, code=options["code"])


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
        elif word != KEEPS and word.split("=")[0] not in OWN_OUTPUTS:
            out.append(word)
    return out


def steps_of(cli, path):
    return list(cli.steps(cli.parse(path)[1]))


def chosen_steps(cli, paths, seen):
    """Of the steps that are one call which is to fail, those whose expected messages have a code that is not in `seen` and no earlier one has; by path."""
    chosen = collections.defaultdict(set)
    for path in paths:
        for number, (_, command, expected) in enumerate(steps_of(cli, path)):
            codes = {code for s in expected if s.name == "stderr" for pair in CODE.findall(s.text()) for code in pair if code}
            if fails_alone(command, expected) and codes - seen:
                seen = seen | codes
                chosen[path].add(number)
    return chosen


def failing_calls(cli, path, build, folder, chosen):
    """Goes through a test of the command line step by step, and keeps the folder as it was before each call of a compiling tool, or after the lines
    around it. With `chosen` numbers of steps only these are kept, and other calls that are to fail are not made."""
    steps = steps_of(cli, path)
    if chosen is not None:
        steps = steps[:max(chosen, default=-1) + 1]
    here, found = folder / "here", []
    here.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        environment = cli.environment_of(build, temporary)
        for number, (inputs, command, expected) in enumerate(steps):
            stdin = cli.place_inputs(inputs, here)
            text = "\n".join(command.lines)
            calls, alone = calls_in(text), single_call(text) is not None
            of_step = [Call(f"{path.parent.name}/{path.name}", folder / str(number), arguments, stdin) for arguments in calls]
            if alone and calls and (chosen is None or number in chosen):
                keep(here, folder / str(number))
                found += of_step
            if chosen is not None and fails_alone(command, expected):
                continue
            try:
                subprocess.run(["sh", "-c", text], cwd=here, env=environment, input=stdin, capture_output=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                continue
            if chosen is None and calls and not alone:
                keep(here, folder / str(number))
                found += of_step
    return found


def fails_alone(command, expected):
    """Whether a step is one call that is to fail."""
    fails = any(s.name == "exit" and s.argument != "0" for s in expected)
    return fails and single_call("\n".join(command.lines)) is not None


def keep(here, there):
    shutil.copytree(here, there, symlinks=True, ignore=lambda d, names: [n for n in names if pathlib.Path(d, n).is_fifo()])


def calls_in(text):
    """Arguments of `buda compile` for each call of a compiling tool among the commands of a step."""
    words = [single_call(part.strip()) for part in re.split(r"[;\n]|&&", text)]
    return [arguments for w in words if w and (arguments := compile_arguments(w)) is not None]


def single_call(line):
    """The words of a line that is one call of a compiling tool."""
    line = re.sub(r"\s(2>&1|2> ?\S+|> ?\S+)(?=\s|$)|\s\|.*$", "", line)
    if re.search(r"[$`|;&<>()]", line) or "\n" in line:
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    return words if words and words[0] in TOOLS and not any(w.startswith(("--help", "--list")) for w in words) else None


def outcome(build, call):
    """(whether it fails, codes, what was left behind) of a call."""
    with tempfile.TemporaryDirectory() as top:
        temporary, product = pathlib.Path(top, "tmp"), pathlib.Path(top, "product/m.tti")
        temporary.mkdir()
        product.parent.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("BUDA_", "PYBUDA_"))} | {"TMPDIR": str(temporary)}
        command = [build / "bin/buda", "compile", *call.arguments, "-o", product]
        try:
            done = subprocess.run(command, cwd=call.folder, env=environment, input=call.stdin, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True, [], [f"it did not end within {SECONDS} s"]
        said = done.stderr.decode(errors="replace")
        codes = [code for pair in CODE.findall(said) for code in pair if code]
        if done.returncode == 0:
            return False, codes, []
        left = [str(p.relative_to(top)) for p in pathlib.Path(top).rglob("*") if p not in (temporary, product.parent)]
        if done.returncode not in (1, 2, 3, 4):
            left.append(f"exit code {done.returncode}: {said[-300:]}")
        return True, codes, left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("source", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--of-each", type=int, default=5, help="so many of the refused models of each code")
    parser.add_argument("--single", action="store_true", help="of the tests of the command line only steps that are one call, and one for each code that they expect")
    parser.add_argument("-v", action="store_true", help="say what each call gave")
    args = parser.parse_args()
    for folder in ("tests/cli", "share/packages"):
        sys.path.insert(0, str(args.source / folder))
    import diagnostics
    import run as cli
    possible = {e["code"] for e in diagnostics.index_of(args.source) if e["module"].split("/")[0] in STAGES}
    with tempfile.TemporaryDirectory(prefix="buda-failing-") as top:
        calls = list(refused_models(args.build, pathlib.Path(top, "models"), args.of_each))
        paths = [path for tool in TOOLS for path in sorted((args.source / "tests/cli" / tool).glob("*.test"))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            chosen = chosen_steps(cli, paths, {call.code for call in calls}) if args.single else None
            for found in pool.map(lambda p: failing_calls(cli, p, args.build, pathlib.Path(top, p.parent.name, p.name), chosen and chosen[p]), paths):
                calls += found
            outcomes = list(pool.map(lambda call: outcome(args.build, call), calls))
    met, warned, failed = set(), set(), []
    for call, (fails, codes, left) in zip(calls, outcomes):
        if args.v:
            print(call.name, shlex.join(map(str, call.arguments)), fails, codes, left)
        (met if fails else warned).update(codes)
        failed += [f"{call.name}: {shlex.join(map(str, call.arguments))}: {what}" for what in left]
    print(f"{len(calls)} calls, {sum(fails for fails, _, _ in outcomes)} fail, with {len(met)} codes: " + ", ".join(sorted(met)))
    print("warnings and notes of those that compile: " + ", ".join(sorted(warned - met)))
    for prefixes, (reason, where) in ELSEWHERE.items():
        if codes := sorted(c for c in possible - met - warned if c.startswith(tuple(prefixes.split()))):
            possible -= set(codes)
            print(f"not by compile, but by {reason} ({where}): " + ", ".join(codes))
    unknown = sorted(possible - met - warned)
    print("of these stages, in no call: " + ", ".join(unknown))
    if not args.single:
        failed += [f"{code}: no call gave it, and no line of this script says why" for code in unknown]
    expected = set((args.source / EXPECTED).read_text().split())
    failed += [f"{code} is in {EXPECTED}, and no call gave it" for code in sorted(expected - met)]
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
