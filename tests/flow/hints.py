#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hints are options to paste: with them the diagnostic is gone.

    hints.py BUILD_DIR SOURCE_DIR [-v]

Every command of tests/cli that is one call of a compiling tool and gives a hint is repeated with the options of the hint, in place of those that they
replace; so is a compilation of each model that the unit tests of the frontends have refused. Which codes have hints of options in the sources, but no
such command, is listed.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import slices  # noqa: E402

TOOLS = ("buda", "importer", "optimizer", "balancer")
CODE = re.compile(r"(?:error|warning|note): .*\[([A-Z]{2}\d{3})\]$")
# Options that show the way instead of taking it, and texts with places to fill in.
OPEN = re.compile(r"=N\b|=FILE|MODEL|\bIMAGE\b|NAME=|\bDIR\b|…|the command was|first run: |made by --cache|without --expect|--(help|list-|save-temps|plugin-path|frontend)|--value (if|would)")


def options_of(hint):
    """The options of a hint, as words of a command line; empty where it has none."""
    start = re.search(r"(?<![\w'])--[a-zA-Z]", hint)
    if not start or OPEN.search(hint):
        return []
    rest = re.sub(r": .*? fits? then.*$|:? it fits then.*$|: \d+ of these.*$", "", hint[start.start():])
    try:
        words = shlex.split(rest)
    except ValueError:
        return []
    out = []
    for word in words:
        takes_value = out and out[-1].startswith("-") and "=" not in out[-1]
        if not word.startswith("-") and not takes_value:
            break
        out.append(word.rstrip(";,"))
    return out


def key(option, value):
    return (option, value.split("=")[0]) if option in ("--set", "--dim", "--value-range", "--input-shape") else (option.split("=")[0], "")


def pairs(words):
    """Options with their values; other words stand alone."""
    out, i = [], 0
    while i < len(words):
        has_value = words[i].startswith("-") and "=" not in words[i] and i + 1 < len(words) and not words[i + 1].startswith("-")
        out.append((words[i], words[i + 1]) if has_value else (words[i], None))
        i += 2 if has_value else 1
    return out


def pasted(command, options):
    replaced = {key(o, v or "") for o, v in pairs(options)}
    kept = [(o, v) for o, v in pairs(command) if not (o.startswith("-") and key(o, v or "") in replaced)]
    return [w for o, v in kept for w in (o, v) if w is not None] + options


def said(text):
    """Diagnostics as (code, message, hint)."""
    out = []
    for line in text.splitlines():
        if match := CODE.search(line):
            out.append((match[1], line, None))
        elif line.startswith("hint: ") and out:
            out[-1] = (*out[-1][:2], line[6:])
    return out


class Trial:
    def __init__(self, build, verbose):
        self.build, self.verbose, self.tried, self.failed = build, verbose, {}, []

    def of_file(self, cli, path):
        _, sections = cli.parse(path)
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
            environment = cli.environment_of(self.build, temporary)

            def run(words, stdin):
                return subprocess.run(words, cwd=folder, env=environment, input=stdin, capture_output=True, timeout=60)

            for inputs, command, _ in list(cli.steps(sections)):
                stdin = cli.place_inputs(inputs, folder)
                for line in self.lines_of(run, "\n".join(command.lines), stdin):
                    self.of_line(run, path, line, stdin)

    def of_model(self, call):
        """A model of the unit tests, with the options that they gave."""
        with tempfile.TemporaryDirectory() as temporary:
            environment = os.environ | {"TMPDIR": temporary, "PATH": f"{self.build}/bin:{os.environ['PATH']}"}

            def run(words, stdin):
                return subprocess.run(words, cwd=call.folder, env=environment, input=stdin, capture_output=True, timeout=60)

            self.of_call(run, call.name, ["importer", *call.arguments, "-o", f"{temporary}/m.graph.json"], call.stdin)

    def lines_of(self, run, text, stdin):
        """Single calls of a compiling tool; everything is run as it is, for the files that it makes."""
        lines = [part.strip() for part in re.split(r"[;\n]|&&", text)]
        run(["sh", "-c", text], stdin)
        return [line for line in lines if line.split(" ")[0] in TOOLS]

    def of_line(self, run, path, line, stdin):
        line = re.sub(r"\s(2>&1|2> ?\S+|> ?\S+)(?=\s|$)|\s\|.*$", "", line)
        try:
            words = shlex.split(line)
        except ValueError:
            return
        # A FIFO of the shell's commands has no writer here.
        if "$" in line or "`" in line or "pipe" in line or words[:2] == ["buda", "run"]:
            return
        self.of_call(run, path, words, stdin)

    def of_call(self, run, path, words, stdin):
        done = run(words, stdin)
        for code, message, hint in said(done.stderr.decode(errors="replace")):
            options = options_of(hint or "")
            # What is the optimizer's option is the driver's, too, but not the balancer's.
            others = re.search(r"run the (optimizer|importer|balancer) with", hint or "")
            if not options or (others and words[0] not in ("buda", others[1])):
                continue
            again = run(pasted(words, options), stdin).stderr.decode(errors="replace")
            gone = all((c, m) != (code, message) for c, m, _ in said(again)) and "[CL0" not in again
            self.tried.setdefault(code, 0)
            self.tried[code] += 1
            if self.verbose:
                print(f"{code} {'gone' if gone else 'STAYS'}: {shlex.join(pasted(words, options))}")
            if not gone:
                self.failed.append(f"{path}: {shlex.join(words)}: {code} stays with {shlex.join(options)}:\n{again}")


def codes_with_hints(source):
    """Codes in whose neighbourhood a hint with an option is made."""
    out = set()
    for folder in ("core/buda/balance", "core/buda/passes", "core/buda/compiler", "apps/importer", "apps/optimizer", "apps/balancer", "plugins/frontends"):
        for path in sorted((source / folder).rglob("*.cpp")):
            lines = path.read_text().splitlines()
            for i, line in enumerate(lines):
                if re.search(r"hint = .*\"[^\"]*--", line):
                    near = re.findall(r'"([A-Z]{2}\d{3})"', "\n".join(lines[max(0, i - 6): i + 1]))
                    out.update(near[-1:])
    return out


def main():
    build, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    # Both have a run.py, and that of tests/cli is meant.
    sys.path[:0] = [str(source / "tests/cli"), str(source / "tests/robustness")]
    import failing_compiles
    import run as cli
    trial = Trial(build, "-v" in sys.argv[3:])
    files = [path for tool in TOOLS for path in sorted((source / "tests/cli" / tool).glob("*.test"))]
    for path in slices.of_turn(path for path in files if path.name not in ("cache.test", "help.test", "dry-run.test")):
        trial.of_file(cli, path)
    with tempfile.TemporaryDirectory() as folder:
        for call in slices.of_turn(failing_compiles.refused_models(build, pathlib.Path(folder), 5)):
            trial.of_model(call)
    print("tried: " + ", ".join(f"{code} ({count})" for code, count in sorted(trial.tried.items())))
    print("hints of options without a failing command: " + ", ".join(sorted(codes_with_hints(source) - set(trial.tried))))
    if trial.failed:
        sys.exit("\n".join(trial.failed))
    if len(trial.tried) * slices.COUNT < 5:
        sys.exit("hardly a hint was found: the test looks at the wrong thing")


if __name__ == "__main__":
    main()
