// SPDX-License-Identifier: Apache-2.0
// Where queues lie between ops none of whose implementations go together.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::balance {

// Which edges get a queue where an op has no model that can take all of its operands straight from the ops that give them:
// none: no edge; such ops stand in different epochs, between which there is a queue anyway;
// fast_cut: all of these operands;
// consumer: those that the fewest models can take, until one can take the others;
// producer: of the ops that give those, all edges to ops of the model.
enum class SelfCut : std::uint8_t { none, fast_cut, consumer, producer };

// By SelfCut, PyBuda's names.
inline constexpr std::string_view kSelfCuts[] = {"None", "FastCut", "ConsumerOperandDataEdgesFirst", "ProducerUserDataEdgesFirst"};

}  // namespace buda::balance

#pragma GCC visibility pop
