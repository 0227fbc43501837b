#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a wheel of the Python module from an installation: wheel.py PREFIX VERSION OUT_DIR; prints its path.

The wheel has the module, libbuda and the plugins in openbuda/native/lib, and the data files of the compiler in openbuda/native/share. It needs no other
package but NumPy, and system libraries that the Debian has on which it was built. Its content depends on the installation only.
"""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile

# What compilations and targets read; the tools' own files stay away.
SHARED = ("clusters", "devices", "kernels", "pipelines")
DATE = (2020, 1, 1, 0, 0, 0)


def files_of(prefix):
    """Name in the wheel and file of each member."""
    module = prefix / "lib/python3/dist-packages/openbuda"
    for path in sorted(module.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"openbuda/{path.relative_to(module)}", path
    # Libraries by the name that the loader looks for: a wheel has no links.
    for path in sorted((prefix / "lib").glob("lib*.so.[0-9]")):
        yield f"openbuda/native/lib/{path.name}", path.resolve()
    for path in sorted((prefix / "lib/buda").rglob("*.so")):
        yield f"openbuda/native/lib/buda/{path.relative_to(prefix / 'lib/buda')}", path
    for folder in SHARED:
        for path in sorted((prefix / "share/buda" / folder).rglob("*")):
            if path.is_file():
                yield f"openbuda/native/share/buda/{path.relative_to(prefix / 'share/buda')}", path


def tag_of(prefix):
    """cp311-cp311-linux_x86_64, of the part in C++."""
    native, = (prefix / "lib/python3/dist-packages/openbuda").glob("_native.cpython-*.so")
    version, machine = re.fullmatch(r"_native\.cpython-(\d+)-(\w+)-linux-gnu\.so", native.name).groups()
    return f"cp{version}-cp{version}-linux_{machine}"


def main():
    prefix, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    tag = tag_of(prefix)
    python = re.match(r"cp(\d)(\d+)", tag)
    info = f"openbuda-{version}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: openbuda\nVersion: {version}\nSummary: Compile models for tile-grid chips, and run them without hardware\n"
                f"Requires-Python: =={python[1]}.{python[2]}.*\nRequires-Dist: numpy\n")
    members = [(name, path.read_bytes(), 0o755 if name.endswith(".so") or ".so." in name else 0o644) for name, path in files_of(prefix)]
    members += [(f"{info}/METADATA", metadata.encode(), 0o644),
                (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: openbuda\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)]
    record = ""
    for name, content, _ in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(content)}\n"
    members.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"openbuda-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in members:
            member = zipfile.ZipInfo(name, DATE)
            member.external_attr = mode << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    print(wheel)


if __name__ == "__main__":
    main()
