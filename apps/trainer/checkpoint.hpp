// SPDX-License-Identifier: Apache-2.0
// Checkpoints: safetensors with the trained parameters by name, every state as #state/NAME, and the numbers that resuming needs.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/session/training_session.hpp>

#include <cstdint>
#include <string>

namespace buda::trainer {

Result<void> write_checkpoint(runtime::TrainingSession& training, std::uint64_t seed, const std::string& path, Host& host);

// Sets states and steps done. TR010: the file is not a checkpoint; TR011: one of another model, optimizer or seed.
Result<void> resume(runtime::TrainingSession& training, std::uint64_t seed, const std::string& path, Host& host);

}  // namespace buda::trainer
