// SPDX-License-Identifier: Apache-2.0
// What differs between two netlists.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <string>
#include <vector>

namespace buda::netlist {

// One difference. Elements are the same by name; ops by name wherever their graph, which is one of their fields.
struct Difference {
  enum class Kind { removed, added, changed };
  Kind kind = Kind::changed;
  std::string element;  // "queue", "op", "graph", "fused op", "sub-op", "program", "netlist"
  std::string name;
  std::string field;          // of a change: "mblock", "attributes.m_k"; in programs "execute 'fwd' setting 'q' rd_ptr_local"
  std::string before, after;  // values as in the file; empty for what is not there
  // "~ op 'mm' mblock: [1, 1] -> [2, 1]", "- queue 'a'", "+ program 'run': varinst: [$l, set, 0]".
  std::string text() const;
};

// In the order of `before`, then what `after` adds. SourceLocations, the layout of the text and the order of queues, graphs and ops do not
// count; the order of programs' instructions does. Empty for netlists that mean and say the same. O(n log n) in the netlists' size but for
// two versions of one program, which cost the product of their lengths between the first and the last difference, as far as that is sane.
std::vector<Difference> diff(const Netlist& before, const Netlist& after);

}  // namespace buda::netlist
