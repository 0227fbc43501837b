// SPDX-License-Identifier: Apache-2.0
// Phases that begin, continue and end.
#include <buda/overlay/phases/phase_recorder.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace buda::overlay {

StreamPath make_path(const PerStream<Stream>& streams, std::vector<StreamRef> path, const std::vector<StreamRef>& receivers) {
  StreamPath out{std::move(path), receivers, {}};
  for (std::size_t i = 0; i < out.streams.size(); ++i) {
    out.destinations.push_back(0);
    if (!out.sends(i)) continue;
    const auto& all = streams.at(out.streams[i]).destinations;
    const StreamRef next = out.next(i);
    out.destinations.back() = std::find_if(all.begin(), all.end(), [&](const Destination& d) { return d.first == next; }) - all.begin();
  }
  return out;
}

void PhaseRecorder::append_phase(StreamRef stream, const Phase& phase) { append(schedule_.at(stream).phases, to_tuple(phase)); }

// Whether a block continues the phase of a receiver: it has to come from the same sender, which has sent nothing elsewhere in between. `to`
// is the receiver, or the first of several.
bool PhaseRecorder::continues(StreamRef receiver, StreamRef from, StreamRef to, std::int64_t tiles) const {
  auto r = receiving_.find(receiver);
  auto s = sending_.find(from);
  return r != receiving_.end() && r->second.from == from && s != sending_.end() && s->second.to == to &&
         s->second.last_id == r->second.last_id && r->second.phase.messages + tiles <= max_tiles_;
}

void PhaseRecorder::receive(StreamRef receiver, StreamRef from, bool continues, std::int64_t id, std::int64_t tiles,
                            std::int64_t destination) {
  auto [it, fresh] = receiving_.try_emplace(receiver);
  Receiving& r = it->second;
  if (!continues) {
    if (!fresh) append_phase(receiver, r.phase);
    const auto& sources = streams_.at(receiver).sources;
    r = {{id, 0, std::find(sources.begin(), sources.end(), from) - sources.begin(), destination, 0}, from, -1};
    members_.insert(receiver);
  }
  r.phase.messages += tiles;
  r.last_id = id;
}

void PhaseRecorder::send(const StreamPath& path, std::int64_t id, std::int64_t offset, std::int64_t tiles) {
  const auto& streams = path.streams;
  members_.insert(streams.front());
  append_phase(streams.front(), {id, tiles, 0, path.destinations.front(), offset});
  bool more = std::all_of(path.receivers.begin(), path.receivers.end(),
                          [&](StreamRef r) { return continues(r, streams.back(), path.receivers.front(), tiles); });
  for (StreamRef r : path.receivers) receive(r, streams.back(), more, id, tiles, 0);
  for (std::size_t i = streams.size() - 1; i > 0; --i) {
    more = more && continues(streams[i], streams[i - 1], streams[i], tiles);
    receive(streams[i], streams[i - 1], more, id, tiles, path.destinations[i]);
  }
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (path.sends(i)) sending_[streams[i]] = {path.next(i), id};
}

void PhaseRecorder::finish(std::int64_t iterations) {
  for (const auto& [receiver, r] : receiving_) append_phase(receiver, r.phase);
  receiving_.clear();
  for (StreamRef r : members_) schedule_.at(r).iterations = iterations;
}

}  // namespace buda::overlay
