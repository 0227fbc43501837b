# SPDX-License-Identifier: Apache-2.0
"""Speech as input of models, spoken by espeak-ng."""
import functools
import shutil
import subprocess
import tempfile
import wave

import numpy as np

RATE = 16000  # samples a second, of models of speech


def at_rate(samples, rate, wanted=RATE):
    """The same sound with other samples a second, by linear interpolation."""
    count = int(len(samples) * wanted / rate)
    return np.interp(np.arange(count) * (rate / wanted), np.arange(len(samples)), samples).astype(np.float32)


@functools.lru_cache(maxsize=None)
def speak(text, rate=RATE):
    """The spoken text as numbers from -1 to 1."""
    if shutil.which("espeak-ng") is None:
        raise SystemExit("espeak-ng is missing: apt-get install espeak-ng")
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["espeak-ng", "-v", "en", "-s", "140", "-w", file.name, text], check=True)
        with wave.open(file.name) as sound:
            samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float32) / 32768
            return at_rate(samples, sound.getframerate(), rate)


def end_of(samples, count):
    """The last `count` samples, after silence where there are fewer."""
    return np.concatenate([np.zeros(max(0, count - len(samples)), np.float32), samples[-count:]])


def make(recipe, step=0):
    """recipe: {"speech": text, "samples": count, "scale": factor, "stride": samples, "rate": samples a second, "shape"}: (1, count), or that shape.

    With a stride, the part that begins at sample step * stride; otherwise the end of the text.
    """
    samples = speak(recipe["speech"], recipe.get("rate", RATE))
    count = recipe["samples"]
    if "stride" in recipe:
        begin = step * recipe["stride"]
        samples = samples[begin:begin + count]
        samples = np.pad(samples, (0, count - len(samples)))
    else:
        samples = end_of(samples, count)
    return (samples * recipe.get("scale", 1)).astype(np.float32).reshape(recipe.get("shape", [1, count]))
