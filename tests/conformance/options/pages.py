#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of each tool names every option that --help shows; those that all tools have are in a table of docs/tools/buda.md.

    pages.py BUILD_DIR SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys

COMMON_PAGE = "docs/tools/buda.md"


def help_of(build, *command):
    return subprocess.run([build / "bin" / command[0], *command[1:], "--help"], check=True, capture_output=True, text=True).stdout


def spellings(lines):
    """Of each option that a help text describes: ("-o", "--output")."""
    for line in lines:
        if match := re.match(r"  (-[^ ].*?)(?:  |$)", line):
            yield re.findall(r"(?<![\w-])--?[\w#][\w#-]*", match[1])


def own_and_common(text):
    """The lines before and after the heading of the common options."""
    own, _, common = text.partition("\nCommon options:\n")
    return own.splitlines(), common.splitlines()


def commands(text):
    """Those that a help text lists; none where the tool is one command."""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  (\w+)", listed[1], re.M) if listed else []


def names(page, option):
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", page) is not None


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    common_page = (source / COMMON_PAGE).read_text()
    problems, found = [], 0
    for page in sorted((source / "docs/tools").glob("*.md")):
        tool, text = page.stem, page.read_text()
        own, common = own_and_common(help_of(build, tool))
        for command in commands("\n".join(own)):
            # All options of `buda run` are the runner's.
            if (tool, command) != ("buda", "run"):
                own += own_and_common(help_of(build, tool, command))[0]
        for where, expected, options, tools in ((page.relative_to(source), text, own, tool), (COMMON_PAGE, common_page, common, "every tool")):
            for option in spellings(options):
                found += 1
                if not any(names(expected, spelling) for spelling in option):
                    problems.append(f"{where}: {option[-1]}, which --help of {tools} shows, is missing")
    if found < 200:
        problems.append(f"only {found} options were found in the help texts")
    print("\n".join(sorted(set(problems))) or f"{found} options of help texts are on the pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
