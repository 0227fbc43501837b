// SPDX-License-Identifier: Apache-2.0
// Writing is atomic: the checkpoint before stays whole until the new one is.
#include "apps/trainer/checkpoint.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <vector>

namespace buda::trainer {
namespace {

constexpr std::string_view kState = "#state/";
// I64: version, steps done, seed, digest of the step.
constexpr const char* kNumbers = "#training";
constexpr std::int64_t kVersion = 1;

}  // namespace

Result<void> write_checkpoint(runtime::TrainingSession& training, std::uint64_t seed, const std::string& path, Host& host) {
  BUDA_ASSIGN(NamedTensors out, training.parameters());
  BUDA_ASSIGN(const NamedTensors states, training.states());
  for (const auto& [name, tensor] : states) out.emplace(cat(kState, name), tensor);
  out.emplace(kNumbers, Tensor(Shape{4}, std::vector<std::int64_t>{kVersion, training.steps_done(), static_cast<std::int64_t>(seed),
                                                                   static_cast<std::int64_t>(training.digest())}));
  return write_tensors(host.fs(), path, out, host.write_mode);
}

Result<void> resume(runtime::TrainingSession& training, std::uint64_t seed, const std::string& path, Host& host) {
  BUDA_ASSIGN(const NamedTensors file, read_tensors(host.fs(), path));
  auto numbers = file.find(kNumbers);
  const bool is_sound = numbers != file.end() && numbers->second.dtype() == DType::i64 && numbers->second.shape() == Shape{4} &&
                        numbers->second.as<std::int64_t>()[0] == kVersion;
  if (!is_sound) {
    Diagnostic d = input_error("TR010", {path}, "the file is not a checkpoint of the trainer, or one of another version");
    d.hint = "a checkpoint is what an earlier run has written as its output";
    return d;
  }
  const auto values = numbers->second.as<std::int64_t>();
  NamedTensors states;
  for (const auto& [name, tensor] : file)
    if (name.starts_with(kState)) states.emplace(name.substr(kState.size()), tensor);
  if (auto set = training.set_states(std::move(states)); !set) {
    Diagnostic d = input_error("TR011", {path}, "the checkpoint is one of another model");
    for (const Diagnostic& why : set.failure().diagnostics()) d.notes.push_back({{}, why.message});
    return d;
  }
  if (static_cast<std::uint64_t>(values[3]) != training.digest())
    return input_error("TR011", {path}, "the checkpoint is one of another optimizer, or of other numbers of this one");
  if (static_cast<std::uint64_t>(values[2]) != seed) {
    Diagnostic d = input_error("TR011", {path}, cat("the checkpoint was written with --seed ", values[2], ", and this run has ", seed));
    d.hint = cat("--seed ", values[2], " goes on in the same order of samples");
    return d;
  }
  training.set_steps_done(values[1]);
  return success();
}

}  // namespace buda::trainer
