#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run command-line tests: text files that hold commands, their input, and what they must print.

    run.py --build BUILD_DIR [--update] FILE_OR_FOLDER...

A test file is a list of sections; a section begins with a line "=== NAME [ARGUMENT]" and goes on to the next one.
    === file NAME     a file that the commands find in their folder (it stays for all later commands)
    === stdin         standard input of the next command
    === run           a command line for sh; the tools are on PATH; a test may have several, each followed by
    === exit N        its exit code (0 when the section is missing)
    === stdout        what it prints; a missing section means "nothing"
    === stderr        likewise
    === output NAME   the content of a file it wrote
Lines before the first section are a comment. In expectations $DIR stands for the folder in which the test runs, $TMPDIR for that of temporary files, $BUILD for the build folder; a
line {{REGEX}} matches by regular expression, and a line of three dots matches any number of lines. --update writes what the commands print
into the files, where it does not match yet.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 60


class Section:
    def __init__(self, name, argument=""):
        self.name, self.argument, self.lines = name, argument, []

    def text(self):
        return "".join(line + "\n" for line in self.lines)


def parse(path):
    head, sections = [], []
    for line in path.read_text().splitlines():
        match = re.match(r"=== (\w+)(?: (.*))?$", line)
        if match:
            sections.append(Section(match[1], match[2] or ""))
        elif sections:
            sections[-1].lines.append(line)
        else:
            head.append(line)
    return head, sections


def write(path, head, sections):
    out = list(head)
    for s in sections:
        out.append(f"=== {s.name} {s.argument}".rstrip())
        out += s.lines
    path.write_text("".join(line + "\n" for line in out))


def matches(expected, actual):
    """Whether lines match a list of expectations, where '...' stands for any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    regex = re.fullmatch(r"\{\{(.*)\}\}", expected[0])
    same = re.fullmatch(regex[1], actual[0]) if regex else expected[0] == actual[0]
    return bool(same) and matches(expected[1:], actual[1:])


def steps(sections):
    """Commands with the sections that belong to them: those before it that give input, those after it that expect."""
    before, current = [], None
    for s in sections:
        if s.name in ("file", "stdin"):
            if current:
                yield current
                current = None
            before.append(s)
        elif s.name == "run":
            if current:
                yield current
            current = (before, s, [])
            before = []
        elif s.name in ("exit", "stdout", "stderr", "output"):
            if not current:
                raise ValueError(f"'=== {s.name}' without a command before it")
            current[2].append(s)
        else:
            raise ValueError(f"unknown section '=== {s.name}'")
    if current:
        yield current


def environment_of(build, temporary):
    """Of a test's commands: the build's tools, and no setting of who runs the tests."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("BUDA_", "PYBUDA_"))}
    return own | {"TMPDIR": temporary, "PATH": f"{build}/bin:{own['PATH']}"}


def place_inputs(inputs, folder):
    """Writes the files of a step, and returns what its command reads from standard input."""
    stdin = b""
    for s in inputs:
        if s.name == "stdin":
            stdin = s.text().encode()
        else:
            target = pathlib.Path(folder, s.argument)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(s.text())
    return stdin


def run_test(path, build, update):
    head, sections = parse(path)
    problems = []
    # The driver keeps its files where a stage fails; they go with the test.
    with tempfile.TemporaryDirectory(prefix="buda-cli-") as folder, tempfile.TemporaryDirectory(prefix="buda-cli-tmp-") as temporary:
        def shown(text):
            return text.replace(folder, "$DIR").replace(temporary, "$TMPDIR").replace(str(build), "$BUILD")

        environment = environment_of(build, temporary)
        for inputs, command, expectations in list(steps(sections)):
            stdin = place_inputs(inputs, folder)
            line = "\n".join(command.lines)
            try:
                done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, input=stdin, capture_output=True, timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                problems.append(f"{path}: '{line}' did not end within {TIMEOUT_SECONDS} s")
                continue
            actual = {"exit": str(done.returncode), "stdout": shown(done.stdout.decode(errors="replace")),
                      "stderr": shown(done.stderr.decode(errors="replace"))}
            wanted = {s.name: s for s in expectations if s.name != "output"}
            for name in ("exit", "stdout", "stderr"):
                text = wanted[name].argument if name == "exit" and name in wanted else "0" if name == "exit" else None
                if name == "exit":
                    ok = text == actual["exit"]
                else:
                    ok = matches(wanted[name].lines if name in wanted else [], actual[name].splitlines())
                if ok:
                    continue
                problems.append(f"{path}: '{line}': {name} differs; it is:\n{actual[name].rstrip()}")
                if update:
                    if name not in wanted:
                        after = sections.index(expectations[-1] if expectations else command) + 1
                        wanted[name] = Section(name)
                        sections.insert(after, wanted[name])
                        expectations.append(wanted[name])
                    if name == "exit":
                        wanted[name].argument = actual[name]
                    else:
                        wanted[name].lines = actual[name].splitlines()
            for s in expectations:
                if s.name != "output":
                    continue
                target = pathlib.Path(folder, s.argument)
                text = shown(target.read_text(errors="replace")) if target.is_file() else None
                if text is None or not matches(s.lines, text.splitlines()):
                    problems.append(f"{path}: '{line}': {s.argument} differs; it is:\n{text}")
                    if update and text is not None:
                        s.lines = text.splitlines()
    if update and problems:
        write(path, head, sections)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("tests", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    files = sorted(f for t in args.tests for f in (t.rglob("*.test") if t.is_dir() else [t]))
    if not files:
        sys.exit("no test files")
    build = args.build.resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda f: run_test(f, build, args.update), files))
    failed = 0
    for problems in results:
        failed += bool(problems)
        for p in problems:
            print(p + "\n")
    print(f"{len(files) - failed} passed, {failed} failed")
    sys.exit(1 if failed and not args.update else 0)


if __name__ == "__main__":
    main()
