// SPDX-License-Identifier: Apache-2.0
// Which stream numbers of each core are in use. Internal to the module.
#pragma once

#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/per_stream.hpp>
#include <buda/overlay/violations.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace buda::overlay {

// Gives out streams by what they have to do: the number of a stream decides what it can do (docs/internals/streams.md). Where none is left,
// there is nothing, and a violation says what would help.
class StreamPool {
 public:
  StreamPool(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, Violations& violations)
      : in_(in), cores_(cores), plans_(plans), violations_(violations), streams_(cores.cores().size()) {}

  // The stream of that number; null if it is in use.
  Stream* add(StreamRef ref, StreamKind kind);
  // A free stream: of a worker one above those of kernels, of an Ethernet core one that cannot reach over the link. OV012.
  std::optional<StreamRef> take_free(const PipePlan& plan, std::int32_t core, StreamKind kind);
  // One that can send over the link of an Ethernet core, or receive from it, for what `user` names. OV018.
  std::optional<StreamRef> take_link(std::int32_t core, StreamKind kind, const std::string& user);
  // One of an Ethernet core that need not reach over the link. OV012.
  std::optional<StreamRef> take_ethernet(std::int32_t core, StreamKind kind, const std::string& user);
  // One that can multicast, for `pipe`. OV013.
  std::optional<StreamRef> take_multicast(std::int32_t core, const Pipe& pipe);

  Stream& operator[](StreamRef ref) { return streams_.at(ref); }
  const Stream& operator[](StreamRef ref) const { return streams_.at(ref); }
  PerStream<Stream>& streams() { return streams_; }

 private:
  std::optional<StreamRef> take_worker(const PipePlan& plan, std::int32_t core, StreamKind kind);
  std::uint64_t free_streams_needed(std::int32_t core) const;

  const EpochInput& in_;
  const CoreMap& cores_;
  const PipePlans& plans_;
  Violations& violations_;
  PerStream<Stream> streams_;
};

}  // namespace buda::overlay
