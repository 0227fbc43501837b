// SPDX-License-Identifier: Apache-2.0
// Judging one recipe.
#include "judge.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>

#include "borders.hpp"
#include "integers.hpp"
#include "ranges.hpp"
#include "reduce.hpp"
#include "specials.hpp"

#include <algorithm>

namespace buda::trial {
namespace {

std::string message_of(const Failure& failure) {
  const Diagnostic& d = failure.diagnostics().front();
  return cat("[", d.code, "] ", d.node.empty() ? "" : cat(d.node, ": "), d.message);
}

// "refused BL012": a failure's code says its kind.
std::string what_of(const char* verb, const Failure& failure) { return cat(verb, " ", failure.diagnostics().front().code); }

// With another number in the last place.
Tensor disturbed(const Tensor& t) {
  std::string bytes(t.bytes());
  bytes[bytes.size() - dtype_size(t.dtype())] ^= 1;
  auto changed = Tensor::from_bytes(t.dtype(), t.shape(), io::Bytes(std::move(bytes)));
  return changed ? *changed : t;
}

std::string chain_of(const Recipe& recipe) {
  constexpr std::size_t kMaxNamed = 3;
  std::vector<std::string> ops;
  for (const Step& step : recipe.steps)
    if (step.kind == StepKind::op) ops.push_back(step.op);
  if (ops.size() > kMaxNamed) ops = {cat("… ", ops.size() - 1, " ops"), ops.back()};
  return join(ops, " > ");
}

// Where an op is: on the chip, on the host, or on the host only since its neighbours are. The compiler tells the first op of each kind that
// it sends there; so an op of which it told nothing is taken along where it told nothing of another one of its kind either.
std::string place_of(const Recipe& recipe, const Compiled& model, std::size_t step) {
  if (!model.host_nodes.contains(node_name(step))) return "chip";
  for (std::size_t i = 0; i < recipe.steps.size(); ++i)
    if (recipe.steps[i].op == recipe.steps[step].op && model.notes.contains(node_name(i))) return "host";
  return "along";
}

}  // namespace

Recipe recipe_of(Suite suite, std::uint64_t seed) {
  if (suite == Suite::borders) return border_recipe(seed);
  return suite == Suite::integers ? integer_recipe(seed) : special_recipe(seed);
}

Result<Judge> Judge::make(JudgeOptions options, Toolchain& toolchain) {
  Judge out(std::move(options), toolchain);
  for (const std::string& name : out.options_.devices) {
    BUDA_ASSIGN(auto descriptor, device::load_device(*toolchain.host, name));
    out.chips_.push_back({name, std::move(descriptor)});
  }
  const bool golden = out.options_.target == "golden";
  if (!golden) out.options_.modes = {out.options_.target};
  for (const std::string& name : out.options_.modes) {
    schema::OptionValues values = out.options_.target_options;
    if (golden) values.set("mode", name);
    BUDA_ASSIGN(auto target, plugin::make(toolchain.plugins, toolchain.plugins.targets, plugin::Kind::target, out.options_.target, values,
                                          *toolchain.host));
    out.modes_.push_back({name, std::move(target)});
  }
  return out;
}

Judge::Outcome Judge::outcome(const Recipe& recipe, const Compiled& model, const Chip& chip, const Mode& mode) {
  Outcome out;
  out.port = recipe.outputs.back();
  auto outputs = run(model, recipe, *mode.target, chip.descriptor, *toolchain_);
  if (!outputs) {
    out.what = what_of("run", outputs.failure());
    out.message = message_of(outputs.failure());
    return out;
  }
  out.outputs = std::move(*outputs);
  if (options_.disturbed)
    for (auto& [name, tensor] : out.outputs) tensor = disturbed(tensor);
  if (auto d = first_difference(recipe, out.outputs, options_.suite)) {
    out.what = options_.suite != Suite::special && d->what != "index out of range" ? "differs" : d->what;
    out.message = d->message;
    out.port = d->port;
  }
  return out;
}

Judge::Outcome Judge::compiled_and_run(const Recipe& recipe, const Chip& chip, const Mode& mode) {
  auto model = compiled(recipe, chip.name, options_.compile, *toolchain_);
  if (model) return outcome(recipe, *model, chip, mode);
  return {what_of("compile", model.failure()), message_of(model.failure()), recipe.outputs.back(), {}};
}

Finding Judge::fault(const Recipe& recipe, const Chip& chip, const Mode& mode, const Outcome& found) {
  const std::string verb = found.what.substr(0, found.what.find(' '));
  Recipe small = recipe;
  Outcome last = found;
  if (options_.reduce)
    small = reduced(recipe, [&](const Recipe& r) {
      Outcome o = compiled_and_run(r, chip, mode);
      const bool same = !o.what.empty() && (verb == "compile" || verb == "run" ? o.what == found.what : !o.outputs.empty());
      if (same) last = std::move(o);
      return same;
    });
  const Step& step = small.steps[last.port.step];
  const Tensor& operand = small.value(step.op == "where" ? step.inputs.back() : step.inputs.front());
  std::string range = cat("b", bits_of_step(small, intervals_of(small), last.port.step));
  if (options_.suite == Suite::special) range = join(specials_in(small), " ");
  return {cat(chain_of(small), "|", dtype_name(operand.dtype()), "|", range, "|", chip.name, "|", mode.name, "|", last.what),
          cat(last.message, "\n", text_of(small))};
}

void Judge::count_places(const Recipe& recipe, const Compiled& model, const Chip& chip, Verdict& verdict) const {
  const auto intervals = intervals_of(recipe);
  std::vector<bool> fixed;  // by step: it depends on constants only, and is computed while compiling
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const Step& step = recipe.steps[i];
    fixed.push_back(step.kind != StepKind::input &&
                    std::all_of(step.inputs.begin(), step.inputs.end(), [&](Port p) { return fixed[p.step]; }));
    if (step.kind != StepKind::op || fixed.back()) continue;
    // Conversions, roundings and arithmetic of floats are counted by themselves.
    auto has_float = [](const std::vector<Tensor>& values) {
      return std::any_of(values.begin(), values.end(), [](const Tensor& t) { return is_float(t.dtype()); });
    };
    const bool floats = has_float(step.results) ||
                        std::any_of(step.inputs.begin(), step.inputs.end(), [&](Port p) { return is_float(recipe.value(p).dtype()); });
    const std::string place = place_of(recipe, model, i);
    const int bits = bits_of_step(recipe, intervals, i);
    ++verdict.counts[cat("place|", chip.name, "|", step.op, floats ? " of floats" : "", "|b", bits, "|", place)];
    if (place == "chip" || floats || bits > options_.host_bits) continue;
    const auto note = model.notes.find(node_name(i));
    ++verdict.counts[cat("host|", chip.name, "|b", bits, "|", step.op, "|",
                         note != model.notes.end() ? note->second
                         : place == "along"        ? "taken along"
                                                   : "as another one")];
  }
}

void Judge::judge_on(const Recipe& recipe, const Chip& chip, Verdict& verdict) {
  ++verdict.counts[cat("graphs|", chip.name)];
  auto model = compiled(recipe, chip.name, options_.compile, *toolchain_);
  if (!model) {
    const Outcome refused{what_of("compile", model.failure()), message_of(model.failure()), recipe.outputs.back(), {}};
    verdict.findings.push_back(fault(recipe, chip, modes_.front(), refused));
    return;
  }
  count_places(recipe, *model, chip, verdict);
  for (const Mode& mode : modes_) {
    const Outcome found = outcome(recipe, *model, chip, mode);
    if (options_.suite == Suite::special)
      for (const auto& [pair, count] : class_pairs(recipe, found.outputs))
        verdict.counts[cat("pair|", chip.name, "|", mode.name, "|", pair)] += count;
    if (!found.what.empty()) verdict.findings.push_back(fault(recipe, chip, mode, found));
  }
}

Verdict Judge::judge(std::uint64_t seed) {
  Verdict out;
  out.seed = seed;
  const Recipe recipe = recipe_of(options_.suite, seed);
  const bool wanted = options_.ops.empty() || std::any_of(recipe.steps.begin(), recipe.steps.end(), [&](const Step& s) {
                        return std::find(options_.ops.begin(), options_.ops.end(), s.op) != options_.ops.end();
                      });
  if (recipe.outputs.empty() || !wanted) return out;
  for (const Chip& chip : chips_) judge_on(recipe, chip, out);
  return out;
}

}  // namespace buda::trial
