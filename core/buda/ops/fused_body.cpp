// Reading, checking and writing bodies of fused ops.
#include <buda/ops/fused_body.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/ops/registry.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

using graph::Attr;
using graph::AttrMap;
using Kind = FusedOperand::Kind;

Diagnostic body_error(std::string message) { return input_error("OP070", {}, std::move(message)); }

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
    if (!o) return body_error(cat(what, ": ", item.describe(), " is none of inputN, intermedN, dest, output"));
    out.push_back(*o);
  }
  return out;
}

// A value of the type that the definition gives the attribute.
Result<Attr> attribute(const OpDef& def, const std::string& name, const io::Node& value) {
  const AttrDef* found = def.attr(name);
  if (found == nullptr || !value.is_scalar()) return body_error(cat("'", def.name, "' has no attribute '", name, "'"));
  switch (found->type) {
    case graph::AttrType::boolean: {
      BUDA_ASSIGN(bool v, value.as_bool());
      return Attr(v);
    }
    case graph::AttrType::integer: {
      BUDA_ASSIGN(std::int64_t v, value.as_int());
      return Attr(v);
    }
    case graph::AttrType::real: {
      BUDA_ASSIGN(double v, value.as_double());
      return Attr(v);
    }
    case graph::AttrType::text:
      return Attr(value.text());
    default:
      return body_error(cat("attribute '", name, "' of '", def.name, "' cannot stand in a fused op"));
  }
}

Result<FusedSubOp> sub_op(const std::string& text) {
  BUDA_ASSIGN(io::Node node, io::parse_yaml(text, ""));
  if (!node.is_map()) return body_error(cat("expected a map, found ", node.describe()));
  FusedSubOp out;
  const OpDef* def = nullptr;
  if (const io::Node* type = node.find("type"); type != nullptr && type->is_scalar()) {
    out.type = type->text();
    BUDA_ASSIGN(def, standard_ops().require(Level::device, out.type));
  }
  if (def == nullptr || def->name == kFusedOp) return body_error("it needs a 'type', which is a device op");
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    const io::Node& value = node.items()[i];
    if (key == "type") continue;
    if (key == "name" && value.is_scalar()) {
      out.name = value.text();
    } else if (key == "inputs") {
      BUDA_ASSIGN(out.inputs, operands(value, key));
    } else if (key == "pop") {
      BUDA_ASSIGN(out.pop, operands(value, key));
    } else if (key == "output" && value.is_scalar() && operand(value.text())) {
      out.output = *operand(value.text());
    } else if (key == "attributes" && value.is_map()) {
      for (std::size_t k = 0; k < value.size(); ++k) {
        BUDA_ASSIGN(Attr attr, attribute(*def, value.keys()[k], value.items()[k]));
        out.attrs[value.keys()[k]] = std::move(attr);
      }
    } else {
      return body_error(
          cat("'", key, ": ", io::yaml_flow(value), "' is not understood; keys are name, type, inputs, pop, output, attributes"));
    }
  }
  BUDA_TRY(check_attrs(*def, out.attrs));
  if (out.inputs.size() < def->least_inputs || out.inputs.size() > def->most_inputs)
    return body_error(cat("'", out.type, "' takes ", def->least_inputs, " inputs, not ", out.inputs.size()));
  return out;
}

// Goes through the steps with what stands in the buffers and in the register.
class BodyCheck {
 public:
  BodyCheck(const FusedBody& body, std::size_t inputs) : body_(body), inputs_(static_cast<std::int64_t>(inputs)) {}

  Result<void> run() {
    if (body_.steps.empty()) return body_error("it has no sub-ops");
    if (body_.intermediates < 0 || body_.intermediates > kMostIntermediates)
      return body_error(cat("'", kIntermediates, "' is ", body_.intermediates, "; 0 to ", kMostIntermediates, " are possible"));
    full_.assign(static_cast<std::size_t>(body_.intermediates), 0);
    for (std::size_t i = 0; i < body_.steps.size(); ++i) {
      auto done = step(body_.steps[i], i + 1 == body_.steps.size());
      if (done) continue;
      for (Diagnostic& d : done.failure().diagnostics()) d.message = cat("sub-op '", body_.steps[i].name, "': ", d.message);
      return done;
    }
    if (std::find(full_.begin(), full_.end(), char{1}) != full_.end()) return body_error("an intermediate is never popped");
    return success();
  }

 private:
  Result<void> step(const FusedSubOp& s, bool last) {
    for (const FusedOperand& in : s.inputs) {
      bool there = in.kind == Kind::input      ? in.index < inputs_
                   : in.kind == Kind::dest     ? dest_
                   : in.kind == Kind::intermed ? in.index < body_.intermediates && full_[static_cast<std::size_t>(in.index)] != 0
                                               : false;
      if (!there) return body_error(cat("'", text(in), "' holds nothing here"));
    }
    for (const FusedOperand& p : s.pop) {
      if (p.kind != Kind::intermed || std::find(s.inputs.begin(), s.inputs.end(), p) == s.inputs.end())
        return body_error(cat("it pops '", text(p), "', which is no intermediate that it reads"));
      full_[static_cast<std::size_t>(p.index)] = 0;
    }
    dest_ = s.output.kind == Kind::dest;
    if (last != (s.output.kind == Kind::output)) return body_error("the last sub-op, and no other, writes 'output'");
    if (s.output.kind == Kind::input) return body_error("an input cannot be written");
    if (s.output.kind != Kind::intermed) return success();
    if (s.output.index >= body_.intermediates) return body_error(cat("there is no '", text(s.output), "'"));
    char& full = full_[static_cast<std::size_t>(s.output.index)];
    if (full != 0) return body_error(cat("'", text(s.output), "' is written again before it is popped"));
    full = 1;
    return success();
  }

  const FusedBody& body_;
  std::int64_t inputs_;
  std::vector<char> full_;
  bool dest_ = false;
};

std::string list_of(const std::vector<FusedOperand>& list) {
  std::vector<std::string> names;
  for (const FusedOperand& o : list) names.push_back(text(o));
  return cat('[', join(names, ", "), ']');
}

std::string sub_op_text(const FusedSubOp& s) {
  std::string out = cat("{name: ", io::yaml_scalar(s.name), ", type: ", s.type, ", inputs: ", list_of(s.inputs));
  if (!s.pop.empty()) out += cat(", pop: ", list_of(s.pop));
  out += cat(", output: ", text(s.output));
  std::vector<std::string> attrs;
  for (const auto& [name, value] : s.attrs) {
    const auto* word = std::get_if<std::string>(&value);
    attrs.push_back(cat(name, ": ", word != nullptr ? io::yaml_scalar(*word) : graph::attr_text(value)));
  }
  if (!attrs.empty()) out += cat(", attributes: {", join(attrs, ", "), '}');
  return out + '}';
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

Result<FusedBody> read_fused_body(const AttrMap& attrs, std::size_t inputs) {
  FusedBody body;
  auto list = attrs.find(kSubOps), buffers = attrs.find(kIntermediates);
  const auto* texts = list == attrs.end() ? nullptr : std::get_if<std::vector<std::string>>(&list->second);
  if (texts == nullptr) return body_error(cat("the attribute '", kSubOps, "' is missing, or is no list of texts"));
  if (buffers != attrs.end())
    if (const auto* n = std::get_if<std::int64_t>(&buffers->second)) body.intermediates = *n;
  for (std::size_t i = 0; i < texts->size(); ++i) {
    auto step = sub_op((*texts)[i]);
    if (!step) {
      for (Diagnostic& d : step.failure().diagnostics()) {
        d.message = cat("sub-op ", i, " of '", kSubOps, "': ", d.message);
        d.loc = {};
      }
      return std::move(step).failure();
    }
    body.steps.push_back(std::move(*step));
  }
  BUDA_TRY(BodyCheck(body, inputs).run());
  return body;
}

AttrMap fused_attrs(const FusedBody& body) {
  std::vector<std::string> texts;
  for (const FusedSubOp& s : body.steps) texts.push_back(sub_op_text(s));
  return {{std::string(kSubOps), std::move(texts)}, {std::string(kIntermediates), body.intermediates}};
}

}  // namespace buda::ops
