// SPDX-License-Identifier: Apache-2.0
// The rules that a fused op's body obeys.
#include <buda/ops/device/fused_body.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/registry.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

using Kind = FusedOperand::Kind;

Diagnostic body_error(std::string message) { return input_error("OP070", {}, std::move(message)); }

// A sub-op against the definition of its device op.
Result<void> check_sub_op(const FusedSubOp& s) {
  if (s.type.empty() || s.type == kFusedOp) return body_error("it needs a 'type', which is a device op");
  BUDA_ASSIGN(const OpDef* def, standard_ops().require(Level::device, s.type));
  BUDA_TRY(check_attrs(*def, s.attrs));
  if (s.inputs.size() < def->least_inputs || s.inputs.size() > def->most_inputs)
    return body_error(cat("'", s.type, "' takes ", def->least_inputs, " inputs, not ", s.inputs.size()));
  return success();
}

// Goes through the steps with the contents of the buffers and of the register.
class BodyCheck {
 public:
  BodyCheck(const FusedBody& body, std::size_t inputs) : body_(body), inputs_(static_cast<std::int64_t>(inputs)) {}

  Result<void> run() {
    if (body_.steps.empty()) return body_error("it has no sub-ops");
    if (body_.intermediates < 0 || body_.intermediates > kMaxIntermediates)
      return body_error(cat("'", graph::kIntermediates, "' is ", body_.intermediates, "; 0 to ", kMaxIntermediates, " are possible"));
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
      if (!there) return body_error(cat("'", graph::text(in), "' has no value here"));
    }
    for (const FusedOperand& p : s.pop) {
      if (p.kind != Kind::intermed || std::find(s.inputs.begin(), s.inputs.end(), p) == s.inputs.end())
        return body_error(cat("it pops '", graph::text(p), "', which is no intermediate that it reads"));
      full_[static_cast<std::size_t>(p.index)] = 0;
    }
    dest_ = s.output.kind == Kind::dest;
    if (last != (s.output.kind == Kind::output)) return body_error("the last sub-op, and no other, writes 'output'");
    if (s.output.kind == Kind::input) return body_error("an input cannot be written");
    if (s.output.kind != Kind::intermed) return success();
    if (s.output.index >= body_.intermediates) return body_error(cat("there is no '", graph::text(s.output), "'"));
    char& full = full_[static_cast<std::size_t>(s.output.index)];
    if (full != 0) return body_error(cat("'", graph::text(s.output), "' is written again before it is popped"));
    full = 1;
    return success();
  }

  const FusedBody& body_;
  std::int64_t inputs_;
  std::vector<char> full_;
  bool dest_ = false;
};

}  // namespace

Result<void> check_fused_body(const FusedBody& body, std::size_t inputs) {
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    auto sound = check_sub_op(body.steps[i]);
    if (sound) continue;
    for (Diagnostic& d : sound.failure().diagnostics()) d.message = cat("sub-op ", i, " of '", graph::kSubOps, "': ", d.message);
    return sound;
  }
  return BodyCheck(body, inputs).run();
}

Result<graph::SharedBody> fused_body(const graph::AttrMap& attrs, std::size_t inputs) {
  auto found = attrs.find(graph::kSubOps);
  const auto* body = found == attrs.end() ? nullptr : std::get_if<graph::SharedBody>(&found->second);
  if (body == nullptr) return body_error(cat("the attribute '", graph::kSubOps, "' is missing, or is not a list of strings"));
  BUDA_TRY(check_fused_body(**body, inputs));
  return *body;
}

}  // namespace buda::ops
