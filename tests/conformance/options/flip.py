#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every option acts, or says why not: sets each one on a model that shows it (witnesses.py), and compares what optimizer and balancer make.

    flip.py BUILD_DIR SOURCE_DIR

The options are those that the two tools list, and those of docs/options.md by every name that the page gives them; an option without a
witness fails, and so does a witness without an option. An option of the optimizer is tried at every optimisation level. What counts are
the device graph without its tags, netlist, host plan and tensors, and the exit codes; where none of them differs, a message has to say why.
"""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import slices  # noqa: E402
from table import family_keys_of, options_of, rows, spellings  # noqa: E402
from witnesses import MODELS, NOT_ABOUT_THE_MODEL, WITNESSES  # noqa: E402

STAGES = ("optimizer", "balancer")
LEVELS = ("0", "1", "2")
DEFAULT_LEVEL = "1"


@dataclasses.dataclass
class Outcome:
    exits: tuple
    products: dict
    messages: str

    def differs_from(self, other):
        return (self.exits, self.products) != (other.exits, other.products)


class Compiler:
    """Runs optimizer and balancer on a model, each call once."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.results, self.lock, self.count = {}, threading.Lock(), 0
        for model in MODELS:
            (folder / f"{model['name']}.graph.json").write_text(json.dumps(model))

    def run(self, model, level, arguments, environment=()):
        """`arguments` by stage."""
        key = (model, level, *(tuple(arguments.get(stage, ())) for stage in STAGES), tuple(environment))
        with self.lock:
            known = self.results.get(key)
            if known is None:
                self.count += 1
                folder = self.folder / str(self.count)
        if known is None:
            known = self.compile(folder, model, level, arguments, dict(environment))
            with self.lock:
                self.results[key] = known
        return known

    def compile(self, folder, model, level, arguments, environment):
        folder.mkdir()
        # What both have to know.
        device = [word for stage in STAGES for word in after(arguments.get(stage, []), "--device")]
        optimizer = [*([f"-O{level}"] if level else []), *arguments.get("optimizer", [])]
        done = self.call(folder, environment, "optimizer", f"../{model}.graph.json", "-o", "device.json", *optimizer)
        if done.returncode != 0:
            return Outcome((done.returncode,), {}, done.stderr)
        graph = json.loads((folder / "device.json").read_text())
        balancer = arguments.get("balancer", [])
        balanced = self.call(folder, environment, "balancer", "device.json", "-o", "net.yaml", *balancer, *([] if "--device" in balancer else device))
        # The report tells what was asked for, and so do tags of the graph, which the balancer reads: they act if the netlist differs.
        products = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.name not in ("device.json", "net.report.json")}
        products["nodes"] = [{key: value for key, value in node.items() if key != "tags"} for node in graph["nodes"]]
        return Outcome((done.returncode, balanced.returncode), products, done.stderr + balanced.stderr)

    def call(self, folder, environment, tool, *arguments):
        return subprocess.run([self.build / "bin" / tool, *arguments], cwd=folder, capture_output=True, text=True, errors="replace",
                              env={**os.environ, **environment}, check=False)


def after(words, flag):
    return words[words.index(flag):words.index(flag) + 2] if flag in words else []


def values_of(option, witness, policies):
    """The values to try, and whether each of them has to act: a flag that lists no default is false or depends on the level."""
    if witness.values is not None:
        return witness.values, True
    default = option.get("default")
    if option["type"] == "flag":
        return (["false"], True) if default == "true" else (["true", "false"], False)
    choices = policies if option["name"] == "policy" else option.get("choices", [])
    return [choice for choice in choices if choice != default], True


class Trial:
    """One option, as `name` on the command line or as a member of the family."""

    def __init__(self, compiler, stage, option):
        self.compiler, self.stage, self.option = compiler, stage, option
        self.is_family = ".NAME." in option["name"]

    def setting(self, value, key=None):
        return ["--set", value if self.is_family else f"{key or self.option['name']}={value}"]

    def outcome(self, model, level, given, setting=(), environment=()):
        return self.compiler.run(model, level, {self.stage: [*given, *setting]}, environment)

    def acts(self, model, level, given, value):
        return self.outcome(model, level, given, self.setting(value)).differs_from(self.outcome(model, level, given))

    def says_why(self, model, level, given, value):
        told = self.outcome(model, level, given, self.setting(value)).messages
        return f"--{self.option['name']} has no effect" in told

    def levels(self):
        if self.option["name"] == "opt-level":
            return [None]
        return LEVELS if self.stage == "optimizer" else [DEFAULT_LEVEL]

    def problems(self, witness, policies):
        values, each_acts = values_of(self.option, witness, policies)
        name = self.option["name"]
        if not values:
            yield f"{name}: the witness gives no value"
        for model in witness.models.split():
            for level in self.levels():
                silent = [v for v in values if not self.acts(model, level, witness.given, v) and not self.says_why(model, level, witness.given, v)]
                if silent and (each_acts or len(silent) == len(values)):
                    yield f"{name}: {', '.join(silent)} changes nothing on '{model}' at level {level}, and nothing says why"
            if witness.idle is None:
                continue
            if self.acts(model, DEFAULT_LEVEL, witness.idle, values[0]):
                yield f"{name}: {values[0]} is to have no effect on '{model}' with {witness.idle}, and has one"
            elif not self.says_why(model, DEFAULT_LEVEL, witness.idle, values[0]):
                yield f"{name}: {values[0]} has no effect on '{model}' with {witness.idle}, and nothing says why"

    def problems_of_names(self, witness, names, policies):
        """Every other name sets the same."""
        model = witness.models.split()[0]
        acting = ((level, value) for level in self.levels() for value in values_of(self.option, witness, policies)[0]
                  if self.acts(model, level, witness.given, value))
        level, value = next(acting, (None, None))
        if value is None:
            return
        own = self.outcome(model, level, witness.given, self.setting(value))
        for name in names:
            if self.outcome(model, level, witness.given, self.setting(value, name)).differs_from(own):
                yield f"{self.option['name']}: '{name}={value}' does something else"
        variable = self.option.get("environment")
        if variable and self.outcome(model, level, witness.given, environment=[(variable, value)]).differs_from(own):
            yield f"{self.option['name']}: the environment variable {variable} does something else"


def claimed_environment(page):
    """The variables of the paragraph behind the table."""
    return set(re.findall(r"`(PYBUDA_[A-Z0-9_]+)`", page.read_text().split("Environment variables that are understood:")[1].split("\n\n")[0]))


def main():
    build, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    page = source / "docs/options.md"
    options = {}  # name -> (stage, option)
    about_the_run = set()  # spellings of the others
    for stage in STAGES:
        for option in options_of(stage, build):
            if option["name"] in NOT_ABOUT_THE_MODEL:
                about_the_run.update(spellings(option))
            if option["name"] not in NOT_ABOUT_THE_MODEL:
                options[option["name"]] = (stage, option)
        for key in family_keys_of(stage, build):
            options[key] = (stage, {"name": key, "type": "text"})
    listed = json.loads(subprocess.run([build / "bin/balancer", "--list-plugins=json"], check=True, capture_output=True).stdout)
    policies = [plugin["name"] for plugin in listed["plugins"] if plugin["kind"] == "policy"]

    problems = [f"{name}: no witness (tests/conformance/options/witnesses.py)" for name in options if name not in WITNESSES]
    problems += [f"{name}: a witness for an option that no tool has" for name in WITNESSES if name not in options]
    for row in rows(page):
        known = {key for name, (stage, option) in options.items() for key in spellings(option) if stage == row.stage}
        if row.stage not in STAGES:
            continue
        if row.is_option():
            problems += [f"docs/options.md:{row.line}: '{name}' is no option that is tried" for name in row.names
                         if name not in known | about_the_run]
        problems += [f"docs/options.md:{row.line}: {key} is no key that is tried" for key in row.family_keys() if key not in options]
    variables = {option["environment"] for _, option in options.values() if "environment" in option}
    problems += [f"docs/options.md: {name}: understood, or claimed to be, but not both" for name in variables ^ claimed_environment(page)]

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiler = Compiler(build, pathlib.Path(folder))
        tasks = []
        for name, (stage, option) in slices.of_turn(options.items()):
            trial = Trial(compiler, stage, option)
            for witness in WITNESSES.get(name, []):
                tasks.append(pool.submit(lambda t=trial, w=witness: list(t.problems(w, policies))))
            if name in WITNESSES and not trial.is_family:
                others = [key for key in spellings(option) if key != name]
                tasks.append(pool.submit(lambda t=trial, w=WITNESSES[name][0], o=others: list(t.problems_of_names(w, o, policies))))
        for task in tasks:
            problems += task.result()
        print(f"{len(options)} options, {compiler.count} compilations, {len(problems)} problems")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
