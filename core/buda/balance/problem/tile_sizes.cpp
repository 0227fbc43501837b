// SPDX-License-Identifier: Apache-2.0
// What an op takes, gives, and keeps from pass to pass.
#include <buda/balance/problem/tile_sizes.hpp>

#include <buda/balance/resources/resources.hpp>
#include <buda/tiling/buffer_sizes.hpp>

#include <algorithm>
#include <cstdint>
#include <set>

namespace buda::balance {

void set_tile_sizes(std::span<OpSpec> ops, const device::DeviceDescriptor& device) {
  std::set<std::int64_t> sizes;
  auto add = [&](DataFormat format, TileDim dim) {
    if (format != DataFormat::invalid) sizes.insert(tile_bytes(format, dim, device.tile_alignment));
  };
  for (const OpSpec& spec : ops) {
    for (std::size_t i = 0; i < spec.op.inputs.size(); ++i) add(spec.op.inputs[i].format, input_tile_dim(spec.op, i));
    add(spec.op.out_format, spec.op.tile_dim);
    if (tiling::has_intermediates(spec.op)) add(spec.op.intermed_format, spec.op.tile_dim);
  }
  for (OpSpec& spec : ops) spec.tile_sizes = std::max<std::size_t>(sizes.size(), 1);
}

}  // namespace buda::balance
