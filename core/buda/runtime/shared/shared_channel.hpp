// SPDX-License-Identifier: Apache-2.0
// The memory between the process that runs an image and those that push and pop: two rings of batches, and who is there.
//
// Each ring has one writer and one reader. A batch is written whole before it is counted, so that a writer that dies leaves all of it or
// nothing. Who waits looks every kGlance whether those that it waits for still live (SharedMemory::claim).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/shared_memory.hpp>
#include <buda/runtime/pipeline_device.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace buda::runtime {

inline constexpr std::chrono::milliseconds kGlance{20};

enum class Way : std::uint8_t { in, out };                     // to the process that runs the image, and from it
enum class Party : std::uint32_t { runtime, pusher, popper };  // numbers of claims
enum class Presence : std::uint32_t { absent, here, closed };
enum class ChannelState : std::uint32_t { running, finished, failed };

class SharedChannel {
 public:
  using Types = std::array<std::vector<TensorType>, 2>;  // of a batch, by Way

  // `entries` batches in each ring.
  static Result<std::unique_ptr<SharedChannel>> create(const std::string& name, Types types, std::size_t entries);
  // Null while there is none that a living process serves. RT080: it is no such channel, or damaged.
  static Result<std::unique_ptr<SharedChannel>> open(const std::string& name);

  const std::vector<TensorType>& types(Way way) const { return types_[static_cast<std::size_t>(way)]; }
  bool has_batch(Way way) const;
  bool has_room(Way way) const;
  // There must be room; the tensors have the types of the way.
  void write(Way way, const NamedTensors& batch);
  // There must be a batch.
  Result<NamedTensors> read(Way way);

  bool enter(Party party);  // false: another process is that
  void close(Party party);
  Presence presence(Party party) const;
  // It was here, has not closed, and is no more.
  bool has_died(Party party) const;

  ChannelState state() const;
  void finish();
  // Told to all; the first failure stays.
  void fail(const std::string& message);
  std::string failure() const;

  // Wakes all that wait.
  io::Bell& bell() const;
  // Waits for what `holds` says, until the time is over: then false. It is asked again after every change, and every kGlance.
  template <class Holds>
  bool wait(std::chrono::steady_clock::time_point end, Holds holds) {
    while (true) {
      const std::uint32_t seen = bell().value();
      if (holds()) return true;
      if (std::chrono::steady_clock::now() >= end) return false;
      bell().sleep(seen, kGlance);
    }
  }

 private:
  struct Header;
  SharedChannel() = default;
  Header& header() const;
  Result<std::size_t> lay_out(std::size_t text_bytes, std::uint64_t entries);
  std::byte* place(Way way, std::uint64_t number) const;

  std::unique_ptr<io::SharedMemory> memory_;
  Types types_;
  std::array<std::size_t, 2> batch_bytes_ = {}, offsets_ = {};  // by Way
  std::uint64_t entries_ = 0;
};

}  // namespace buda::runtime
