// SPDX-License-Identifier: Apache-2.0
// The memory of one queue or ram, with the pointers of its header.
#pragma once

#include <buda/arith/value.hpp>

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace buda::arith {

// A queue's pointers run from 0 to 2 * entries - 1, so that full and empty differ: slot = pointer mod entries, occupancy = (write - read)
// mod 2 * entries. A ram has slots only. Pointers given from outside are taken modulo their range, because netlists exist that never wrap
// them.
class QueueMemory {
 public:
  explicit QueueMemory(const netlist::Queue& queue);

  // Makes this a second view of another ram's memory (alias), which must be of the same format and tile size and have as many tiles in as
  // many buffers, and live as long. What lies in a buffer are tiles one after the other; each view has its own idea of which is which.
  void look_at(QueueMemory& other) { target_ = &other; }

  const netlist::Queue& queue() const { return *queue_; }
  bool is_ram() const { return queue_->kind == netlist::QueueKind::ram; }
  std::int64_t entries() const { return std::max(queue_->entries, 0); }

  // Of queues.
  std::int64_t occupancy() const { return from(read_); }
  std::int64_t room() const { return entries() - occupancy(); }
  // Entries between a pointer and the write pointer: what a reader there can take. Above entries() the reader is ahead of the writer.
  std::int64_t from(std::int64_t pointer) const { return pointers() == 0 ? 0 : wrapped(write_ - pointer, pointers()); }
  void set_read(std::int64_t pointer) { read_ = wrapped(pointer, pointers()); }
  std::int64_t read_pointer() const { return read_; }
  std::int64_t write_pointer() const { return write_; }
  // Puts a value at the write pointer; there must be room.
  void append(ValuePtr value);
  // Moves the read pointer over entries that are there.
  void drop(std::int64_t count) { set_read(read_ + count); }
  // Moves the write pointer of a full queue as if its entries were pushed again, the oldest first, while others were taken.
  void push_again(std::int64_t count) { write_ = wrapped(write_ + count, pointers()); }
  // Back to what a queue is when it is allocated.
  void clear();

  // The value in the slot that a pointer means; null where nothing was written yet.
  ValuePtr at(std::int64_t pointer) const { return target_ == nullptr ? slots_[slot(pointer)] : view(slot(pointer)); }
  void put(std::int64_t pointer, ValuePtr value);

 private:
  static std::int64_t wrapped(std::int64_t value, std::int64_t range) { return range == 0 ? 0 : ((value % range) + range) % range; }
  std::int64_t pointers() const { return 2 * entries(); }
  std::size_t slot(std::int64_t pointer) const { return static_cast<std::size_t>(wrapped(pointer, entries())); }
  ValuePtr view(std::size_t slot) const;

  const netlist::Queue* queue_;
  QueueMemory* target_ = nullptr;
  std::vector<ValuePtr> slots_;  // at least one, also of a queue without entries
  std::int64_t read_ = 0;
  std::int64_t write_ = 0;
};

}  // namespace buda::arith
