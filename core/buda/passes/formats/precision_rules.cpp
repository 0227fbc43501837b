// SPDX-License-Identifier: Apache-2.0
// Reading rules, the switches' rules, and matching.
#include <buda/passes/formats/precision_rules.hpp>

#include <buda/base/pattern.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/io/yaml.hpp>
#include <buda/ops/table/registry.hpp>

#include <algorithm>
#include <memory>

namespace buda::passes {
namespace {

using graph::Node;

// ---- reading

const std::vector<std::string>& rule_keys() {
  static const std::vector<std::string> keys = {"op_type",       "name_regex", "name_regex_match", "layer",
                                                "epoch_type",    "output_df",  "intermediate_df",  "accumulate_df",
                                                "math_fidelity", "input_df",   "is_gradient_op",   "input_parameter_indices_to_optimize"};
  return keys;
}

// Reads one rule and collects what is wrong with it.
class RuleReader {
 public:
  Result<PrecisionRule> read(const io::Node& node) {
    if (!node.is_map()) return error(cat("expected a map such as {op_type: matmul, output_df: Bfp8_b}, found ", node.describe()));
    for (std::size_t i = 0; i < node.size(); ++i) member(node.keys()[i], node.items()[i]);
    bool acts = rule_.output_df || rule_.intermediate_df || rule_.accumulate_df || rule_.math_fidelity || rule_.input_df ||
                !rule_.input_dfs.empty() || !rule_.parameter_bits.empty();
    if (!acts && failure_.empty())
      failure_.add(
          error("it sets nothing; give output_df, intermediate_df, accumulate_df, math_fidelity, input_df or "
                "input_parameter_indices_to_optimize"));
    if (!failure_.empty()) return failure_;
    return std::move(rule_);
  }

 private:
  static Diagnostic error(std::string message) { return usage_error("PA050", std::move(message)); }

  void member(const std::string& key, const io::Node& value) {
    if (key == "op_type")
      rule_.op_type = text(key, value);
    else if (key == "name_regex" || key == "name_regex_match")
      rule_.name_regex = expression(key, value);
    else if (key == "layer")
      rule_.layer = expression(key, value);
    else if (key == "epoch_type")
      rule_.epoch_type = epoch_type(value);
    else if (key == "is_gradient_op")
      rule_.is_gradient_op = truth(key, value);
    else if (key == "output_df")
      rule_.output_df = format(key, value);
    else if (key == "intermediate_df")
      rule_.intermediate_df = format(key, value);
    else if (key == "accumulate_df")
      rule_.accumulate_df = format(key, value);
    else if (key == "math_fidelity")
      rule_.math_fidelity = fidelity(value);
    else if (key == "input_df")
      read_input_df(value);
    else if (key == "input_parameter_indices_to_optimize")
      read_parameters(value);
    else {
      Diagnostic d = error(cat("there is no key '", key, "'; known: ", join(rule_keys(), ", ")));
      if (auto near = nearest_word(key, rule_keys())) d.hint = cat("did you mean '", *near, "'?");
      failure_.add(std::move(d));
    }
  }

  void wrong(const std::string& key, std::string_view expected, const io::Node& value) {
    failure_.add(error(cat("'", key, "': expected ", expected, ", found ", value.describe())));
  }

  std::optional<std::string> text(const std::string& key, const io::Node& value) {
    if (value.is_scalar() && !value.is_null()) return value.text();
    wrong(key, "a text", value);
    return std::nullopt;
  }

  std::optional<std::string> expression(const std::string& key, const io::Node& value) {
    auto pattern = text(key, value);
    if (!pattern) return std::nullopt;
    PrecisionRule probe;
    probe.name_regex = *pattern;
    if (auto compiled = selector(probe); !compiled) {
      for (const Diagnostic& d : compiled.failure().diagnostics()) failure_.add(error(cat("'", key, "': ", d.message)));
      return std::nullopt;
    }
    return pattern;
  }

  std::optional<std::string> epoch_type(const io::Node& value) {
    static const std::vector<std::string> types = {"Forward", "Backward", "Optimizer"};
    if (value.is_scalar() && std::find(types.begin(), types.end(), value.text()) != types.end()) return value.text();
    wrong("epoch_type", join(types, ", "), value);
    return std::nullopt;
  }

  std::optional<bool> truth(const std::string& key, const io::Node& value) {
    if (auto b = value.as_bool()) return *b;
    wrong(key, "true or false", value);
    return std::nullopt;
  }

  std::optional<DataFormat> format(const std::string& key, const io::Node& value) {
    if (!value.is_scalar()) {
      wrong(key, "a data format", value);
      return std::nullopt;
    }
    auto f = format_from_name(value.text());
    if (f) return *f;
    for (const Diagnostic& d : f.failure().diagnostics()) {
      Diagnostic own = error(cat("'", key, "': ", d.message));
      own.hint = d.hint;
      failure_.add(std::move(own));
    }
    return std::nullopt;
  }

  std::optional<graph::MathFidelity> fidelity(const io::Node& value) {
    auto f = value.is_scalar() ? graph::fidelity_from_name(value.text()) : std::nullopt;
    if (!f) wrong("math_fidelity", "LoFi, HiFi2, HiFi3 or HiFi4", value);
    return f;
  }

  static std::optional<std::int64_t> operand(std::string_view name) {
    auto i = parse_int(name);
    return i && *i >= 0 && *i <= 1024 ? i : std::nullopt;
  }

  void read_input_df(const io::Node& value) {
    if (!value.is_map()) {
      rule_.input_df = format("input_df", value);
      return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      const io::Node& item = value.items()[i];
      auto index = operand(value.keys()[i]);
      bool pair = item.is_list() && item.size() == 2 && item.items()[1].as_bool().ok();
      if (!index || (!item.is_scalar() && !pair)) {
        failure_.add(error(cat("'input_df': expected {operand: format} or {operand: [format, true]}, found '", value.keys()[i], ": ",
                               io::yaml_flow(item), "'")));
        continue;
      }
      if (auto f = format("input_df", pair ? item.items()[0] : item)) rule_.input_dfs[*index] = {*f, pair && *item.items()[1].as_bool()};
    }
  }

  void read_parameters(const io::Node& value) {
    bool fine = value.is_list();
    if (fine)
      for (const io::Node& item : value.items()) {
        auto index = item.is_list() && item.size() == 2 ? operand(item.items()[0].text()) : std::nullopt;
        auto bits = index ? parse_int(item.items()[1].text()) : std::nullopt;
        fine = fine && bits && (*bits == 8 || *bits == 4 || *bits == 2);
        if (fine) rule_.parameter_bits[*index] = *bits;
      }
    if (!fine) wrong("input_parameter_indices_to_optimize", "a list of [operand, bits] with 8, 4 or 2 bits", value);
  }

  PrecisionRule rule_;
  Failure failure_;
};

Result<io::Node> parsed(std::string_view text) {
  auto node = io::parse_yaml(text, "");
  if (node) return node;
  Failure failure;
  for (const Diagnostic& d : node.failure().diagnostics()) failure.add(usage_error("PA050", d.message));
  return failure;
}

// ---- matching

Result<Pattern> compiled(const std::string& text) {
  std::string why;
  if (auto pattern = Pattern::compile(text, &why)) return *pattern;
  return usage_error("PA050", cat('\'', text, "' is not a regular expression: ", why));
}

// What a training step does not tag is the model's.
std::string_view epoch_type_of(const Node& n) {
  const auto tag = n.tags.find(graph::kPhase);
  if (tag == n.tags.end()) return "Forward";
  return tag->second == graph::kPhaseOptimizer ? "Optimizer" : tag->second == graph::kPhaseBackward ? "Backward" : "Forward";
}

}  // namespace

Result<PrecisionRule> parse_precision_rule(std::string_view text) {
  BUDA_ASSIGN(io::Node node, parsed(text));
  return RuleReader().read(node);
}

Result<std::vector<PrecisionRule>> parse_precision_rules(std::string_view text) {
  BUDA_ASSIGN(io::Node node, parsed(text));
  std::vector<PrecisionRule> rules;
  if (!node.is_list()) {
    BUDA_ASSIGN(PrecisionRule rule, RuleReader().read(node));
    rules.push_back(std::move(rule));
    return rules;
  }
  Failure failure;
  for (const io::Node& item : node.items()) {
    auto rule = RuleReader().read(item);
    if (rule) {
      rules.push_back(std::move(*rule));
    } else {
      failure.add(std::move(rule).failure());
    }
  }
  if (!failure.empty()) return failure;
  return rules;
}

Result<RuleSelector> selector(const PrecisionRule& rule) {
  std::optional<Pattern> name, layer;
  if (rule.name_regex && !rule.name_regex->empty()) {
    BUDA_ASSIGN(name, compiled(*rule.name_regex));
  }
  if (rule.layer && !rule.layer->empty()) {
    BUDA_ASSIGN(layer, compiled(*rule.layer));
  }
  return RuleSelector([=, op = rule.op_type, phase = rule.epoch_type, adds_up = rule.is_gradient_op](const Node& n) {
    if (phase && *phase != epoch_type_of(n)) return false;
    if (adds_up && *adds_up != graph::adds_up_gradients(n)) return false;
    if (op && n.op() != *op) {
      auto tag = n.tags.find(kOriginalOpType);
      if (tag == n.tags.end() || tag->second != *op) return false;
    }
    if (layer) {
      auto tag = n.tags.find(kLayer);
      if (tag == n.tags.end() || !layer->matches(tag->second)) return false;
    }
    return !name || name->matches(n.name()) ||
           std::any_of(n.origins.begin(), n.origins.end(), [&](const graph::Origin& o) { return name->matches(o.node); });
  });
}

// ---- formats

DataFormat block_format(std::int64_t bits, ExponentFamily family) {
  bool a = family == ExponentFamily::a;
  if (bits == 2) return a ? DataFormat::bfp2 : DataFormat::bfp2_b;
  if (bits == 4) return a ? DataFormat::bfp4 : DataFormat::bfp4_b;
  return a ? DataFormat::bfp8 : DataFormat::bfp8_b;
}

DataFormat half_format(ExponentFamily family) { return family == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b; }

DataFormat in_family(DataFormat f, ExponentFamily family) {
  if (family == ExponentFamily::none || exponent_family(f) == ExponentFamily::none || exponent_family(f) == family) return f;
  return bits_per_datum(f) >= 16 ? half_format(family) : block_format(bits_per_datum(f), family);
}

DataFormat unblocked(DataFormat f) { return is_bfp(f) ? half_format(exponent_family(f)) : f; }

// ---- switches

std::vector<PrecisionRule> amp_light_rules(std::int64_t level) {
  if (level < 1) return {};
  PrecisionRule rule;
  rule.title = cat("amp-light ", level);
  rule.op_type = "matmul";
  rule.parameter_bits = {{1, level == 1 ? 8 : 4}, {2, level == 1 ? 8 : 4}};
  rule.math_fidelity = level == 1 ? graph::MathFidelity::hifi2 : graph::MathFidelity::lofi;
  return {rule};
}

std::vector<PrecisionRule> amp_level_rules(std::int64_t level, ExponentFamily family) {
  if (level < 1) return {};
  PrecisionRule basis;
  basis.title = cat("amp-level ", level);
  PrecisionRule rest = basis;
  rest.output_df = block_format(8, family);
  PrecisionRule product = basis;
  product.op_type = "matmul";
  product.math_fidelity = graph::MathFidelity::hifi2;
  std::vector<PrecisionRule> rules = {rest, product};
  for (const ops::OpDef* op : ops::standard_ops().all()) {
    if (!op->precise) continue;
    PrecisionRule fine = basis;
    fine.op_type = op->name;
    fine.output_df = fine.intermediate_df = fine.accumulate_df = half_format(family);
    rules.push_back(fine);
  }
  return rules;
}

std::vector<PrecisionRule> bfp8_conversion_rules() {
  PrecisionRule rule;
  rule.title = "enable-bfp8-conversion";
  rule.op_type = std::string(graph::kParameterOp);
  rule.output_bits = 8;
  return {rule};
}

}  // namespace buda::passes
