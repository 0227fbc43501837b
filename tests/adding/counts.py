#!/usr/bin/env python3
"""Hold docs/internals/adding.md to what it promises: the files of each example are few, exist, and are those of the patch that shows them.

    counts.py SOURCE_DIR
"""
import pathlib
import re
import sys

# Section: files, places, the patch that does it to a copy of the tree. A place is a module of core, a plugin, or a folder of tests or data.
PROMISED = {
    "A device op of an existing class": (5, 4, "tests/adding/rsqrt.patch"),
    "A graph op that lowers to existing ones": (4, 4, "tests/adding/tanhshrink.patch"),
    "A board": (1, 1, None),
    "A report over a netlist": (6, 3, None),
}


def sections(page):
    parts = re.split(r"^## (.*)\n", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def main():
    root, problems = pathlib.Path(sys.argv[1]), []
    text = sections((root / "docs/internals/adding.md").read_text())
    for title, (most_files, most_places, patch) in PROMISED.items():
        files = re.findall(r"^\| `([\w./-]+\.\w+)` \|", text.get(title, ""), re.M)
        places = {pathlib.PurePath(f).parent.parts[:3] for f in files}
        if not files:
            problems.append(f"'{title}' names no files")
        if len(files) > most_files or len(places) > most_places:
            problems.append(f"'{title}' takes {len(files)} files in {len(places)} places; promised are {most_files} in {most_places}")
        problems += [f"'{title}' names {f}, which does not exist" for f in files if not (root / f).exists()]
        if patch:
            patched = re.findall(r"^\+\+\+ b/(\S+)", (root / patch).read_text(), re.M)
            if sorted(patched) != sorted(files):
                problems.append(f"'{title}' names {sorted(files)}; {patch} touches {sorted(patched)}")
    print("\n".join(problems) or f"{len(PROMISED)} examples as promised")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
