// SPDX-License-Identifier: Apache-2.0
// Which programs read and fill which queues.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::runtime {

// Programs by queue, in the order of the netlist.
struct QueueUsers {
  std::map<std::string, std::vector<std::string>> readers, writers;

  bool writes(const std::string& program, const std::string& queue) const;
};

QueueUsers users_of_queues(const netlist::Netlist& netlist);

}  // namespace buda::runtime
