// SPDX-License-Identifier: Apache-2.0
// What an action could not begin before, beside what let it begin: tiles that were there already, room that had been freed. From this
// reports say what would have happened had something been faster. Internal to the module.
#pragma once

#include <buda/sim/machine/machine.hpp>

#include <array>
#include <cstdint>

namespace buda::sim {

// The stream's buffer has more tiles, or whoever fills it knows of more room, because of what happens now.
void note_put(Machine& m, StreamState& stream);
void note_freed(const Machine& m, Storage& storage);
Need caused_now(const Machine& m, Ticks met);

// Collects what the action that begins now needed, and keeps what was met last.
class Needs {
 public:
  explicit Needs(const Machine& m) : m_(m) {}

  // So many tiles in the buffer, or gone from it, since the epoch began.
  void put(const Storage& storage, std::int64_t tiles) { reached(storage.puts, tiles); }
  void freed(const Storage& storage, std::int64_t tiles) { reached(storage.frees, tiles); }
  void add(const Need& need);
  const std::array<Need, 3>& latest() const { return latest_; }

 private:
  void reached(const Ring<Reached>& counts, std::int64_t tiles);

  const Machine& m_;
  std::array<Need, 3> latest_;
  std::array<Ticks, 3> met_ = {};
};

}  // namespace buda::sim
