// SPDX-License-Identifier: Apache-2.0
// Writes the page of an op type.
#include "op_docs.hpp"

#include <buda/base/text.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/device_op.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

std::string cell(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; (at = out.find('|', at)) != std::string::npos; at += 2) out.insert(at, "\\");
  return out;
}

// An attribute that every op may have is listed where it means something.
bool is_listed(const ops::DeviceAttribute& a, OpType type) { return a.accepted_by == ops::kAnyClass ? a.is_used_by(type) : a.for_op(type); }

std::string attribute_table(OpType type) {
  std::string out;
  for (const ops::DeviceAttribute& a : ops::device_attributes()) {
    if (!is_listed(a, type)) continue;
    const std::string absent = a.standard ? cat('`', a.standard_text(), '`') : "";
    out += cat("| `", a.key, "` | ", cell(a.value_text()), " | ", absent, " | ", cell(a.meaning), " |\n");
  }
  return out.empty() ? out : "\n## Attributes\n\n| attribute | value | when absent | meaning |\n|---|---|---|---|\n" + out;
}

std::string rule_list(const OpDoc& doc) {
  auto wanted = doc.rules;
  std::sort(wanted.begin(), wanted.end());
  std::string out;
  for (const Rule& rule : netlist_rules())
    if (std::binary_search(wanted.begin(), wanted.end(), rule.code)) out += cat("- ", rule.code, ": ", rule.text, '\n');
  return out;
}

}  // namespace

std::string op_page(const OpDoc& doc, std::string_view example) {
  const ops::DeviceOp& row = ops::device_op(doc.type);
  std::string out =
      cat("# ", row.name, "\n\n", row.meaning, "\n\n## Inputs\n\n| input | tiles (t, rows, columns) | in_df |\n|---|---|---|\n");
  for (const OpInputDoc& i : doc.inputs) out += cat("| ", cell(i.name), " | ", cell(i.shape), " | ", cell(i.formats), " |\n");
  out +=
      "\nT, R and C are the output's: t, grid rows * mblock_m * ublock_rt, and grid columns * mblock_n * ublock_ct. That is what an input "
      "has after "
      "its manipulations.\n";
  out += cat("\n## Output\n\n- Block: ", doc.block, "\n- Formats: ", doc.formats, '\n');
  if (!row.notes.empty()) out += cat('\n', row.notes, '\n');
  out += attribute_table(doc.type);
  out += cat("\n## Rules\n\nBesides the [rules that hold for all ops](../formats/netlist-rules.md#ops):\n\n", rule_list(doc));
  out += cat("\n## Example\n\n`share/examples/netlists/", doc.example, ".yaml`");
  if (!doc.more_examples.empty()) {
    std::vector<std::string> names;
    for (auto name : doc.more_examples) names.push_back(cat('`', name, ".yaml`"));
    out += cat("; more in ", join(names, ", "));
  }
  out += cat(". A test validates it and runs it on golden: `netlist check ", doc.example, ".yaml`, `runner ", doc.example,
             ".yaml --test`.\n\n```yaml\n", example, "```\n");
  return out;
}

}  // namespace buda::netlist
