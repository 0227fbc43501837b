// SPDX-License-Identifier: Apache-2.0
// The queues of a netlist, by name and by number.
#pragma once

#include <buda/timed/queue_pointers.hpp>

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buda::timed {

class QueueTable {
 public:
  // The netlist outlives it.
  explicit QueueTable(const netlist::Netlist& netlist);

  // Of type queue, by name; nothing for rams and ops.
  std::optional<std::size_t> queue_named(const std::string& name) const;
  // SM011 where there is none of that name.
  Result<std::size_t> find(const std::string& name) const;
  // SM012 where it is a ram; `why` says what rams do instead.
  Result<std::size_t> find_queue(const std::string& name, const char* why) const;
  QueuePointers& operator[](std::size_t queue) { return pointers_[queue]; }
  const QueuePointers& operator[](std::size_t queue) const { return pointers_[queue]; }
  std::size_t size() const { return pointers_.size(); }
  const std::vector<std::size_t>& written_by(const std::string& op) const;
  // Some op of the netlist reads it.
  bool is_read(std::size_t queue) const { return is_read_[queue]; }

 private:
  const netlist::Netlist& netlist_;
  std::vector<QueuePointers> pointers_;  // as in the netlist
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::vector<std::size_t>> written_by_;  // by op
  std::vector<bool> is_read_;
};

}  // namespace buda::timed
