// SPDX-License-Identifier: Apache-2.0
// Which subgraph is the model, and what its inputs and outputs are called.
//
// Tensors have the names of the converter ("serving_default_input_1:0"), the signature those of the model that was converted ("input_1"),
// by which the interpreter's users call it. A signature only names: the subgraph says what its inputs and outputs are, and in which order.
#include "model.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/frontend/values.hpp>
#include <buda/io/host.hpp>

#include <schema_generated.h>

#include <algorithm>
#include <set>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;

constexpr std::string_view kStandard = "serving_default";

// A tensor as a signature names it: the number is not checked.
struct NamedTensor {
  std::uint32_t tensor = 0;
  std::string name;
};

struct Signature {
  std::string key;
  std::uint32_t subgraph = 0;
  std::vector<NamedTensor> inputs, outputs;
};

std::string name_of(const flatbuffers::String* name) { return name == nullptr ? std::string() : frontend::graph_name(name->str()); }

std::vector<NamedTensor> named_tensors(const flatbuffers::Vector<flatbuffers::Offset<format::TensorMap>>* records) {
  std::vector<NamedTensor> out;
  if (records != nullptr)
    for (const auto* record : *records) out.push_back({record->tensor_index(), name_of(record->name())});
  return out;
}

std::vector<Signature> signatures_of(const Model& model) {
  std::vector<Signature> out;
  if (const auto* records = format::GetModel(model.bytes.data())->signature_defs())
    for (const auto* record : *records)
      out.push_back(
          {name_of(record->signature_key()), record->subgraph_index(), named_tensors(record->inputs()), named_tensors(record->outputs())});
  return out;
}

std::string keys_of(const std::vector<Signature>& all) {
  std::vector<std::string> keys;
  for (const auto& signature : all) keys.push_back(signature.key);
  return join(keys, ", ");
}

std::vector<const Signature*> with_key(const std::vector<Signature>& all, std::string_view key) {
  std::vector<const Signature*> out;
  for (const auto& signature : all)
    if (signature.key == key) out.push_back(&signature);
  return out;
}

Result<const Signature*> find_signature(const Model& model, const std::vector<Signature>& all, const std::string& wanted) {
  if (auto found = with_key(all, wanted); !found.empty()) return found.front();
  Diagnostic d = model.error("TF020", cat("has no signature '", wanted, '\''));
  std::vector<std::string> keys;
  for (const auto& signature : all) keys.push_back(signature.key);
  if (all.empty())
    d.hint = "it has none at all: leave the option out";
  else if (auto near = nearest_word(wanted, keys))
    d.hint = cat("did you mean '", *near, "'?");
  else
    d.hint = cat("it has: ", keys_of(all));
  return d;
}

// The one that is meant where the user names none.
Result<const Signature*> standard_signature(const Model& model, const std::vector<Signature>& all) {
  if (all.size() == 1) return &all.front();
  if (auto found = with_key(all, kStandard); !found.empty()) return found.front();
  std::vector<const Signature*> of_first;
  for (const auto& signature : all)
    if (signature.subgraph == 0) of_first.push_back(&signature);
  if (of_first.size() == 1) return of_first.front();
  Diagnostic d = model.error("TF020", cat("has ", all.size(), " signatures, none of them named ", kStandard, ", and ",
                                          of_first.empty() ? "none" : "several", " of the first subgraph"));
  d.hint = cat("choose one: --set frontend.tflite.signature=", all.front().key, "; it has: ", keys_of(all));
  return d;
}

// What is wrong with the names that a signature gives.
class SignatureCheck {
 public:
  SignatureCheck(const Model& model, const Signature& signature) : model_(&model), signature_(&signature) {}

  Result<void> run(const std::vector<Signature>& all) {
    if (signature_->key.empty())
      wrong("has no name");
    else if (auto same = with_key(all, signature_->key).size(); same > 1)
      wrong(cat("has a name that ", same, " signatures have"));
    if (signature_->subgraph >= model_->subgraphs.size()) {
      wrong(cat("names subgraph ", signature_->subgraph, "; there are ", model_->subgraphs.size()));
    } else {
      const Subgraph& graph = model_->subgraphs[signature_->subgraph];
      check_names("input", signature_->inputs, graph.inputs);
      check_names("output", signature_->outputs, graph.outputs);
      std::set<std::uint32_t> tensors;
      for (const auto& input : signature_->inputs)
        if (!tensors.insert(input.tensor).second) wrong(cat("has two names for the input that is tensor ", input.tensor));
    }
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  void check_names(std::string_view what, const std::vector<NamedTensor>& named, const std::vector<std::int32_t>& tensors) {
    std::set<std::string> names;
    for (const auto& n : named) {
      if (n.name.empty())
        wrong(cat("has an ", what, " without a name"));
      else if (!names.insert(n.name).second)
        wrong(cat("has two ", what, "s named '", n.name, '\''));
      if (std::find(tensors.begin(), tensors.end(), std::int64_t{n.tensor}) == tensors.end())
        wrong(
            cat("names tensor ", n.tensor, " as its ", what, " '", n.name, "', which is no ", what, " of subgraph ", signature_->subgraph));
    }
  }

  void wrong(std::string_view what) { failure_.add(model_->error("TF006", cat("signature '", signature_->key, "' ", what))); }

  const Model* model_;
  const Signature* signature_;
  Failure failure_;
};

// The tensors of a subgraph in their order, under the names given for them; a tensor with several becomes as many results.
std::vector<Terminal> terminals(const Subgraph& graph, const std::vector<std::int32_t>& tensors, const std::vector<NamedTensor>& named) {
  std::vector<Terminal> out;
  std::set<std::int32_t> done;
  for (auto tensor : tensors) {
    bool has_name = false;
    for (const auto& n : named) {
      if (n.tensor != static_cast<std::uint32_t>(tensor)) continue;
      has_name = true;
      if (done.count(tensor) == 0) out.push_back({tensor, n.name});
    }
    if (!has_name) out.push_back({tensor, graph.tensors[static_cast<std::size_t>(tensor)].name});
    done.insert(tensor);
  }
  return out;
}

Entry entry_of(const Model& model, const Signature& signature) {
  const Subgraph& graph = model.subgraphs[signature.subgraph];
  return {signature.subgraph, terminals(graph, graph.inputs, signature.inputs), terminals(graph, graph.outputs, signature.outputs)};
}

}  // namespace

Result<void> choose_entry(Model& model, const std::string& wanted, Host& host) {
  const auto all = signatures_of(model);
  model.entry = entry_of(model, {});
  if (all.empty() && wanted.empty()) return success();
  BUDA_ASSIGN(const Signature* chosen, wanted.empty() ? standard_signature(model, all) : find_signature(model, all, wanted));
  auto checked = SignatureCheck(model, *chosen).run(all);
  if (!checked && !wanted.empty()) return std::move(checked).failure();
  if (!checked) {
    for (Diagnostic d : checked.failure().diagnostics()) {
      d.severity = Severity::warning;
      d.hint = "inputs and outputs have the names of their tensors";
      host.report(d);
    }
    return success();
  }
  model.entry = entry_of(model, *chosen);
  host.log(1, cat(model.file, ": signature '", chosen->key, '\'', all.size() == 1 ? std::string() : cat(" of: ", keys_of(all))));
  return success();
}

}  // namespace buda::tflite_frontend
