// SPDX-License-Identifier: Apache-2.0
// Halves that are filled by turns.
#include <buda/netlist/model/output_buffer.hpp>

#include <buda/base/text.hpp>

namespace buda::netlist {

std::optional<std::string> output_buffer_fault(std::int32_t buf_size_mb, std::int32_t t, std::int64_t inputs) {
  if (buf_size_mb < 1) return "buf_size_mb is 0; an output buffer holds at least one mblock";
  if (buf_size_mb == 1) return std::nullopt;
  if (buf_size_mb % 2 != 0) return cat("buf_size_mb is ", buf_size_mb, "; above 1 it counts both halves of a double buffer and is even");
  const std::int64_t half = buf_size_mb / 2, all = inputs * t;
  if (half >= all) return std::nullopt;  // all of them fit
  if (half % t != 0 && t % half != 0) return cat("a half buffer of ", half, " mblocks and t of ", t, " have to divide one another");
  if (all % half == 0) return std::nullopt;
  return cat("half a buffer is ", half, " mblocks, which ", inputs, " inputs of ", t, " do not fill: the last ", all % half,
             " would never leave");
}

}  // namespace buda::netlist
