# SPDX-License-Identifier: Apache-2.0
"""For which Python the module was built."""
import importlib.machinery
import pathlib
import re
import sys


def check(folder=pathlib.Path(__file__).parent, suffixes=importlib.machinery.EXTENSION_SUFFIXES):
    """Raises ImportError where the part in C++ is for another Python, which would not find it and say something else."""
    built = sorted(path.name for path in folder.glob("_native.*.so"))
    if any(folder.joinpath("_native" + suffix).exists() for suffix in suffixes):
        return
    here = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor} ({sys.executable})"
    found = [re.fullmatch(r"_native\.cpython-(\d)(\d+)-.*\.so", name) for name in built]
    versions = [f"{match[1]}.{match[2]}" for match in found if match]
    if not versions:
        raise ImportError(f"openbuda is not complete: {folder} has no part in C++ for {here}")
    raise ImportError(f"openbuda was built for CPython {' and '.join(versions)}, and this is {here}; run it with python{versions[0]}, as /usr/bin/python3 of the Debian that it was "
                      "built on, or build it for this Python: cmake --preset release -D Python_EXECUTABLE=$(command -v python3)")
