// SPDX-License-Identifier: Apache-2.0
// Generation of tokens by models that keep keys and values of earlier positions as a state (the optimizer's option --loopback-outputs).
//
//   BUDA_ASSIGN(auto models, runtime::load_models(host, "gpt.tti"));             // of models `decode` and `prefill`, merged
//   BUDA_ASSIGN(auto merged, runtime::MergedSession::open(std::move(models), *target, descriptor, host));
//   BUDA_ASSIGN(runtime::Session * decode, merged->session("decode"));
//   BUDA_ASSIGN(runtime::Session * prefill, merged->session("prefill"));
//   BUDA_ASSIGN(auto generator, runtime::Generator::make(*decode, prefill));
//   BUDA_ASSIGN(std::int64_t next, generator.prefill(prompt));                   // the token behind the prompt
//   BUDA_ASSIGN(auto tokens, generator.generate(64, prompt.size(), 1, next));    // the 64 tokens behind that
//
// A model takes n tokens and their positions, integers of n elements each, and gives logits [..., rows, vocabulary], of which the last row
// tells the token that follows. `decode` takes one token; `prefill` several, and has the states of `decode`, under the same names.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/session.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

struct GenerateOptions {
  std::string token = "token", position = "position", logits = "logits";  // names of the models' inputs and output; no position where empty
  // The next token, of the logits of all tokens; absent: the most likely one, of several the first.
  std::function<std::int64_t(std::span<const float> logits)> choose = nullptr;
  // Hears the tokens of each iteration; false ends the generation.
  std::function<bool(std::span<const std::int64_t> tokens)> heard = nullptr;
};

class Generator {
 public:
  // The sessions must outlive the generator; `prefill` may be null. RT070: a model that lacks an input, the output or a state that it
  // should have, or has another type.
  static Result<Generator> make(Session& decode, Session* prefill = nullptr, GenerateOptions options = {});

  // Enters tokens at positions from write_index on, and gives the token that follows them. As many as possible go through `prefill`.
  Result<std::int64_t> prefill(std::span<const std::int64_t> tokens, std::int64_t write_index = 0);
  // Enters token_id at position write_index, then each token that follows at the next position; gives these tokens: loop_count times
  // tokens_per_iter, which are heard after each loop. Keys and values of earlier positions are those of earlier calls. RT071: a number of
  // tokens or a position that is none. The context of other errors is the position.
  Result<std::vector<std::int64_t>> generate(std::int64_t loop_count, std::int64_t write_index, std::int64_t tokens_per_iter,
                                             std::int64_t token_id);

 private:
  struct Model {
    Session* session = nullptr;
    const Port* token = nullptr;
    const Port* position = nullptr;
    std::int64_t tokens = 1;  // of a step
  };
  Generator(Model decode, Model prefill, GenerateOptions options);
  static Result<Model> model_of(Session& session, const GenerateOptions& options);
  // Enters model.tokens tokens, and gives the token that follows.
  Result<std::int64_t> step(const Model& model, std::span<const std::int64_t> tokens, std::int64_t position);

  Model decode_, prefill_;
  GenerateOptions options_;
  Session* latest_ = nullptr;  // whose states are those of the last step
};

}  // namespace buda::runtime

#pragma GCC visibility pop
