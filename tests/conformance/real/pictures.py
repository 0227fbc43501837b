# SPDX-License-Identifier: Apache-2.0
"""Pictures of scikit-image as inputs of models."""
import importlib.util
import pathlib

import numpy as np

# Where the package of scikit-image is unpacked, for those who need its pictures only (`make pictures`).
unpacked = None


def folder():
    """Where scikit-image keeps its pictures; found without importing it, which takes seconds. None: it is not installed, nor its package unpacked."""
    spec = importlib.util.find_spec("skimage")
    if spec is not None:
        return pathlib.Path(spec.submodule_search_locations[0]) / "data"
    found = unpacked and unpacked / "usr/lib/python3/dist-packages/skimage/data"
    return found if found and found.is_dir() else None


def load(name, size, box=None):
    """The picture, or its part (left, top, right, bottom), as (height, width, 3) numbers from 0 to 255."""
    from PIL import Image  # which not every user of this module has

    data = folder()
    if data is None:
        raise SystemExit("scikit-image is missing: apt-get install python3-skimage")
    height, width = size
    picture = Image.open(data / name).convert("RGB").resize((width, height), Image.BILINEAR, box=box)
    return np.asarray(picture, np.float32)


def scale(pixels, low=None, high=None, mean=None, deviation=None):
    """Numbers from low to high, or as many standard deviations from the mean of each channel; unchanged without either."""
    if mean is not None:
        return (pixels / 255 - np.asarray(mean, np.float32)) / np.asarray(deviation, np.float32)
    return pixels if low is None else pixels / 255 * (high - low) + low


def with_ones(pixels):
    """A fourth channel, of ones."""
    return np.concatenate([pixels, np.ones_like(pixels[..., :1])], axis=-1)


def make(recipe):
    """recipe: {"picture": name or list of names, "size": [height, width], …}: (pictures, height, width, channels), or channels before height.

    "box": the part that is shown, one for all or one for each picture; "low" and "high", or "mean" and "deviation": see scale; "ones": a channel
    of ones is added; "channels": "first".
    """
    names = recipe["picture"] if isinstance(recipe["picture"], list) else [recipe["picture"]]
    boxes = recipe.get("box")
    boxes = boxes if boxes and isinstance(boxes[0], list) else [boxes] * len(names)
    pixels = np.stack([load(name, recipe["size"], box) for name, box in zip(names, boxes)])
    pixels = scale(pixels, *(recipe.get(key) for key in ("low", "high", "mean", "deviation")))
    pixels = with_ones(pixels) if recipe.get("ones") else pixels
    pixels = pixels.transpose(0, 3, 1, 2) if recipe.get("channels") == "first" else pixels
    return np.ascontiguousarray(pixels, np.float32)
