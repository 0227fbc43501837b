// SPDX-License-Identifier: Apache-2.0
// Markdown and SVG of predictions beside measurements.
#include "page.hpp"

#include "table.hpp"

#include <buda/base/text.hpp>

#include <cstdio>
#include <utility>

namespace buda::silicon {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace

std::vector<Panel> class_panels(const std::vector<Prediction>& predictions) {
  std::vector<Panel> out;
  for (const ClassErrors& c : classes_of(predictions)) {
    Panel panel{cat(c.arch, ": ", c.name, ", mean ", number(c.mean()), " %, goal ", number(c.goal), " %"), {}};
    for (const Prediction& p : predictions)
      if (p.measured->arch == c.arch && class_name(p.measured->op) == c.name)
        panel.points.emplace_back(p.measured->cycles, 100 * p.error());
    out.push_back(std::move(panel));
  }
  return out;
}

std::string page_text(const std::vector<Prediction>& predictions, const Simulated& simulated, const std::string& system) {
  return cat(
      "# Simulated time compared with silicon\n"
      "\n"
      "This page compares predicted times with all public measurements of chips: single ops on one core, traces of the networks, DRAM, "
      "whole\n"
      "netlists and matrix products. The measurements of single ops are those of the public TT-Buda repository (`perf_lib/op_model`, "
      "Apache-2.0), to\n"
      "which the rows of `share/devices/*.yaml` are fitted. **Their errors on this page are held out** (five-fold cross-validation): the "
      "measurements\n"
      "of a row are divided by blocking into five parts, and each part is predicted by a fit of the other four, so that no blocking is in "
      "both. The\n"
      "shipped rows are fitted to all five parts. Nothing is fitted to the other measurements.\n"
      "\n"
      "A tool writes this page and its drawings, and evaluates other measurements. Only `fit` and `page` write files, never into DIR:\n"
      "\n"
      "    silicon ops DIR                                 the shipped rows on the measurements of single ops in DIR/ops\n"
      "    silicon sim DIR                                 held-out predictions of these in the simulator\n"
      "    silicon kernels DIR                             the cycles of this project's kernels next to these measurements\n"
      "    silicon noc DIR [--ablate links|all]            traces of the networks in DIR\n"
      "    silicon dram                                    DRAM, by placement\n"
      "    silicon netlists DIR                            netlists below DIR with a section performance-check\n"
      "    silicon gemm FILE                               matrix products on 64 cores\n"
      "    silicon fit DIR                                 fits the rows of share/devices to DIR/ops and writes them\n"
      "    silicon page DIR NETLISTS docs/conformance      writes this page\n"
      "\n"
      "`silicon` is in `bin` of a build; `tests/bench/silicon/measurements.hpp` describes the format of DIR. `--share DIR` evaluates "
      "other\n"
      "descriptions of devices. The exit code is 1 if a goal is missed.\n"
      "\n"
      "## By class\n\n",
      class_table(classes_of(predictions)),
      "\n![Errors by cycles](silicon.svg)\n\n"
      "Each point is a measurement: measured cycles on the horizontal axis, error of the prediction in per cent on the vertical axis.\n\n"
      "## In the simulator\n"
      "\n"
      "The same predictions, each as the kernel of a one-core netlist whose stream programs the simulator of target `grid` executes. The "
      "location\n"
      "of operands during the measurements is not known, and some arrived faster than a DRAM channel can deliver; here memory is as fast "
      "as the\n"
      "networks. The second table shows where the transfer of operands takes longer than the kernel; limits of operand transfer that are "
      "already\n"
      "part of a kernel's cycles are not counted twice.\n"
      "\n",
      class_table(classes_of(simulated.predictions)), "\n", feed_table(simulated), "\n", simulated.left_out.size(),
      " measurements are omitted, because their buffers, as the compiler lays them out, do not fit in the L1 of a core.\n\n"
      "## The ten worst\n\n",
      worst_table(predictions), "\n", system,
      "## What is not measured\n\n"
      "There are no public measurements of fused ops, tilizers, embeddings, top-k, Grayskull's 16-bit matmuls, matmuls with 16-bit "
      "operands below\n"
      "HiFi4, and any op on Blackhole. The cycles of a fused op are the sum of those of its steps, without packing and unpacking what "
      "stays in the\n"
      "destination register; other ops use the row of the nearest format, or that of a copy, and `cost::KernelCycles::basis` says which. "
      "The\n"
      "transfer of operands during the measurements is not known: copies of more than about 48 KiB run at 13 to 14 bytes per cycle in "
      "all formats,\n"
      "which may be the rate of the transfer rather than of the kernel.\n"
      "\n"
      "## By file\n\n",
      file_table(predictions));
}

}  // namespace buda::silicon
