// SPDX-License-Identifier: Apache-2.0
// Writes down the phases of streams as tiles pass through them. Internal to the module.
#pragma once

#include <buda/overlay/phases/schedule.hpp>
#include <buda/overlay/streams/per_stream.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace buda::overlay {

// The streams through which tiles of a sender pass, from it to the last before the receivers, and the receivers, which get all of them.
struct StreamPath {
  std::vector<StreamRef> streams;
  std::vector<StreamRef> receivers;        // by core; empty if the last stream writes a queue
  std::vector<std::int64_t> destinations;  // per stream: index in its Stream::destinations of the next one; 0 without
  // Where stream i sends to: the next one, or the first receiver.
  StreamRef next(std::size_t i) const { return i + 1 < streams.size() ? streams[i + 1] : receivers.front(); }
  bool sends(std::size_t i) const { return i + 1 < streams.size() || !receivers.empty(); }
};
StreamPath make_path(const PerStream<Stream>& streams, std::vector<StreamRef> path, const std::vector<StreamRef>& receivers);

// The phases of a component, in order of their ids.
class PhaseRecorder {
 public:
  // A phase has at most `max_tiles`. `streams` have their connections.
  PhaseRecorder(const PerStream<Stream>& streams, std::int64_t max_tiles, PhaseSchedule& schedule)
      : streams_(streams), max_tiles_(max_tiles), schedule_(schedule) {}

  // A block passes from the sender, in whose buffer it is at `offset`, to the receivers. Ids rise. Where one of the receivers begins a
  // phase, so do all streams before it on the path.
  void send(const StreamPath& path, std::int64_t id, std::int64_t offset, std::int64_t tiles);

  // After the last block. All streams repeat their phases so many times.
  void finish(std::int64_t iterations);

 private:
  // The end of a connection: the phase that is still growing.
  struct Receiving {
    Phase phase;
    StreamRef from;
    std::int64_t last_id = -1;  // of the last block received
  };
  // What a sender did last.
  struct Sending {
    StreamRef to;
    std::int64_t last_id = -1;
  };

  bool continues(StreamRef receiver, StreamRef from, StreamRef to, std::int64_t tiles) const;
  void receive(StreamRef receiver, StreamRef from, bool continues, std::int64_t id, std::int64_t tiles, std::int64_t destination);
  void append_phase(StreamRef stream, const Phase& phase);

  const PerStream<Stream>& streams_;
  std::int64_t max_tiles_;
  PhaseSchedule& schedule_;
  std::map<StreamRef, Receiving> receiving_;
  std::map<StreamRef, Sending> sending_;
  std::set<StreamRef> members_;
};

}  // namespace buda::overlay
