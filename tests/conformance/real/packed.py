# SPDX-License-Identifier: Apache-2.0
"""Takes a file out of an archive of Emscripten's file_packager: NAME.data, whose parts the script NAME_loader.js lists."""
import json
import re


def parts(loader):
    """(begin, end) of each file by its name, as the text of the loader lists them."""
    listed = re.search(r'"files":\s*(\[.*?\])', loader, re.DOTALL)
    if listed is None:
        raise ValueError("the loader has no list of files")
    return {one["filename"]: (one["start"], one["end"]) for one in json.loads(listed.group(1))}


def extract(archive, ending):
    """The bytes of the only file whose name ends so."""
    loader = archive.with_name(archive.stem + "_loader.js").read_text()
    found = [span for name, span in parts(loader).items() if name.endswith("/" + ending)]
    if len(found) != 1:
        raise ValueError(f"{archive.name} has {len(found)} files named {ending}")
    begin, end = found[0]
    return archive.read_bytes()[begin:end]
