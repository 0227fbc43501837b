// SPDX-License-Identifier: Apache-2.0
// Reading test-config.
#include <buda/runtime/session/test_config.hpp>

#include <buda/base/pattern.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::runtime {
namespace {

using JsonNode = io::Node;

constexpr const char* kCode = "RT030";

Result<TileRange> tile_range(const JsonNode& node) {
  if (!node.is_list() || node.size() != 2) return node_error(kCode, node, cat("a range is [first, last], not ", node.describe()));
  BUDA_ASSIGN(auto first, node.items()[0].as_int());
  BUDA_ASSIGN(auto last, node.items()[1].as_int());
  if (first < 1 || last < first || last > 32)
    return node_error(kCode, node, cat("rows and columns of a tile count from 1 to 32; the range is [", first, ", ", last, "]"));
  return TileRange{static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)};
}

Diagnostic unknown(const JsonNode& node, const char* what, const std::string& word, const std::vector<std::string>& known) {
  Diagnostic d = node_error(kCode, node, cat("there is no ", what, " '", word, "'; there are ", join(known, ", ")));
  if (auto near = nearest_word(word, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

template <class T>
struct Row {
  const char* key;
  Result<void> (*read)(const JsonNode& node, T& out);
};

template <auto member, class T>
Result<void> real(const JsonNode& node, T& out) {
  BUDA_ASSIGN(out.*member, node.as_double());
  return success();
}
template <auto member, class T>
Result<void> range(const JsonNode& node, T& out) {
  BUDA_ASSIGN(out.*member, tile_range(node));
  return success();
}
template <class T>
Result<void> ignored(const JsonNode&, T&) {
  return success();
}

Result<void> stimulus_kind(const JsonNode& node, Stimulus& out) {
  static const std::vector<std::pair<std::string, Stimulus::Kind>> kinds = {
      {"uniform", Stimulus::Kind::uniform},
      {"normal", Stimulus::Kind::normal},
      {"constant", Stimulus::Kind::constant},
      {"debugtileid", Stimulus::Kind::tile_id},
      {"sparse", Stimulus::Kind::sparse},
      {"sparse_encoding", Stimulus::Kind::sparse_encoding},
      {"sparse_encoding_nz_counts", Stimulus::Kind::sparse_encoding},
      {"step", Stimulus::Kind::step},
      {"steprowwise", Stimulus::Kind::step_rows},
      {"stepcolumnwise", Stimulus::Kind::step_columns},
  };
  BUDA_ASSIGN(auto word, node.as_name());
  std::vector<std::string> known;
  for (const auto& [name, kind] : kinds) {
    if (name == to_lower(word)) {
      out.kind = kind;
      return success();
    }
    known.push_back(name);
  }
  return unknown(node, "stimulus", word, known);
}

Result<void> comparison_kind(const JsonNode& node, ComparisonConfig& out) {
  BUDA_ASSIGN(auto word, node.as_name());
  const std::string lower = to_lower(word);
  if (lower == "exact") {
    out.kind = ComparisonConfig::Kind::exact;
  } else if (lower == "allclose" || lower == "allclosehw") {
    out.kind = ComparisonConfig::Kind::all_close;
  } else {
    return unknown(node, "comparison", word, {"Exact", "AllClose", "AllCloseHw"});
  }
  return success();
}

const std::vector<Row<Stimulus>>& rows(const Stimulus*) {
  static const std::vector<Row<Stimulus>> table = {
      {"type", stimulus_kind},
      {"uniform_lower_bound", real<&Stimulus::low>},
      {"uniform_upper_bound", real<&Stimulus::high>},
      {"normal_mean", real<&Stimulus::mean>},
      {"normal_stddev", real<&Stimulus::deviation>},
      {"constant_value", real<&Stimulus::value>},
      {"debug_tile_id_base", real<&Stimulus::id_base>},
      {"debug_tile_id_step", real<&Stimulus::id_step>},
      {"step_start", real<&Stimulus::start>},
      {"step_increment", real<&Stimulus::increment>},
      {"set_tile_rows", range<&Stimulus::rows>},
      {"set_tile_cols", range<&Stimulus::cols>},
      {"matmul_ident_name",
       [](const JsonNode& node, Stimulus& out) -> Result<void> {
         BUDA_ASSIGN(out.op, node.as_name());
         return success();
       }},
      {"zero_strip_freq", real<&Stimulus::zero_strips>},
      {"zero_ublock_freq", real<&Stimulus::zero_ublocks>},
      {"zero_tile_freq", real<&Stimulus::zero_tiles>},
      {"nz_strips", ignored<Stimulus>},
      {"nz_ublocks", ignored<Stimulus>},
      {"nz_tiles", ignored<Stimulus>},
      {"enc_tile_byte_size", ignored<Stimulus>},
  };
  return table;
}

const std::vector<Row<ComparisonConfig>>& rows(const ComparisonConfig*) {
  static const std::vector<Row<ComparisonConfig>> table = {
      {"type", comparison_kind},
      {"atol", real<&ComparisonConfig::atol>},
      {"rtol", real<&ComparisonConfig::rtol>},
      {"check_pct", real<&ComparisonConfig::close_fraction>},
      {"check_pcc", real<&ComparisonConfig::correlation>},
      {"check_tile_rows_range", range<&ComparisonConfig::rows>},
      {"check_tile_cols_range", range<&ComparisonConfig::cols>},
      {"verbosity", ignored<ComparisonConfig>},
      {"method", ignored<ComparisonConfig>},
      {"lhs_header", ignored<ComparisonConfig>},
      {"rhs_header", ignored<ComparisonConfig>},
  };
  return table;
}

template <class T>
Result<void> read_fields(const JsonNode& node, T& out) {
  const auto& table = rows(static_cast<const T*>(nullptr));
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    if (key == "overrides") continue;
    bool known = false;
    for (const auto& row : table) {
      if (key != row.key) continue;
      known = true;
      if (!node.items()[i].is_null()) BUDA_TRY(row.read(node.items()[i], out));
    }
    if (known) continue;
    std::vector<std::string> keys{"overrides"};
    for (const auto& row : table) keys.emplace_back(row.key);
    return unknown(node.items()[i], "key", key, keys);
  }
  return success();
}

template <class T>
Result<void> read_section(const JsonNode& node, PerQueue<T>& out) {
  if (node.is_null()) return success();
  if (!node.is_map()) return node_error(kCode, node, cat("a map is needed here, not ", node.describe()));
  T general;
  BUDA_TRY(read_fields(node, general));
  const JsonNode* overrides = node.find("overrides");
  if (node.size() > (overrides != nullptr ? 1u : 0u)) out.general = general;
  if (overrides == nullptr || !overrides->is_map()) return success();
  for (std::size_t i = 0; i < overrides->size(); ++i) {
    if (!overrides->items()[i].is_map())
      return node_error(kCode, overrides->items()[i], cat("a map is needed here, not ", overrides->items()[i].describe()));
    T own = general;
    BUDA_TRY(read_fields(overrides->items()[i], own));
    out.overrides.emplace_back(overrides->keys()[i], own);
  }
  return success();
}

std::vector<std::string> names(const JsonNode* node) {
  std::vector<std::string> out;
  if (node != nullptr)
    for (const JsonNode& item : node->items()) out.push_back(item.text());
  return out;
}

bool matches(const std::string& queue, const std::string& pattern) {
  const auto compiled = Pattern::compile(pattern);
  return compiled && compiled->occurs_in(queue);
}

}  // namespace

template <class T>
const T* PerQueue<T>::find(const std::string& queue) const {
  for (const auto& [name, value] : overrides)
    if (name == queue) return &value;
  for (const auto& [name, value] : overrides)
    if (matches(queue, name)) return &value;
  return general ? &*general : nullptr;
}
template struct PerQueue<Stimulus>;
template struct PerQueue<ComparisonConfig>;

Result<TestConfig> read_test_config(const netlist::Netlist& netlist) {
  TestConfig out;
  for (const auto& [name, section] : netlist.other) {
    if (name != "test-config" || !section.is_map()) continue;
    if (const JsonNode* args = section.find("test-args"); args != nullptr && args->is_map())
      for (std::size_t i = 0; i < args->size(); ++i) out.arguments[args->keys()[i]] = args->items()[i].text();
    if (const JsonNode* io = section.find("io-config"); io != nullptr && io->is_map()) {
      out.inputs = names(io->find("inputs"));
      out.outputs = names(io->find("outputs"));
    }
    if (const JsonNode* node = section.find("stimulus-config")) BUDA_TRY(read_section(*node, out.stimulus));
    if (const JsonNode* node = section.find("comparison-config")) BUDA_TRY(read_section(*node, out.comparison));
  }
  return out;
}

}  // namespace buda::runtime
