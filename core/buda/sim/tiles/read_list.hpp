// SPDX-License-Identifier: Apache-2.0
// Which tiles of which queues a stream reads, by position.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <vector>

namespace buda::sim {

// Tiles that lie one after the other in an entry.
struct ReadPiece {
  std::int32_t buffer = 0;  // in DramRead::buffers
  std::int64_t pass = 0;    // entry, counted from the first that the epoch reads
  std::int64_t tile = 0;    // within the entry
  std::int64_t count = 0;
};

class ReadList {
 public:
  ReadList() = default;
  // `read` must outlive the list.
  explicit ReadList(const overlay::DramRead& read);

  std::int64_t pass_tiles() const { return pass_tiles_; }
  // From position `at` (over all passes) on, `most` tiles or fewer. O(log runs).
  ReadPiece piece(std::int64_t at, std::int64_t most) const;

 private:
  const overlay::DramRead* read_ = nullptr;
  std::vector<std::int64_t> first_block_;  // by run, of the pass
  std::int64_t pass_tiles_ = 0;
};

}  // namespace buda::sim
