#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the words of messages, pages and commits: the field's, in plain sentences (CONTRIBUTING.md).

    words.py SOURCE_DIR            prints what is wrong, and exits with 1 if anything is

words.txt lists the lines that may stay, as "path: part of the line". Every entry must still be needed, and there may not be more than now.
"""
import pathlib
import re
import subprocess
import sys

ALLOWED_AT_MOST = 15
# Commits after this one have subjects of the form.
SUBJECTS_SINCE = "f4f4986e"
SUBJECT = re.compile(r"[a-z0-9_.-]+(, [a-z0-9_.-]+)*( and [a-z0-9_.-]+)?: [a-z]")
LONGEST_SUBJECT = 72
WORDS = {
    r"\bis no [a-z]+ of\b": "'is not a … of'",
    r"\btakes no\b": "'does not support'",
    r"\bgo(es)? together\b": "'are compatible'",
    r"\bby turns\b": "'in turn'",
    r"\bbeside\b": "'next to', 'in addition to' or 'in parallel'",
    r"\bbehind\b": "'after'",
}
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
SOURCES = {".cpp", ".hpp", ".def", ".py"}
PRODUCT = ("core", "plugins", "apps", "share")


def texts_of(path, line):
    """What a person may read of a line: all of a page, the literals of a source."""
    return [line] if path.suffix == ".md" else LITERAL.findall(line)


def findings(root, files):
    for path in files:
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            for text in texts_of(path, line):
                for word, better in WORDS.items():
                    if re.search(word, text, re.I):
                        yield path, number, line, f"{path}:{number}: {re.search(word, text, re.I)[0]!r}; the field says {better}"


def tracked(root):
    out = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    names = out.stdout.splitlines() if out.returncode == 0 else [str(p.relative_to(root)) for top in (*PRODUCT, "docs") for p in (root / top).rglob("*")]
    for path in sorted(pathlib.Path(name) for name in names):
        is_source = path.suffix in SOURCES and path.parts[0] in PRODUCT
        if (is_source or path.suffix == ".md") and (root / path).is_file():
            yield path


def subjects(root):
    """Subjects that are not of the form; none where the history is not here."""
    log = subprocess.run(["git", "-C", root, "log", "--no-merges", "--format=%s", f"{SUBJECTS_SINCE}..HEAD"], capture_output=True, text=True)
    for subject in log.stdout.splitlines() if log.returncode == 0 else []:
        if not SUBJECT.match(subject) or len(subject) > LONGEST_SUBJECT:
            yield f"commit {subject!r}: a subject is 'module: imperative', at most {LONGEST_SUBJECT} characters"


def main():
    root = pathlib.Path(sys.argv[1])
    allowed = [line.partition(": ")[::2] for line in (root / "tests/laws/words.txt").read_text().splitlines() if line and line[0] != "#"]
    problems, needed = list(subjects(root)), set()
    for path, _, line, text in findings(root, tracked(root)):
        entry = next((e for e in allowed if e[0] == str(path) and e[1] in line), None)
        if entry:
            needed.add(entry)
        else:
            problems.append(text)
    problems += [f"tests/laws/words.txt: '{path}: {part}' is not needed any more" for path, part in allowed if (path, part) not in needed]
    if len(allowed) > ALLOWED_AT_MOST:
        problems.append(f"tests/laws/words.txt: {len(allowed)} lines; there may be {ALLOWED_AT_MOST}")
    print("\n".join(problems))
    print(f"{len(allowed)} lines are allowed, {len(problems)} findings")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
