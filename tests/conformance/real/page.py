# SPDX-License-Identifier: Apache-2.0
"""The page of results: a row for each model, and what is refused."""
import math

HEAD = """# Real models

Written by `make conformance-real` (`tests/conformance/real`); do not edit. The models are files of packages of npm, as `tests/conformance/real/package-lock.json` names them. What they should give is computed by others:
by onnxruntime {onnxruntime}, by TensorFlow Lite as @tensorflow/tfjs-tflite {tflite} has it, and by TensorFlow.js {tfjs}. Their inputs are real: pictures of scikit-image, and speech of espeak-ng. Left out are files of these packages that
are in another one, too, and those that no reference here runs: the face mesh with attention, which has operators of MediaPipe's own, and the melspectrogram for TensorFlow Lite, whose sizes are open.

- *default*: `buda compile` for n150 without options, `buda run` in the default mode of [target golden](../tools/runner.md#targets), `exact`; *bits*: with `--set target.golden.mode=bits`; *fp32*: with `--set target.golden.mode=fp32`.
- *bfloat16*: the imported graph on target `cpu` with `--formats bfloat16`: each op's result is rounded to bfloat16, sums are in fp32. It is what a format of 16 bits costs by itself.
- *e150*: as *default*, for e150.
- *`--accuracy`*: of models that are wrong by default or in bits, compiled for n150 with `--accuracy 0.99`, `--calibrate` with these inputs, and `--expect` with what the reference gives ([accuracy](../tools/optimizer.md#accuracy)). The cell is that of *bits*, or of *default* if that is
  wrong. If no formats are enough, the last table says how near they come.
- A cell has the least correlation of the model's outputs with the reference (of those of at least 64 elements, if there are any; `-` where none is defined, as of single numbers), and the largest error of an element as a part of the largest
  expected one of its output. **Bold** is wrong: an output with a correlation below 0.99; one of fewer than 64 elements, or a constant one, with an error above 0.02 of the largest expected element plus 0.001, or whose largest
  element of a row is another one although the two largest differ by more than that; or an integer that differs.
- *compile* is the processor time of `buda compile` for n150 in seconds, on the machine that wrote the page; checks of the page leave it out.
"""

COLUMNS = (("exact", "default"), ("bits", "bits"), ("fp32", "fp32"), ("bfloat16", "bfloat16"), ("e150", "e150"), ("accuracy", "`--accuracy`"))


def percent(error):
    if not math.isfinite(error):
        return "not finite"
    return "0 %" if error == 0 else "< 0.01 %" if error < 1e-4 else f"{float(f'{100 * error:.2g}'):g} %"


def cell(result):
    """result: of one way to run the model: {"refused", "code"} or {"correlation", "error", "right"}."""
    if result is None:
        return "-"
    if "refused" in result:
        return f"refused: {result['code']}"
    correlation = "-" if result["correlation"] is None else f"{result['correlation']:.4f}"
    text = f"{correlation}, {percent(result['error'])}"
    return text if result["right"] else f"**{text}**"


def seconds(value):
    return "-" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def source(row):
    return f"{row['package']}: {row.get('part', row['file'].rsplit('/', 1)[-1])}"


def table(rows, results):
    lines = ["| model | what | file | " + " | ".join(title for _, title in COLUMNS) + " | compile |", "|---|---|---|" + "---|" * len(COLUMNS) + "--:|"]
    for row in rows:
        result = results[row["name"]]
        cells = [cell(result["ways"].get(way)) for way, _ in COLUMNS]
        lines.append(f"| {row['name']} | {row['what']} | {source(row)} | {' | '.join(cells)} | {seconds(result.get('compile'))} |")
    return lines


def count(rows, results, way, test, except_wrong=None):
    """Of the rows for which the test holds in this way; without those that are not right in the other way, if there is one."""
    ways = [results[row["name"]]["ways"] for row in rows]
    return sum(1 for one in ways if way in one and test(one[way]) and (except_wrong is None or one.get(except_wrong, {}).get("right")))


def totals(rows, results):
    lines = ["| | " + " | ".join(title for _, title in COLUMNS) + " |", "|---|" + "--:|" * len(COLUMNS)]
    for title, test in (("right", lambda r: r.get("right") is True), ("wrong", lambda r: r.get("right") is False), ("refused", lambda r: "refused" in r)):
        lines.append(f"| {title} | " + " | ".join(str(count(rows, results, way, test)) for way, _ in COLUMNS) + " |")
    lost = [str(count(rows, results, way, lambda r: r.get("right") is False, except_wrong="bfloat16")) for way, _ in COLUMNS]
    return lines + [f"| wrong, although *bfloat16* is right | {' | '.join(lost)} |"]


def clean(text):
    """In one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def refusals(rows, results):
    """Each message once a model, with the ways that it concerns."""
    lines = []
    for row in rows:
        by_message = {}
        for way, title in COLUMNS:
            result = results[row["name"]]["ways"].get(way) or {}
            if "refused" in result:
                by_message.setdefault((result["refused"], result.get("hint") or "-"), []).append(title)
        for (message, hint), ways in by_message.items():
            concerned = "all" if len(ways) == len(results[row["name"]]["ways"]) else ", ".join(ways)
            lines.append(f"| {row['name']} | {concerned} | {clean(message)} | {clean(hint)} |")
    return ["| model | where | message | hint |", "|---|---|---|---|", *lines] if lines else ["Nothing is."]


def write(rows, results, versions):
    packages = {row["package"] for row in rows}
    lines = [HEAD.format(**versions), f"{len(rows)} models of {len(packages)} packages:", "", *totals(rows, results), "", *table(rows, results), "", "## What is refused", "", *refusals(rows, results)]
    return "\n".join(lines) + "\n"


def without_times(page):
    """The page as it is compared: without the last column of the table of models."""
    lines, times = [], False
    for line in page.splitlines():
        times = line.startswith("| model ") and line.endswith("| compile |") or times and line.startswith("|")
        lines.append(line.rsplit("|", 2)[0] if times else line)
    return "\n".join(lines)
