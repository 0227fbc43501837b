// SPDX-License-Identifier: Apache-2.0
// What the user requests on edges between ops: a queue in DRAM, or a nop that only holds data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::passes {

enum class BufferKind : std::uint8_t { nop, queue };

// One queue or nop after `producer`, from which the consumers take what they took from it. Names are those of nodes, or of the model's
// nodes that they come from.
struct BufferRequest {
  BufferKind kind = BufferKind::nop;
  std::string producer;
  std::vector<std::string> consumers;    // those that are met leave the list
  std::optional<std::uint32_t> operand;  // number of the consumer's input; nothing: any
  std::string option;                    // which asked for it, for messages
};

// On an op: it was put there by a request, and stays. The value is the kind, "nop" or "queue".
inline constexpr const char* kBuffering = "buffering";

}  // namespace buda::passes
