// SPDX-License-Identifier: Apache-2.0
// What of the netlist format a set of netlists uses.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <set>
#include <string>
#include <vector>

namespace buda::judge {

class Coverage {
 public:
  void add(const netlist::Netlist& netlist);

  // What of the format no netlist so far used: op types, also as steps of fused ops; attributes and properties of ops with another value
  // than their default; manipulations; formats that golden computes in; kinds and places of queues. Empty when all was there.
  std::vector<std::string> missing() const;

 private:
  void add_op(const netlist::Op& op);
  std::set<std::string> seen_;
};

}  // namespace buda::judge
