#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`buda compile --cache` takes an image of the store only where nothing that it is made from has changed: not the model or a file that belongs to it or to the device,
not an option or variable, no tool, library or plugin.

    cache.py BUILD_DIR SOURCE_DIR

Options are those of witnesses.py. Every change has to miss the store, and the same command again has to hit it, so that no miss is one of the command.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import slices  # noqa: E402
from flip import STAGES, values_of  # noqa: E402
from table import family_keys_of, options_of  # noqa: E402
from witnesses import MODELS, NOT_ABOUT_THE_MODEL, WITNESSES  # noqa: E402

# Options of which the driver has the whole, or that only other stages have.
FURTHER = [["--device=e150"], ["--harvested-rows=1"], ["--cluster=n300"], ["--tensor-format=npy"], ["--tilized"], ["--seed=7"], ["--check"],
           ["--dim=n=4"], ["--frontend=native"]]
VARIABLES = {"PYBUDA_DEFAULT_DF": "Bfp8_b", "PYBUDA_BALANCER_POLICY_TYPE": "minimize_grid", "PYBUDA_TTI_BACKEND_TILIZED_FORMAT": "1"}


class Store:
    """A store in a folder, and compilations with it."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.folder.mkdir(parents=True)
        for model in MODELS:
            (folder / f"{model['name']}.graph.json").write_text(json.dumps(model))

    def hits(self, arguments, model="mlp", name="image", environment=None):
        done = subprocess.run([self.build / "bin/buda", "compile", f"{model}.graph.json", "-o", f"{name}.tti", "--cache", "store", *arguments], cwd=self.folder,
                              capture_output=True, text=True, errors="replace", env={**os.environ, **(environment or {})}, check=False)
        if "[CL0" in done.stderr:  # a command line that says nothing of the cache
            raise ValueError(f"{' '.join(arguments)}: {done.stderr}")
        return done.returncode == 0, "is from store: nothing" in done.stderr

    def problems(self, what, arguments, model="mlp", name="image", environment=None):
        """Of one change: it misses, and hits when it is repeated, unless it is an error."""
        compiled, hit = self.hits(arguments, model, name, environment)
        if hit:
            return [f"{what}: the image of another compilation is taken"]
        if compiled and not self.hits(arguments, model, name, environment)[1]:
            return [f"{what}: the same again is compiled once more"]
        return []


def option_changes(build):
    """(what, model, arguments without the option, arguments with it)."""
    options = {option["name"]: option for stage in STAGES for option in options_of(stage, build) if option["name"] not in NOT_ABOUT_THE_MODEL}
    options.update({key: {"name": key, "type": "text"} for stage in STAGES for key in family_keys_of(stage, build)})
    listed = json.loads(subprocess.run([build / "bin/balancer", "--list-plugins=json"], check=True, capture_output=True).stdout)
    policies = [plugin["name"] for plugin in listed["plugins"] if plugin["kind"] == "policy"]
    for name, option in options.items():
        for witness in WITNESSES.get(name, []):
            for value in values_of(option, witness, policies)[0]:
                setting = ["--set", value] if ".NAME." in name else [f"--{name}={value}"]
                yield f"{name}={value}", witness.models.split()[0], witness.given, [*witness.given, *setting]
    for arguments in FURTHER:
        yield " ".join(arguments), "mlp", [], arguments


def check_options(build, folder):
    changes = slices.of_turn(option_changes(build))
    # One for each command that is changed: what one option is given with is what another one changes.
    stores = {}
    for model, given in [("mlp", []), *((model, given) for _, model, given, _ in changes)]:
        if (model, *given) not in stores:
            stores[model, *given] = Store(build, folder / str(len(stores)))
            stores[model, *given].hits(given, model)
    problems = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(stores[model, *given].problems, what, arguments, model, f"image{i}") for i, (what, model, given, arguments) in enumerate(changes)]
        for task in tasks:
            problems += task.result()
    for variable, value in VARIABLES.items():
        problems += stores["mlp",].problems(variable, [], environment={variable: value})
    return len(tasks) + len(VARIABLES), problems


def append(path):
    with path.open("ab") as file:
        file.write(b"\n")


def check_files(build, folder):
    """With a copy of the installation, of which one file after the other changes."""
    copy = folder / "installation"
    for part in ("bin", "lib", "share/buda"):
        shutil.copytree(build / part, copy / part, symlinks=part == "lib")
    store = Store(copy, folder / "work")
    (store.folder / "ids.yaml").write_text("default-df-override: Float16\n")
    arguments = ["--config", "ids.yaml"]
    store.hits(arguments)
    plugins = sorted(p for p in (copy / "lib/buda/plugins").rglob("*.so") if not p.name.startswith("target_"))
    files = [copy / "lib" / os.readlink(copy / "lib/libbuda.so.1"), *plugins]
    files += [copy / "bin" / stage for stage in ("importer", "optimizer", "balancer", "netlist2pipe", "pipegen", "tti-pack")]
    files += [copy / f"share/buda/{name}.yaml" for name in ("devices/n150", "devices/wormhole_b0", "clusters/wormhole_b0", "pipelines/default")]
    files += [store.folder / "mlp.graph.json", store.folder / "ids.yaml"]
    problems, files = [], slices.of_turn(files)
    for path in files:
        if not path.is_file():
            problems.append(f"there is no {path.relative_to(folder)}")
            continue
        append(path)
        problems += store.problems(f"{path.relative_to(folder)} changed", arguments)
    plugins[0].unlink()
    problems += store.problems(f"{plugins[0].name} removed", arguments)
    return len(files) + 1, problems


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    count, problems = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for check, name in ((check_options, "options"), (check_files, "files")):
            tried, found = check(build, pathlib.Path(folder) / name)
            count += tried
            problems += found
            print(f"{name}: {tried} changes, {len(found)} problems")
    for problem in problems:
        print(problem)
    return 1 if problems or count * slices.COUNT < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
