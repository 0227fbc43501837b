// SPDX-License-Identifier: Apache-2.0
// Outputs that leave as rows of numbers. Internal to the module.
#pragma once

#include <buda/movers/lower.hpp>
#include <buda/movers/tables.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace buda::movers {

// Of a stream that writes rows: what the kernel of its core makes.
KernelRows kernel_rows(const Execution& execution, std::size_t core, const overlay::Stream& stream);

struct RowWrites {
  Rows rows;
  std::vector<SendRun> sends;
};
// Message by message: the rows of a core are some columns of a matrix, one matrix after the other. `node`: of `queue`, as the core numbers
// it. Nothing where messages are not made of whole rows.
std::optional<RowWrites> row_writes(const overlay::Stream& stream, const KernelRows& kernel, const overlay::DramBuffer& queue,
                                    const QueueStart& start, std::int64_t node);

}  // namespace buda::movers
