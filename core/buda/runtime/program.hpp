// SPDX-License-Identifier: Apache-2.0
// A compiled program: what is loaded into a device.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::overlay {
struct Blob;
}

namespace buda::runtime {

// The stream programs of one temporal epoch: of graphs that execute at the same time, one per chip.
struct EpochStreams {
  std::int32_t number = 0;          // of the temporal epoch
  std::vector<std::size_t> graphs;  // in Netlist::graphs, ascending; each is on a chip of its own
  std::shared_ptr<const overlay::Blob> blob;
};

// Beyond the netlist it holds what the target asked for (Target::needs), and may hold more.
struct Program {
  // Compiled in one place (docs/decisions/0021).
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  netlist::Netlist netlist;
  std::vector<EpochStreams> epochs;  // by number; with Needs::streams one for every temporal epoch, else empty
  // A folder of kernels (docs/formats/kernels.md): its files by their path in it. With Needs::kernels, where an image has them.
  std::map<std::string, io::Bytes> kernels;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
