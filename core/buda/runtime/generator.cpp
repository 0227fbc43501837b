// SPDX-License-Identifier: Apache-2.0
// Steps, and states that go from one model to the other.
#include <buda/runtime/generator.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::runtime {
namespace {

const Port* find_port(const std::vector<Port>& ports, const std::string& name) {
  auto it = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.tensor->name == name; });
  return it == ports.end() ? nullptr : &*it;
}

std::string ports_text(const std::vector<Port>& ports) {
  std::vector<std::string> out;
  for (const Port& port : ports) out.push_back(cat('\'', port.tensor->name, "' ", dtype_name(port.dtype), ' ', port.shape.text()));
  return out.empty() ? "none" : join(out, ", ");
}

Diagnostic unfit(const Session& session, const std::string& why) {
  return input_error("RT070", {}, cat("model '", session.plan().model, "' cannot generate: ", why));
}

Result<const Port*> integers(const Session& session, const std::string& name) {
  const Port* port = find_port(session.ports().inputs, name);
  if (port == nullptr) return unfit(session, cat("it has no input '", name, "'; its inputs are ", ports_text(session.ports().inputs)));
  if (!is_integer(port->dtype)) return unfit(session, cat("its input '", name, "' is ", dtype_name(port->dtype), ", not an integer"));
  return port;
}

Result<void> check_states(const Session& decode, const Session& prefill) {
  for (const StatePort& state : decode.ports().states) {
    const std::string& name = state.output.tensor->name;
    const auto& others = prefill.ports().states;
    auto same = [&](const StatePort& o) {
      return o.output.tensor->name == name && o.output.dtype == state.output.dtype && o.output.shape == state.output.shape;
    };
    if (std::none_of(others.begin(), others.end(), same))
      return unfit(prefill, cat("it has no state '", name, "', ", dtype_name(state.output.dtype), ' ', state.output.shape.text(),
                                ", as model '", decode.plan().model, "' has"));
  }
  if (decode.ports().states.size() != prefill.ports().states.size())
    return unfit(prefill, cat("it has ", prefill.ports().states.size(), " states, and model '", decode.plan().model, "' has ",
                              decode.ports().states.size()));
  return success();
}

std::int64_t most_likely(std::span<const float> logits) { return std::max_element(logits.begin(), logits.end()) - logits.begin(); }

Result<Tensor> shaped(std::vector<std::int64_t> values, const Port& port) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Tensor(Shape{count}, std::move(values)).reshaped(port.shape);
}

}  // namespace

Generator::Generator(Model decode, Model prefill, GenerateOptions options)
    : decode_(decode), prefill_(prefill), options_(std::move(options)) {}

Result<Generator::Model> Generator::model_of(Session& session, const GenerateOptions& options) {
  Model model{&session};
  BUDA_ASSIGN(model.token, integers(session, options.token));
  model.tokens = *model.token->shape.volume();
  if (!options.position.empty()) {
    BUDA_ASSIGN(model.position, integers(session, options.position));
    if (model.position->shape.volume() != model.token->shape.volume())
      return unfit(session, cat("it takes ", model.tokens, " tokens and ", *model.position->shape.volume(), " positions"));
  }
  const Port* logits = find_port(session.ports().outputs, options.logits);
  if (logits == nullptr)
    return unfit(session, cat("it has no output '", options.logits, "'; its outputs are ", ports_text(session.ports().outputs)));
  if (!is_float(logits->dtype) || logits->shape.rank() == 0 || logits->shape.dims().back() < 1)
    return unfit(session, cat("its output '", options.logits, "' is ", dtype_name(logits->dtype), ' ', logits->shape.text(),
                              ", not a row of logits"));
  return model;
}

Result<Generator> Generator::make(Session& decode, Session* prefill, GenerateOptions options) {
  BUDA_ASSIGN(Model one, model_of(decode, options));
  if (one.tokens != 1) return unfit(decode, cat("it takes ", one.tokens, " tokens in a step, not one"));
  Model several;
  if (prefill != nullptr) {
    BUDA_ASSIGN(several, model_of(*prefill, options));
    BUDA_TRY(check_states(decode, *prefill));
  }
  return Generator(one, several, std::move(options));
}

Result<std::int64_t> Generator::step(const Model& model, std::span<const std::int64_t> tokens, std::int64_t position) {
  NamedTensors inputs;
  BUDA_ASSIGN(inputs[options_.token], shaped({tokens.begin(), tokens.end()}, *model.token));
  if (model.position != nullptr) {
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < tokens.size(); ++i) positions.push_back(position + static_cast<std::int64_t>(i));
    BUDA_ASSIGN(inputs[options_.position], shaped(std::move(positions), *model.position));
  }
  if (latest_ != nullptr && latest_ != model.session) {
    BUDA_ASSIGN(NamedTensors states, latest_->states());
    for (const StatePort& state : model.session->ports().states)
      inputs.insert_or_assign(state.input.tensor->name, states.at(state.output.tensor->name));
  }
  latest_ = model.session;
  auto outputs = model.session->step(inputs);
  if (!outputs) {
    for (Diagnostic& d : outputs.failure().diagnostics()) d.message = cat("position ", position, ": ", d.message);
    return std::move(outputs).failure();
  }
  const std::vector<float> logits = outputs->at(options_.logits).to_f32();
  const auto vocabulary = static_cast<std::size_t>(outputs->at(options_.logits).shape().dims().back());
  const std::span<const float> last = std::span(logits).last(vocabulary);
  return options_.choose ? options_.choose(last) : most_likely(last);
}

Result<std::int64_t> Generator::prefill(std::span<const std::int64_t> tokens, std::int64_t write_index) {
  if (tokens.empty() || write_index < 0)
    return input_error("RT071", {}, tokens.empty() ? std::string("a prompt has at least one token") : cat("position ", write_index));
  std::int64_t next = 0;
  while (!tokens.empty()) {
    const bool many = prefill_.session != nullptr && static_cast<std::int64_t>(tokens.size()) >= prefill_.tokens;
    const Model& model = many ? prefill_ : decode_;
    const auto count = static_cast<std::size_t>(model.tokens);
    BUDA_ASSIGN(next, step(model, tokens.first(count), write_index));
    tokens = tokens.subspan(count);
    write_index += model.tokens;
  }
  return next;
}

Result<std::vector<std::int64_t>> Generator::generate(std::int64_t loop_count, std::int64_t write_index, std::int64_t tokens_per_iter,
                                                      std::int64_t token_id) {
  if (loop_count < 0 || write_index < 0 || tokens_per_iter < 1)
    return input_error("RT071", {}, cat("generate: ", loop_count, " loops of ", tokens_per_iter, " tokens from position ", write_index));
  std::vector<std::int64_t> out;
  for (std::int64_t loop = 0; loop < loop_count; ++loop) {
    for (std::int64_t i = 0; i < tokens_per_iter; ++i) {
      BUDA_ASSIGN(token_id, step(decode_, {&token_id, 1}, write_index++));
      out.push_back(token_id);
    }
    if (options_.heard && !options_.heard(std::span(out).last(static_cast<std::size_t>(tokens_per_iter)))) break;
  }
  return out;
}

}  // namespace buda::runtime
