// SPDX-License-Identifier: Apache-2.0
// Names, and the graph that forward() builds.
#include <buda/ops/whole_graph/module.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

Diagnostic unknown(const std::string& module, const char* what, const std::string& name, const std::vector<std::string>& known) {
  Diagnostic d = input_error(
      "MD001", {}, cat("module '", module, "' has no ", what, " '", name, '\'', known.empty() ? "" : cat("; it has ", join(known, ", "))));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<void> check_type(const char* what, const std::string& name, const Tensor& present, const Tensor& given) {
  if (present.dtype() == given.dtype() && present.shape() == given.shape()) return success();
  return input_error("MD002", {}, cat(what, " '", name, "' is ", present.describe(), " and is set to ", given.describe()));
}

}  // namespace

void Module::add_parameter(const std::string& name, Tensor value, bool prepend_name) {
  parameters_.insert_or_assign(name, Entry{prepend_name ? cat(name_, '.', name) : name, std::move(value), {}});
}

void Module::add_constant(const std::string& name, Tensor value, bool prepend_name) {
  constants_.insert_or_assign(name, Entry{prepend_name ? cat(name_, '.', name) : name, std::move(value), {}});
}

void Module::add_module(Module& submodule) { submodules_.push_back(&submodule); }

template <class Self>
auto Module::find(Self& self, Entries Module::*entries, const std::string& name) -> decltype(&(self.*entries).begin()->second) {
  for (auto& [given, entry] : self.*entries)
    if (entry.name == name) return &entry;
  for (Module* submodule : self.submodules_)
    if (auto* entry = find(*submodule, entries, name)) return entry;
  return nullptr;
}

std::vector<std::string> Module::names(Entries Module::*entries) const {
  std::vector<std::string> out;
  for (const auto& [given, entry] : this->*entries) out.push_back(entry.name);
  for (const Module* submodule : submodules_)
    for (std::string& name : submodule->names(entries)) out.push_back(std::move(name));
  return out;
}

Result<const Module::Entry*> Module::get(Entries Module::*entries, const char* what, const std::string& name) const {
  if (const Entry* entry = find(*this, entries, name)) return entry;
  return unknown(name_, what, name, names(entries));
}

Result<void> Module::set(Entries Module::*entries, const char* what, const std::string& name, const Tensor& value) {
  BUDA_ASSIGN(const Entry* present, get(entries, what, name));
  BUDA_TRY(check_type(what, name, present->value, value));
  find(*this, entries, name)->value = value;
  return success();
}

Result<Tensor> Module::get_parameter(const std::string& name) const {
  BUDA_ASSIGN(const Entry* entry, get(&Module::parameters_, "parameter", name));
  return entry->value;
}

Result<Tensor> Module::get_constant(const std::string& name) const {
  BUDA_ASSIGN(const Entry* entry, get(&Module::constants_, "constant", name));
  return entry->value;
}

Result<void> Module::set_parameter(const std::string& name, const Tensor& value) {
  return set(&Module::parameters_, "parameter", name, value);
}

Result<void> Module::set_constant(const std::string& name, const Tensor& value) {
  return set(&Module::constants_, "constant", name, value);
}

NamedTensors Module::get_parameters(bool submodules) const {
  NamedTensors out;
  for (const auto& [given, entry] : parameters_) out.emplace(entry.name, entry.value);
  if (submodules)
    for (const Module* submodule : submodules_) out.merge(submodule->get_parameters());
  return out;
}

Result<void> Module::load_parameters(const NamedTensors& values) {
  Failure failure;
  for (const auto& [name, value] : values) {
    auto present = get_parameter(name);
    auto fits = present ? check_type("parameter", name, *present, value) : Result<void>(std::move(present).failure());
    if (!fits) failure.add(std::move(fits).failure());
  }
  if (!failure.empty()) return failure;
  for (const auto& [name, value] : values) BUDA_TRY(set_parameter(name, value));
  return success();
}

// Once in a graph, however often it is used.
Builder::Ref Module::built(Builder& b, Entries& entries, const char* what, const std::string& name) {
  auto it = entries.find(name);
  if (it == entries.end()) {
    missing_.push_back(cat("module '", name_, "' has no ", what, " '", name, '\''));
    return {};
  }
  Entry& entry = it->second;
  if (entry.built.valid()) return entry.built;
  entry.built = &entries == &parameters_ ? b.parameter(entry.name, entry.value) : b.named(entry.name).constant(entry.value);
  return entry.built;
}

Builder::Ref Module::parameter(Builder& b, const std::string& name) { return built(b, parameters_, "parameter", name); }
Builder::Ref Module::constant(Builder& b, const std::string& name) { return built(b, constants_, "constant", name); }

Module::Refs Module::pre_forward(Builder& b, Refs inputs) {
  static_cast<void>(b);
  return inputs;
}

Module::Refs Module::operator()(Builder& b, const Refs& inputs) { return forward(b, pre_forward(b, inputs)); }

void Module::begin_graph() {
  missing_.clear();
  for (Entries* entries : {&parameters_, &constants_})
    for (auto& [name, entry] : *entries) entry.built = {};
  for (Module* submodule : submodules_) submodule->begin_graph();
}

void Module::take_missing(Failure& failure) {
  for (const std::string& text : missing_) failure.add(input_error("MD001", {}, text));
  for (Module* submodule : submodules_) submodule->take_missing(failure);
}

Result<graph::Graph> Module::graph(const std::vector<std::pair<std::string, graph::ValueType>>& inputs) {
  begin_graph();
  Builder b(name_);
  Refs refs;
  for (const auto& [name, type] : inputs) refs.push_back(b.input(name, type.shape, type.dtype));
  const Refs outputs = (*this)(b, refs);
  Failure failure;
  take_missing(failure);
  if (!failure.empty()) return failure;
  for (std::size_t i = 0; i < outputs.size(); ++i) b.output(cat(name_, '.', i), outputs[i]);
  return b.finish();
}

}  // namespace buda::ops
