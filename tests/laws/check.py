#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the laws of the house (docs/internals/architecture.md): layers, where things may be named, sizes.

    check.py SOURCE_DIR

Prints file:line: what is wrong, and exits with 1 if anything is. A file past a size limit is fine when a comment in it says why: "long because".
"""
import pathlib
import re
import sys

# A module includes only itself and modules that stand before it.
MODULES = "base diag screen io schema cache serve perf tensor graph ops autograd frontend device passes host_plan netlist isa numerics sfpu arith tiling cost pipes overlay sim movers balance kernels image runtime functional timed chip telemetry liveness plugin compiler cli".split()
# So do the rooms of a module that has an order. What stands next to them, in the module's own folder, is as high as what it includes: the
# public headers of a module that has been divided keep their names.
ROOMS = {
    "balance": "resources cost place problem models policy legalize sums chips queues bounds emit plan".split(),
    "graph": "values tags parts check file drawing".split(),
    "tensor": "bytes formats files check".split(),
    "sim": "time tiles network cores record machine report epoch".split(),
    "kernels": "lines tables text programs compile run".split(),
    "runtime": "programs inputs reference device model session backend shared".split(),
}
THIRD_PARTY = re.compile(r"#include\s+[<\"](nlohmann|yaml-cpp|boost|spdlog|fmt|google/protobuf|onnx|dnnl|oneapi|archive|openssl|zlib|isa-l)")
# Below tool_main nobody ends the program, reads the environment, prints or calls a shell.
FORBIDDEN = re.compile(r"(?<![\w.>:])(?:std::)?(getenv|secure_getenv|exit|abort|system|popen|printf|puts)\s*\(|std::(cout|cerr|clog)\b")
# A program that holds libbuda's objects and loads a plugin has libbuda twice, with one of each exported symbol: a global that is made at
# the start of both would be destroyed twice.
SHARED_GLOBAL = re.compile(r"^(?:extern const|inline const|extern) std::(?!(?:string_view|array)\b)")
# A code has one meaning, so one module gives it; these have the same meaning in two.
GIVEN_BY_TWO_MODULES = set("CL003 CL005 GR006 GR020 IO002 IO005 IP003 PA071 RT024 SC001 TP002".split())
LIMIT_NAME = re.compile(r"\bk(Most|Least|Few)[A-Z]\w*")
# What moving data and kernels take are parameters of the device (share/devices), which one place reads (core/buda/cost).
COST_CONSTANT = re.compile(r"constexpr .*\b(k\w*(?:Cycles|Rate|Bandwidth|Latency|PerCycle|Share)\w*)\s*(?:\[\])?\s*[={]")
WITHOUT_COST_CONSTANTS = {"balance", "cost", "sim", "timed"}
# What differs by class of op is a column of its table, or one function of a stage.
FILES_THAT_NAME_CLASSES = 25
LICENSE = "// SPDX-License-Identifier: Apache-2.0"  # not counted among the lines of a file
LIMITS = {".cpp": 600, ".hpp": 250, ".h": 250}


def without_comments(text):
    """Blanks comments and string literals, keeping line numbers."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: m.group() if m.group().startswith('"') and "include" in m.group() else re.sub(r"[^\n]", " ", m.group()), text)


def module_of(path):
    parts = path.parts
    return parts[2] if parts[:2] == ("core", "buda") and len(parts) > 3 else None


def room_of(file):
    """The folder of a file within its module; "." is the module's own."""
    return str(pathlib.PurePosixPath(*pathlib.PurePosixPath(file).parts[2:]).parent)


class Rooms:
    """The order of the rooms of the modules under a folder, as the includes of their files need it."""

    def __init__(self, root):
        self.included = {}
        for module in ROOMS:
            for path in sorted((root / "core/buda" / module).rglob("*")):
                if path.suffix in LIMITS:
                    name = str(path.relative_to(root / "core"))
                    within = re.findall(rf"^\s*#include\s+[<\"](buda/{module}/[^>\"]+)[>\"]", path.read_text(), re.M)
                    self.included.setdefault(self.unit(name), set()).update(self.unit(n) for n in within)

    @staticmethod
    def unit(name):
        """A header and its source are one."""
        return name.rpartition(".")[0]

    def rank(self, file):
        """Where a file stands: its room's place in the order; in the module's own folder, that of the highest room that it includes, also by way
        of others there; -1 if none."""
        highest, todo, seen = -1, [self.unit(file)], set()
        while todo:
            unit = todo.pop()
            room, module = room_of(unit), unit.split("/")[1]
            if room != ".":
                highest = max(highest, ROOMS[module].index(room)) if room in ROOMS[module] else len(ROOMS[module])
            elif unit not in seen:
                seen.add(unit)
                todo += self.included.get(unit, ())
        return highest


def check_rooms(path, line_number, included, module, rooms, problems):
    if module not in ROOMS or not included.startswith(f"buda/{module}/"):
        return
    own = str(path.relative_to("core"))
    for folder in (room_of(own), room_of(included)):
        if folder != "." and folder not in ROOMS[module]:
            problems.append(f"{path}:{line_number}: the folder {folder} of {module} has no place in the order of its rooms")
            return
    if room_of(own) != "." and rooms.rank(included) > rooms.rank(own):
        above = ROOMS[module][rooms.rank(included)]
        problems.append(f"{path}:{line_number}: the room {room_of(own)} of {module} includes {included}, which needs the higher room {above}")


def check_includes(path, line_number, line, rooms, problems):
    match = re.match(r'\s*#include\s+[<"]([^>"]+)[>"]', line)
    if not match:
        return
    included = match[1]
    own = module_of(path)
    target = re.match(r"buda/(\w+)/", included)
    if own and target and target[1] in MODULES and MODULES.index(target[1]) > MODULES.index(own):
        problems.append(f"{path}:{line_number}: module {own} includes {included}, of the higher module {target[1]}")
    if own:
        check_rooms(path, line_number, included, own, rooms, problems)
    if own and (included.startswith("apps/") or included.startswith("plugins/")):
        problems.append(f"{path}:{line_number}: core includes {included}")
    if path.parts[0] == "apps" and included.startswith("apps/") and included.split("/")[1] != path.parts[1]:
        problems.append(f"{path}:{line_number}: one app includes a header of another: {included}")
    if path.parts[0] == "plugins" and included.startswith(("apps/", "plugins/")) and not included.startswith("/".join(path.parts[:3])):
        problems.append(f"{path}:{line_number}: a plugin includes {included}")
    # A frontend's own headers may show the format it reads; nobody else sees them.
    if path.suffix != ".cpp" and path.parts[0] != "plugins" and THIRD_PARTY.match(line.strip()):
        problems.append(f"{path}:{line_number}: a header includes a third-party header: {included}")


def giver_of(path):
    return "/".join(path.parts[:3] if path.parts[0] in ("core", "plugins") else path.parts[:2])


def check_codes(root, files, problems):
    givers = {}
    for path in files:
        for code in re.findall(r'(?:error|warning|mismatch|fit)\(\s*"([A-Z]{2}\d{3})"', (root / path).read_text()):
            givers.setdefault(code, {}).setdefault(giver_of(path), path)
    for code, where in sorted(givers.items()):
        if len(where) > 1 and code not in GIVEN_BY_TWO_MODULES:
            problems.append(f"{code} is given by {', '.join(str(p) for p in where.values())}: a code has one meaning")


def check_file(root, path, rooms, problems):
    text = (root / path).read_text()
    license_line, *lines = text.splitlines() or [""]
    if license_line != LICENSE:
        problems.append(f"{path}:1: a source begins with `{LICENSE}`")
    if not re.match(r"(//|/\*) ?\S", lines[0] if lines else ""):
        problems.append(f"{path}:2: a file opens with one sentence that says what it is for")
    limit = LIMITS[path.suffix]
    if len(lines) > limit and "long because" not in text:
        problems.append(f"{path}:{len(lines)}: {len(lines)} lines; the limit is {limit} without a comment 'long because …'")
    if path.name == "main.cpp" and path.parts[0] == "apps" and len(lines) > 30:
        problems.append(f"{path}:{len(lines)}: a main.cpp has at most 30 lines")
    for number, line in enumerate(lines, 2):
        check_includes(path, number, line, rooms, problems)
        if len(line) > 160:
            problems.append(f"{path}:{number}: a line of {len(line)} columns")
    if path.suffix in (".hpp", ".h") and "#pragma once" not in text and "#ifndef" not in text:
        problems.append(f"{path}:1: a header without an include guard")
    if module_of(path) == "cli":
        return
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        if path.suffix == ".hpp" and SHARED_GLOBAL.match(line):
            problems.append(f"{path}:{number}: a global with a constructor in a header; make it a function")
        if module_of(path) in WITHOUT_COST_CONSTANTS and (match := COST_CONSTANT.search(line)):
            problems.append(f"{path}:{number}: {match[1]} is a parameter of the device: share/devices and cost::TransferModel have those")
        if match := LIMIT_NAME.search(line):
            problems.append(f"{path}:{number}: {match[0]}: limits are called kMax… and kMin…")
        if match := FORBIDDEN.search(line):
            problems.append(f"{path}:{number}: {match.group().strip()} below tool_main")


def main():
    root = pathlib.Path(sys.argv[1])
    files = [p.relative_to(root) for d in ("core", "apps", "plugins") for p in (root / d).rglob("*") if p.suffix in LIMITS]
    problems = []
    rooms = Rooms(root)
    for path in sorted(files):
        check_file(root, path, rooms, problems)
    check_codes(root, sorted(files), problems)
    naming = [str(p) for p in sorted(files) if "OpClass::" in (root / p).read_text()]
    if len(naming) > FILES_THAT_NAME_CLASSES:
        problems.append(f"{len(naming)} files name classes of ops, and {FILES_THAT_NAME_CLASSES} may: ask ops/table/op_traits.hpp: " + ", ".join(naming))
    allowed = {"CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "Makefile", "README.md", "apps", "build", "core", "docs", "plugins",
               "schemas", "share", "tests", "CMakeUserPresets.json"}
    for entry in sorted(root.iterdir()):
        if not entry.name.startswith(".") and entry.name not in allowed:
            problems.append(f"{entry.name}: nothing else belongs at the top")
    print("\n".join(problems))
    print(f"{len(files)} files, {len(problems)} findings")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
