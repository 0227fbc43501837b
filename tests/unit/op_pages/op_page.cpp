// Writes the page of an op type.
#include "op_docs.hpp"

#include <buda/base/text.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/model/op_attributes.hpp>
#include <buda/ops/table/device_op.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

std::string cell(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; (at = out.find('|', at)) != std::string::npos; at += 2) out.insert(at, "\\");
  return out;
}

// Attributes that every op type has.
bool is_common(const AttributeInfo& a) {
  const auto& types = all_op_types();
  return std::all_of(types.begin(), types.end(), [&](const OpTypeInfo& t) { return a.for_op(t.type); });
}

// Of the common ones those that mean something to this type.
bool is_used(const AttributeInfo& a, OpType type) {
  static constexpr std::string_view kInner[] = {"m_k", "u_kt"};
  const OpClass c = op_class(type);
  if (std::find(std::begin(kInner), std::end(kInner), a.key) != std::end(kInner))
    return c == OpClass::matmul || c == OpClass::depthwise || c == OpClass::reduce || c == OpClass::topk;
  if (a.key == "bias") return c == OpClass::matmul || c == OpClass::depthwise;
  if (a.key == "accumulate" || a.key == "sfpu_op") return c == OpClass::matmul;
  if (a.key == "zero_point") return c == OpClass::quant || c == OpClass::matmul;
  if (a.key == "approximate_mode") return c == OpClass::sfpu || c == OpClass::fused || c == OpClass::matmul;
  if (a.key == "vector") return c == OpClass::sfpu || c == OpClass::fused;
  if (a.key == "dest_device" || a.key.ends_with("gress_channels")) return c == OpClass::ethernet;
  return true;
}

std::string attribute_table(OpType type) {
  std::string out;
  for (const AttributeInfo& a : all_attributes()) {
    if (!a.for_op(type) || (is_common(a) && !is_used(a, type))) continue;
    out += cat("| `", a.key, "` | ", cell(a.value), " | ", a.absent.empty() ? "" : cat('`', a.absent, '`'), " | ", cell(a.meaning), " |\n");
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
