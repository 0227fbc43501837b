# SPDX-License-Identifier: Apache-2.0
"""Calls reference.js, which runs models with implementations that are not ours."""
import json
import pathlib
import subprocess
import tempfile

import numpy as np

SCRIPT = pathlib.Path(__file__).with_name("reference.js")


class Refused(Exception):
    """The reference cannot run the model."""


def call(packages, model, folder, *command):
    done = subprocess.run(["node", SCRIPT, packages, model, folder, *command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"node ended with {done.returncode}")
    return done.stdout


def describe(packages, model):
    """{"inputs": [{"name", "type", "shape"}, …], "outputs": …}; a size that is not fixed is a name, or None."""
    return json.loads(call(packages, model, ".", "describe"))


def write_inputs(folder, inputs):
    listed = []
    for index, (name, value) in enumerate(inputs.items()):
        file = f"input{index}.bin"
        (folder / file).write_bytes(np.ascontiguousarray(value).tobytes())
        listed.append({"name": name, "type": str(value.dtype), "shape": list(value.shape), "file": file})
    (folder / "inputs.json").write_text(json.dumps(listed))


def read_outputs(folder):
    listed = json.loads((folder / "outputs.json").read_text())
    return {one["name"]: np.fromfile(folder / one["file"], one["type"]).reshape(one["shape"]) for one in listed}


def run(packages, model, inputs):
    """The outputs by name, in the model's order."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_inputs(folder, inputs)
        call(packages, model, folder)
        return read_outputs(folder)
