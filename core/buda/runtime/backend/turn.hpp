// SPDX-License-Identifier: Apache-2.0
// A turn of a model on a backend: its segments, one after the other.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/backend.hpp>
#include <buda/runtime/backend/host_values.hpp>

namespace buda::runtime {

// `loaded` is what the backend made of `model`.
struct TurnOf {
  const Model& model;
  const LoadedModel& loaded;
};

// As Backend::run_model says.
Result<void> run_turn(Backend& backend, const TurnOf& of, HostValues& on_host, Host& host, Timeout timeout);

}  // namespace buda::runtime
