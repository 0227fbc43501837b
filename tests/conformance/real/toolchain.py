# SPDX-License-Identifier: Apache-2.0
"""Calls OpenBuda's tools on one model, in a folder of its own so that messages name no other."""
import dataclasses
import json
import re
import resource
import subprocess

import numpy as np

MODES = ("exact", "bits", "fp32")  # of target golden


@dataclasses.dataclass
class Outcome:
    """seconds: of processor time, which other work on the machine hardly changes; message: the first error, or None; hint: what the tool advises; outputs by name, of a run that ended well."""
    seconds: float
    message: str = None
    hint: str = None
    outputs: dict = None


def first_error(text):
    """The first line with an error, without what precedes the word, and the first hint that follows, or note; the last line where there is no error."""
    lines = text.strip().splitlines()
    errors = [index for index, line in enumerate(lines) if re.search(r"\berror: ", line)]
    if not errors:
        return (lines[-1] if lines else "no message"), None
    later = lines[errors[0] + 1:]
    hints = [line.split(word, 1)[1] for word in ("hint: ", "note: ") for line in later if word in line]
    return lines[errors[0]].split("error: ", 1)[1], (hints[0] if hints else None)


def processor_seconds():
    """Of the programs that ended so far, with those that they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(tools, folder, seconds, program, *arguments):
    begin = processor_seconds()
    command = [str(tools / program), *map(str, arguments), "-q"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Outcome(processor_seconds() - begin, f"not done after {seconds} s")
    took = processor_seconds() - begin
    if done.returncode == 0:
        return Outcome(took)
    if done.returncode < 0:
        return Outcome(took, f"{program} ended by signal {-done.returncode}")
    return Outcome(took, *first_error(done.stderr))


def option_of_size(name, input_name, axis):
    """What the importer calls a size that is not fixed: sizes without a name are called after input and axis."""
    return name if isinstance(name, str) and name else f"{input_name}.{axis}"


def dimensions(described, inputs):
    """--dim options that give the sizes of inputs that are not fixed, which have a name or none or are negative, those of the arrays."""
    sizes = {}
    for one in described["inputs"]:
        for axis, size in enumerate(one["shape"]):
            if not isinstance(size, int) or size < 0:
                sizes[option_of_size(size, one["name"], axis)] = inputs[one["name"]].shape[axis]
    return [text for name, size in sizes.items() for text in ("--dim", f"{name}={size}")]


def read_graph(tools, folder, seconds, model, options):
    """What importer says, and the names of the graph's inputs and outputs, in the model's order."""
    outcome = call(tools, folder, seconds, "importer", model, "-o", "model.graph.json", *options)
    if outcome.message:
        return outcome, [], []
    graph = json.loads((folder / "model.graph.json").read_text())
    return outcome, graph["inputs"], graph["outputs"]


def rename(inputs, names):
    """The values under the names of the graph, by position where those differ."""
    return inputs if set(inputs) == set(names) else dict(zip(names, inputs.values()))


def run(tools, folder, seconds, product, outputs, *options):
    """Runs an image or a graph with inputs.npz."""
    (folder / "outputs.npz").unlink(missing_ok=True)
    outcome = call(tools, folder, seconds, "buda", "run", product, "--inputs", "inputs.npz", "-o", "outputs.npz", *options)
    if not outcome.message:
        with np.load(folder / "outputs.npz") as found:
            outcome.outputs = {name: found[name] for name in outputs}
    return outcome


def compile_model(tools, folder, seconds, model, image, device, options):
    return call(tools, folder, seconds, "buda", "compile", model, "-o", image, "--device", device, *options)
