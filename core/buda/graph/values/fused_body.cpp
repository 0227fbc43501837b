// SPDX-License-Identifier: Apache-2.0
// Bodies of fused ops as texts: parsing and writing.
#include <buda/graph/values/fused_body.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <optional>
#include <utility>

namespace buda::graph {
namespace {

using Kind = FusedOperand::Kind;

Diagnostic body_error(std::string message) { return input_error("GR030", {}, std::move(message)); }

std::optional<FusedOperand> operand(std::string_view name) {
  if (name == "dest") return FusedOperand{Kind::dest, 0};
  if (name == "output") return FusedOperand{Kind::output, 0};
  for (auto [prefix, kind] : {std::pair{std::string_view("intermed"), Kind::intermed}, std::pair{std::string_view("input"), Kind::input}}) {
    if (!name.starts_with(prefix)) continue;
    auto index = parse_int(name.substr(prefix.size()));
    if (index && *index >= 0 && *index < 1024) return FusedOperand{kind, *index};
  }
  return std::nullopt;
}

Result<std::vector<FusedOperand>> operands(const io::Node& node, const std::string& what) {
  std::vector<FusedOperand> out;
  if (!node.is_list()) return body_error(cat(what, ": expected a list, found ", node.describe()));
  for (const io::Node& item : node.items()) {
    auto o = item.is_scalar() ? operand(item.text()) : std::nullopt;
    if (!o) return body_error(cat(what, ": ", item.describe(), " is not one of inputN, intermedN, dest, output"));
    out.push_back(*o);
  }
  return out;
}

Result<Attr> attribute(const std::string& name, const io::Node& value) {
  switch (value.kind()) {
    case io::Node::Kind::boolean: {
      BUDA_ASSIGN(bool v, value.as_bool());
      return Attr(v);
    }
    case io::Node::Kind::integer: {
      BUDA_ASSIGN(std::int64_t v, value.as_int());
      return Attr(v);
    }
    case io::Node::Kind::real: {
      BUDA_ASSIGN(double v, value.as_double());
      return Attr(v);
    }
    case io::Node::Kind::string:
      // "nan", "inf" and "-inf", which no attribute has as a word.
      if (auto v = value.as_double()) return Attr(*v);
      return Attr(value.text());
    default:
      return body_error(cat("attribute '", name, "': expected a number, a word, true or false, found ", value.describe()));
  }
}

Result<FusedSubOp> sub_op(const std::string& text) {
  BUDA_ASSIGN(io::Node node, io::parse_yaml(text, ""));
  if (!node.is_map()) return body_error(cat("expected a map, found ", node.describe()));
  FusedSubOp out;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    const io::Node& value = node.items()[i];
    if (key == "type" && value.is_scalar()) {
      out.type = value.text();
    } else if (key == "name" && value.is_scalar()) {
      out.name = value.text();
    } else if (key == "inputs") {
      BUDA_ASSIGN(out.inputs, operands(value, key));
    } else if (key == "pop") {
      BUDA_ASSIGN(out.pop, operands(value, key));
    } else if (key == "output" && value.is_scalar() && operand(value.text())) {
      out.output = *operand(value.text());
    } else if (key == "attributes" && value.is_map()) {
      for (std::size_t k = 0; k < value.size(); ++k) {
        BUDA_ASSIGN(out.attrs[value.keys()[k]], attribute(value.keys()[k], value.items()[k]));
      }
    } else {
      return body_error(
          cat("'", key, ": ", io::yaml_flow(value), "' is not understood; keys are name, type, inputs, pop, output, attributes"));
    }
  }
  return out;
}

std::string list_of(const std::vector<FusedOperand>& list) {
  std::vector<std::string> names;
  for (const FusedOperand& o : list) names.push_back(text(o));
  return cat('[', join(names, ", "), ']');
}

}  // namespace

std::string text(const FusedOperand& o) {
  switch (o.kind) {
    case Kind::input:
      return cat("input", o.index);
    case Kind::intermed:
      return cat("intermed", o.index);
    case Kind::dest:
      return "dest";
    case Kind::output:
      break;
  }
  return "output";
}

std::string text(const FusedSubOp& s) {
  std::string out = cat("{name: ", io::yaml_scalar(s.name), ", type: ", s.type, ", inputs: ", list_of(s.inputs));
  if (!s.pop.empty()) out += cat(", pop: ", list_of(s.pop));
  out += cat(", output: ", text(s.output));
  std::vector<std::string> attrs;
  for (const auto& [name, value] : s.attrs) {
    const auto* word = std::get_if<std::string>(&value);
    attrs.push_back(cat(name, ": ", word != nullptr ? io::yaml_scalar(*word) : attr_text(value)));
  }
  if (!attrs.empty()) out += cat(", attributes: {", join(attrs, ", "), '}');
  return out + '}';
}

Result<AttrMap> fused_attrs_from_file(AttrMap attrs) {
  auto list = attrs.find(kSubOps), buffers = attrs.find(kIntermediates);
  if (list == attrs.end() || !std::holds_alternative<std::vector<std::string>>(list->second)) return attrs;
  FusedBody body;
  if (buffers != attrs.end()) {
    const auto* n = std::get_if<std::int64_t>(&buffers->second);
    if (n == nullptr) return body_error(cat("'", kIntermediates, "' is an integer, not ", attr_text(buffers->second)));
    body.intermediates = *n;
    attrs.erase(buffers);
  }
  const auto& texts = std::get<std::vector<std::string>>(list->second);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto step = sub_op(texts[i]);
    if (!step) {
      for (Diagnostic& d : step.failure().diagnostics()) {
        d.message = cat("sub-op ", i, " of '", kSubOps, "': ", d.message);
        d.loc = {};
      }
      return std::move(step).failure();
    }
    body.steps.push_back(std::move(*step));
  }
  list->second = SharedBody(std::move(body));
  return attrs;
}

AttrMap fused_attrs_for_file(const AttrMap& attrs) {
  auto found = attrs.find(kSubOps);
  const auto* body = found == attrs.end() ? nullptr : std::get_if<SharedBody>(&found->second);
  if (body == nullptr) return attrs;
  std::vector<std::string> texts;
  for (const FusedSubOp& s : (*body)->steps) texts.push_back(text(s));
  AttrMap out = attrs;
  out[std::string(kSubOps)] = std::move(texts);
  out[std::string(kIntermediates)] = (*body)->intermediates;
  return out;
}

}  // namespace buda::graph
