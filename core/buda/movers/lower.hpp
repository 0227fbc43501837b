// SPDX-License-Identifier: Apache-2.0
// From stream programs to the tables of movers.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/movers/tables.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace buda::movers {

// What the kernel of a core takes of an input, as far as that differs from what arrives.
struct KernelInput {
  std::int64_t tiles = 0;    // in the execution
  std::int64_t at_once = 1;  // that have to be in its ring together
};

// What the kernel of a core makes where that leaves as rows of numbers: messages of several tiles, which are rows one after the other
// behind 16 bytes.
struct KernelRows {
  std::int64_t message_bytes = 0;
  std::int64_t tiles = 1;  // in a message
};

// Where an execution begins in a queue.
struct QueueStart {
  std::int64_t read_slot = 0, write_slot = 0;
  std::int64_t read_step = 1, write_step = 1;  // slots per input
};

struct Execution {
  std::int64_t inputs = 1;
  std::map<std::pair<std::size_t, std::int32_t>, KernelInput> kernel_inputs;  // by core and operand; none: it takes what arrives, each once
  std::map<std::size_t, KernelRows> kernel_rows;                              // by core; none: a message has one row of tiles
  std::uint64_t l1_end = 0;                  // of buffers in L1, where those of the blob are not large enough
  std::map<std::string, QueueStart> queues;  // by name; none: from slot 0 on, slot by slot
};

// A ring that has fewer slots than its kernel needs at once gets more, in what is free of the L1 of all cores of the op.
// MV001: something in the stream programs that movers do not do yet; MV002: a kernel's needs that cannot be met. Each with the op.
Result<Tables> lower(const overlay::Blob& blob, const Execution& execution);

}  // namespace buda::movers
