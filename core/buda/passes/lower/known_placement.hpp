// SPDX-License-Identifier: Apache-2.0
// Known values as parameters and constants of the device graph.
#pragma once

#include <buda/passes/lower/known_values.hpp>
#include <buda/passes/lower/op_builder.hpp>

#include <cstddef>
#include <cstdint>

namespace buda::passes {

// How the only row, the only column or both of a known tensor are replicated through its tile when it is placed.
enum class Copies : std::uint8_t { none, rows, columns, both };
inline constexpr std::size_t kCopiesForms = 4;

// The value as a node of the device graph. `out` builds for `known.from`, whose result number `port` it is.
Result<Lowered> place_known(OpBuilder& out, const KnownValue& known, std::uint32_t port, Copies copies);

}  // namespace buda::passes
