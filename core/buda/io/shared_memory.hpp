// SPDX-License-Identifier: Apache-2.0
// Memory that several processes have in common, with what they need to wait for each other and to notice that one is gone.
#pragma once

#include <buda/diag/result.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace buda::io {

// A named piece of memory, of POSIX. Whoever has created it removes the name when it goes; processes that have opened it keep the memory.
class SharedMemory {
 public:
  // All bytes are zero. IO040: the name is none, or in use by a process that lives: its claim 0 is held. What a dead one has left is
  // replaced.
  static Result<std::unique_ptr<SharedMemory>> create(const std::string& name, std::size_t size);
  // Nothing where there is none of this name (yet). IO040: it cannot be opened; it is another user's, or open to others.
  static Result<std::unique_ptr<SharedMemory>> open(const std::string& name);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // A claim is held by one process at a time, by its number; the system gives it back when that process ends, however it does. A process
  // that has been forked in the meantime holds it, too.
  bool claim(std::uint32_t number);  // false: another process holds it
  void give_back(std::uint32_t number);
  bool is_claimed(std::uint32_t number) const;  // by another process

 private:
  SharedMemory(std::string name, int fd, bool owns) : name_(std::move(name)), fd_(fd), owns_(owns) {}
  Result<void> map(std::size_t size);

  std::string name_;
  int fd_ = -1;
  bool owns_ = false;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A word in shared memory on which processes wait: ring() after a change, sleep() with the value read before looking at what may change.
class Bell {
 public:
  std::uint32_t value() const { return word_.load(std::memory_order_acquire); }
  void ring();
  // Until it rings, or the time is over; at once when it has rung since `seen`.
  void sleep(std::uint32_t seen, std::chrono::milliseconds most);

 private:
  std::atomic<std::uint32_t> word_;
};

}  // namespace buda::io
