// SPDX-License-Identifier: Apache-2.0
// Runs the model's method, and makes its results the outputs of the graph.
#include "graph_import.hpp"

#include "evaluator.hpp"
#include "inputs.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::torchscript {
namespace {

class OutputMaker {
 public:
  explicit OutputMaker(ImportState& state) : state_(state), call_(state, place_, "output", {}) {}

  // A tensor is output_0; of a tuple or list item i is output_i, of a dictionary each has the name of its key.
  Result<void> all(const Value& result) {
    const auto* list = result.as<SequenceRef>();
    if (list != nullptr || result.is<MappingRef>()) return items(result, "", 0);
    return one(result, "output_0", 0);
  }

 private:
  Result<void> items(const Value& result, const std::string& prefix, int depth) {
    constexpr int kDeepest = 20;
    if (depth > kDeepest) return state_.archive->error("TS053", "the results of the model are nested too deeply");
    if (const auto* list = result.as<SequenceRef>()) {
      for (std::size_t i = 0; i < (*list)->items.size(); ++i) {
        const bool named = (*list)->type != nullptr && i < (*list)->type->fields.size();
        const std::string own = named ? (*list)->type->fields[i] : prefix.empty() ? cat("output_", i) : cat(i);
        BUDA_TRY(one((*list)->items[i], cat(prefix, own), depth));
      }
      return success();
    }
    for (const auto& [key, value] : (*result.as<MappingRef>())->items) {
      const auto* text = key.as<std::string>();
      const auto* number = key.as<std::int64_t>();
      BUDA_TRY(one(value, cat(prefix, text != nullptr ? *text : number != nullptr ? cat(*number) : "item"), depth));
    }
    return success();
  }

  Result<void> one(const Value& value, const std::string& name, int depth) {
    if (value.none()) return success();
    if (value.is<SequenceRef>() || value.is<MappingRef>()) return items(value, cat(name, '.'), depth + 1);
    const Ref ref = call_.value_ref(value);
    if (!ref.valid()) return state_.archive->error("TS053", cat("result '", name, "' is ", value.describe(), ", not a tensor"));
    std::string own = frontend::graph_name(name);
    for (int i = 1; state_.builder.graph().find_output(own).valid(); ++i) own = cat(name, '.', i);
    state_.builder.output(own, ref);
    if (auto id = state_.builder.graph().find_output(own); id.valid())
      state_.builder.graph().node(id).origins = {{state_.archive->file, own}};
    return success();
  }

  ImportState& state_;
  Place place_;
  Call call_;
};

// All that went wrong; nothing when all is well.
Failure faults(ImportState& state) {
  if (!state.unsupported.empty()) {
    Diagnostic d = state.unsupported.report(state.archive->error("TS030", "the model uses operators that are not supported"));
    state.failure.add(std::move(d));
  }
  return std::move(state.failure);
}

Result<const Function*> method_of(const Archive& archive, const Program& program, const Loaded& loaded, const std::string& method) {
  auto type = program.classes.find(loaded.model->type);
  if (type == program.classes.end()) return archive.error("TS041", cat("has no code of its model's class '", loaded.model->type, '\''));
  auto found = type->second.methods.find(method);
  if (found != type->second.methods.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [name, f] : type->second.methods) names.push_back(name);
  Diagnostic d = archive.error("TS041", cat("class '", type->first, "' has no method '", method, '\''));
  if (names.empty())
    d.hint = "it has none";
  else
    d.hint = cat("choose one: --set frontend.torchscript.method=", nearest_word(method, names).value_or(names.front()),
                 "; it has: ", join(names, ", "));
  return d;
}

}  // namespace

Result<graph::Graph> import_graph(const Archive& archive, const std::string& name, const std::string& method,
                                  const plugin::ImportOptions& options) {
  BUDA_ASSIGN(Program program, read_program(archive));
  BUDA_ASSIGN(Loaded loaded, load_values(archive));
  if (!loaded.faults.empty()) return archive.error("TS005", loaded.faults[0]);
  BUDA_ASSIGN(const Function* function, method_of(archive, program, loaded, method));
  ImportState state(archive, name);
  state.training = options.training;
  BUDA_ASSIGN(auto inputs, make_inputs(state, *function, options));
  auto result = Evaluator(program, loaded, state).run(*loaded.model, method, std::move(inputs));
  // An error that ends the program may merely follow from operators that could not be read.
  Failure failure = faults(state);
  if (!result && (failure.empty() || result.failure().diagnostics()[0].code != "TS051")) failure.add(std::move(result).failure());
  if (!failure.empty()) return failure;
  BUDA_TRY(OutputMaker(state).all(*result));
  failure = faults(state);
  if (!failure.empty()) return failure;
  state.store.known.erase_unused(state.builder.graph());
  return state.builder.finish();
}

}  // namespace buda::torchscript
