// SPDX-License-Identifier: Apache-2.0
// The header of a queue: how far it has been read and written. What is in it is nowhere: this target moves tags.
#pragma once

#include <buda/netlist/model/queue.hpp>

#include <cstdint>

namespace buda::timed {

// Pointers run from 0 to 2 * entries - 1, so that full and empty differ. Pointers given from outside are taken modulo this range.
class QueuePointers {
 public:
  explicit QueuePointers(const netlist::Queue& queue) : queue_(&queue) {}

  const netlist::Queue& queue() const { return *queue_; }
  bool is_ram() const { return queue_->kind == netlist::QueueKind::ram; }
  std::int64_t entries() const;
  std::uint64_t entry_bytes(std::int32_t tile_alignment) const;
  // Entries between a pointer and the write pointer. Above entries() the pointer is ahead of the writer.
  std::int64_t from(std::int64_t pointer) const { return wrapped(write_ - pointer); }
  std::int64_t occupancy() const { return from(read_); }
  std::int64_t room() const { return entries() - occupancy(); }
  std::int64_t read_pointer() const { return read_; }
  std::int64_t write_pointer() const { return write_; }

  void append(std::int64_t count) { write_ = wrapped(write_ + count); }
  void drop(std::int64_t count) { read_ = wrapped(read_ + count); }
  void set_read(std::int64_t pointer) { read_ = wrapped(pointer); }
  void clear() { read_ = write_ = 0; }

 private:
  std::int64_t wrapped(std::int64_t value) const;

  const netlist::Queue* queue_;
  std::int64_t read_ = 0, write_ = 0;
};

}  // namespace buda::timed
