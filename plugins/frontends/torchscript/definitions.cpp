// SPDX-License-Identifier: Apache-2.0
// The programs are parsed once. They are checked by a test that imports each: a fault in them would be ours.
#include "definitions.hpp"

#include "definition_texts.hpp"
#include "parser.hpp"

#include <deque>
#include <map>
#include <string>

namespace buda::torchscript {
namespace {

// Notes of lists of what is read.
constexpr std::pair<std::string_view, std::string_view> kNotes[] = {
    {"diagonal_scatter", "into the main diagonal of the first two axes"},
    {"inverse", "of matrices of up to four rows"},
    {"linalg_inv", "of matrices of up to four rows"},
    {"linalg_matrix_norm", "of order 'fro', 1 and infinity"},
    {"linalg_matrix_power", "of powers that are not negative, and of inverses of up to four rows"},
    {"linalg_norm", "of order 'fro' and numbers"},
    {"linalg_solve", "of up to four unknowns"},
    {"native_batch_norm", "not in training mode"},
    {"renorm", "p of 1, 2 and infinity"},
};

struct Defined {
  Program program;
  std::map<std::string_view, const Function*> functions;  // by the operator's name
  std::deque<OpImporter> rows;
};

const Defined& all_definitions() {
  static const auto* built = [] {
    auto* out = new Defined;
    const std::string prefix = "defined";
    for (std::string_view text : definition_texts()) {
      // Not an error that a user could cause: without the program its operators would be reported as not read.
      auto parsed = parse_text(text, prefix, out->program);
      static_cast<void>(parsed);
    }
    for (const auto& [full, function] : out->program.functions) {
      const std::string_view name = std::string_view(full).substr(prefix.size() + 1);
      out->functions.emplace(name, &function);
      if (name.starts_with('_')) continue;
      OpImporter row{.name = name, .parameters = {}};
      for (const auto& [of, note] : kNotes)
        if (of == name) row.notes = note;
      out->rows.push_back(row);
    }
    return out;
  }();
  return *built;
}

}  // namespace

const Function* find_definition(std::string_view name) {
  const auto& functions = all_definitions().functions;
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : it->second;
}

std::vector<const OpImporter*> defined_ops() {
  std::vector<const OpImporter*> out;
  for (const OpImporter& row : all_definitions().rows) out.push_back(&row);
  return out;
}

}  // namespace buda::torchscript
