#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small part of the judge's work, for every run of the tests: faces in a picture, found by a network of MediaPipe.

    small.py --build DIR

Installs the packages of small/package-lock.json into DIR/real/small, and compares n150 and e150 with TensorFlow Lite. Ends with 77 where node, npm, Pillow or
scikit-image's pictures are missing.
"""
import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import judge
import page
import pictures

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "face-short"


def install(folder):
    """npm leaves a list of what it has installed beside it."""
    done, lock = folder / "node_modules" / ".package-lock.json", HERE / "small" / "package-lock.json"
    if done.exists() and (folder / lock.name).exists() and (folder / lock.name).read_bytes() == lock.read_bytes():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copyfile(HERE / "small" / name, folder / name)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--loglevel=error"], cwd=folder, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    pictures.unpacked = build / "real" / "pictures"
    if not (shutil.which("npm") and shutil.which("node") and importlib.util.find_spec("PIL") and pictures.folder()):
        print("node, npm, Pillow or scikit-image's pictures are missing: make pictures frameworks")
        sys.exit(77)
    install(build / "real" / "small")
    row = next(row for row in json.loads((HERE / "models.json").read_text()) if row["name"] == MODEL)
    places = judge.Places(build, build / "real" / "small" / "node_modules", build / "real" / "small" / "models")
    result = judge.judge(places, row, judge.Limits(120, 120))
    print("\n".join(page.table([row], {MODEL: result})))
    sys.exit(not all(way.get("right") for way in result["ways"].values()))


if __name__ == "__main__":
    main()
