// SPDX-License-Identifier: Apache-2.0
// Losses that take probabilities, or their logarithms, and whether a prediction holds them.
#pragma once

#include <buda/autograd/loss.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/graph/graph.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace buda::autograd {

enum class LossDomain : std::uint8_t { any, probabilities, logarithms };

LossDomain domain_of(LossKind kind);
std::string_view domain_name(LossDomain domain);  // "probabilities", "logarithms of probabilities"

// Whether the ops that make the value say that its numbers are in the domain, as a sigmoid does.
bool is_in_domain(const graph::Graph& graph, graph::ValueRef value, LossDomain domain);

// AG017, where they do not say so for what the loss takes. `output` is the model's for the value.
std::optional<Diagnostic> domain_doubt(const graph::Graph& graph, graph::ValueRef prediction, const graph::Node& output, LossKind kind);

// Whether a number is in the domain, but for what formats round.
bool is_in_domain(float number, LossDomain domain);

}  // namespace buda::autograd
