// SPDX-License-Identifier: Apache-2.0
// Neighbouring tiles as one, and equal steps as runs. Internal to the module.
#pragma once

#include <buda/movers/tables.hpp>

#include <cstdint>
#include <vector>

namespace buda::movers {

// What is read, in order.
class ReadPieces {
 public:
  explicit ReadPieces(std::int32_t tile_bytes) : tile_bytes_(tile_bytes) {}
  void add(std::int64_t tiles, std::int64_t node, std::uint64_t address);
  std::vector<ReadRun> runs();

 private:
  std::int64_t tile_bytes_;
  ReadRun::Tuple last_{};
  std::vector<ReadRun> runs_;
};

// What is sent or written, in order.
class SendPieces {
 public:
  SendPieces(std::int32_t tile_bytes, bool writes) : step_(writes ? tile_bytes : 1) {}
  // `place`: the number at the receiver, or an address.
  void add(std::int64_t tiles, std::int64_t to, std::int64_t number, std::uint64_t place);
  // With what is the lowest number after each, of `all` in the ring.
  std::vector<SendRun> runs(std::int64_t all) const;

 private:
  std::int64_t step_;  // of places
  std::vector<SendRun::Tuple> pieces_;
};

}  // namespace buda::movers
