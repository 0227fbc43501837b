// SPDX-License-Identifier: Apache-2.0
// The netlist of TT-Buda as data: queues, graphs of ops, fused ops and programs (docs/formats/netlist.md).
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/io/node.hpp>
#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/program.hpp>
#include <buda/netlist/model/queue.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// Ops that run at the same time on one chip; one execution is an epoch.
struct Graph {
  // Compiled in one place (docs/decisions/0021).
  Graph();
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  std::string name;
  std::int32_t target_device = 0;
  std::vector<std::int32_t> instances;  // the chips of a netlist that is not expanded yet, if there are several; else empty
  std::int32_t input_count = 1;         // inputs per epoch
  std::vector<Op> ops;                  // in file order
  SourceLocations places;
  friend bool operator==(const Graph&, const Graph&) = default;
};

struct Netlist {
  // Compiled in one place (docs/decisions/0021).
  Netlist();
  Netlist(const Netlist&);
  Netlist(Netlist&&) noexcept;
  Netlist& operator=(const Netlist&);
  Netlist& operator=(Netlist&&) noexcept;
  ~Netlist();

  std::string file;                // for diagnostics
  std::vector<std::string> archs;  // as the file lists them, in lower case
  std::string arch;                // the one of them that is meant
  std::vector<Queue> queues;       // in file order, as everything here
  std::vector<Graph> graphs;
  std::vector<Program> programs;
  std::vector<FusedOp> fused_ops;
  std::vector<std::pair<std::string, io::Node>> other;  // test-config, performance-check and what else stands at the top

  // What the reader saw that does not keep this from being a netlist: repeated keys, surplus list elements. check_netlist repeats it.
  std::vector<Diagnostic> findings;

  SourceLoc loc(SourceLocation p) const { return {file, p.line, p.column}; }
};
// Equal in all but places, findings and the name of the file.
bool operator==(const Netlist& a, const Netlist& b);

}  // namespace buda::netlist

#pragma GCC visibility pop
