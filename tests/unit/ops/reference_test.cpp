// SPDX-License-Identifier: Apache-2.0
// docs/internals/ops.md says what the registry says. With BUDA_UPDATE_DOCS=1 in the environment it is written anew.
#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace buda::ops {
namespace {

std::string inputs_text(const OpDef& def) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < def.inputs.size(); ++i) {
    bool optional = i >= def.least_inputs;
    parts.push_back(optional ? cat('[', def.inputs[i], ']') : def.inputs[i]);
  }
  return cat(join(parts, ", "), def.most_inputs == kAnyNumber ? ", …" : "");
}

// A list as a set of alternatives would break the table's columns: only the bar needs care.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string attrs_text(const OpDef& def) {
  std::vector<std::string> parts;
  for (const auto& attr : def.attrs) {
    std::string part = cat('`', attr.name, "`: ", attr.doc);
    if (!attr.choices.empty()) {
      std::vector<std::string> words;
      for (const auto& c : attr.choices) words.push_back(cat('"', c, '"'));
      part += cat(" (", join(words, ", "), ')');
    }
    part += attr.standard ? cat("; `", graph::attr_text(*attr.standard), '`') : "; needed";
    parts.push_back(std::move(part));
  }
  return join(parts, "<br>");
}

std::string reference() {
  std::string out =
      "# Operations\n\nWritten by `unit_ops` from the registry (`core/buda/ops`); do not edit. Inputs in brackets may be left out. An "
      "attribute's "
      "standard value\nfollows its meaning. Floating-point results are computed in fp32 (F64: in fp64), integers exactly where an "
      "operation takes "
      "them.\n";
  std::string heading;
  for (const OpDef* def : standard_ops().all()) {
    std::string wanted = cat(def->level == Level::tensor ? "Tensor level: " : "Device level: ", def->family);
    if (wanted != heading) out += cat("\n## ", wanted, "\n\n| operation | inputs | meaning | attributes |\n|---|---|---|---|\n");
    heading = wanted;
    out += cat("| `", def->name, "` | ", inputs_text(*def), " | ", cell(def->summary), " | ", cell(attrs_text(*def)), " |\n");
  }
  return out;
}

TEST(Reference, IsWhatTheRegistrySays) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  std::string path = cat(source, "/docs/internals/ops.md");
  auto fs = io::make_real_file_system();
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(fs->write(path, reference()));
    return;
  }
  auto page = fs->read(path);
  ASSERT_TRUE(page);
  EXPECT_EQ(std::string(page->view()), reference()) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.ops`";
}

}  // namespace
}  // namespace buda::ops
