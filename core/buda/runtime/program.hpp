// A compiled program: what is loaded into a device.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/io/bytes.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
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

// The processors of a core: the two that move data, and the three threads of the compute pipeline.
enum class CoreRole : std::uint8_t { brisc, ncrisc, unpack, math, pack };

// What one processor of one core executes for an op.
struct Kernel {
  std::string op;
  std::int32_t chip = 0;
  GridCoord core;  // logical
  CoreRole role = CoreRole::unpack;
  io::Bytes elf;  // equal kernels share their bytes
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
  std::vector<Kernel> kernels;       // empty as long as no tool compiles kernels
};

}  // namespace buda::runtime

#pragma GCC visibility pop
