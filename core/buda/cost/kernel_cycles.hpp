// SPDX-License-Identifier: Apache-2.0
// How long the kernel of an op takes: what balancing and timed targets ask, from the rows of share/devices.
//
//   KernelCycles c = cost::kernel_cycles(op, nullptr, device);
//   c.total                     cycles of one core for one input, when data and room for results are there
//   c.unpack, c.math, c.pack    what each of the kernel's threads does of it; the threads work side by side
//
// docs/conformance/silicon.md compares the formulas with measurements.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace buda::cost {

// What figures rest on, from best to worst.
enum class Basis : std::uint8_t {
  measured,      // this op with these formats
  other_format,  // this op, with operands of another format
  assumed,       // a row that nobody has measured, or a guess of what of a sparse matmul is not zero
  copy,          // the device has no row for the op: it counts as a copy
};
std::string_view basis_name(Basis basis);

// Cycles of one core for one input.
struct KernelCycles {
  double unpack = 0;
  double math = 0;
  double pack = 0;
  double overhead = 0;  // between blocks, when none of the threads works
  double total = 0;
  Basis basis = Basis::measured;
  double error = 0;  // per cent, of `total`, as measured on other blockings; 0 where nothing was
};

// How much of a sparse matmul is not zero: of a core's output, for one input.
struct SparseCounts {
  std::int64_t strips = 0;   // blocks of u_kt rows of activation tiles that are read
  std::int64_t ublocks = 0;  // ublocks of sparse tiles with at least one product: a strip with a row of output ublocks
  std::int64_t tiles = 0;    // sparse tiles with at least one product
};
// What a sparse op's attributes tell: the strips of its busiest core. How many tiles of the activations a row picks from is a guess from
// convolutions.
SparseCounts guess_sparse_counts(const netlist::Op& op);
// The counts of a core, from what its index tiles list.
SparseCounts count_sparse_products(const netlist::Op& op, std::span<const netlist::SparseProduct> products);

// `fused`: the body, with its blocks, of an op of type fused_op; null for any other. `counts`: of a sparse matmul, null for a guess.
KernelCycles kernel_cycles(const netlist::Op& op, const netlist::FusedOp* fused, const device::DeviceDescriptor& device,
                           const SparseCounts* counts = nullptr);

}  // namespace buda::cost
