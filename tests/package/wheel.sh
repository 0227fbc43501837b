#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh BUILD_DIR SOURCE_DIR CMAKE PYTHON VERSION: the wheel installs into a virtual environment without an index, and its module compiles and
# runs a model there, with its own libraries and files. 77: no venv, or no NumPy.
set -eu
build=$(cd "$1" && pwd) source=$(cd "$2" && pwd) cmake=$3 python=$4 version=$5
"$python" -c "import numpy, ensurepip, venv" 2>/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" > /dev/null
wheel=$("$python" -B "$source/apps/python/wheel.py" "$work/prefix" "$version" "$work/dist")
again=$("$python" -B "$source/apps/python/wheel.py" "$work/prefix" "$version" "$work/again")
cmp "$wheel" "$again"
rm -rf "$work/prefix"
"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"
cd "$work"
env -u PYTHONPATH -u BUDA_PLUGIN_PATH "$work/venv/bin/python" - "$source/share/examples/digits" "$work/venv" "$version" << 'END'
import sys
import numpy as np
import openbuda

digits, venv, version = sys.argv[1:]
assert openbuda.__file__.startswith(venv), openbuda.__file__
assert openbuda.__version__ == version
assert "n150" in openbuda.detect_available_devices() and {"golden", "grid", "tensix"} <= set(openbuda.targets())
with open("/proc/self/maps") as maps:
    assert all(line.split()[-1].startswith(venv) for line in maps if "libbuda" in line)
with openbuda.load_image(openbuda.compile_to_image(f"{digits}/digits.onnx", "digits.tti")).open(mode="fp32") as session:
    outputs = session.run(np.load(f"{digits}/digits.images.npz")["image"])["probabilities"]
np.testing.assert_allclose(outputs, np.load(f"{digits}/digits.expected.npz")["probabilities"], rtol=1e-4, atol=1e-5)
END
"$work/venv/bin/python" -m pip uninstall --quiet --yes --disable-pip-version-check openbuda
