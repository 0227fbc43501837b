// SPDX-License-Identifier: Apache-2.0
// Numbers of streams.
#include <buda/overlay/streams/stream_pool.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstddef>

namespace buda::overlay {

Stream* StreamPool::add(StreamRef ref, StreamKind kind) {
  auto [it, fresh] = streams_.of_core(static_cast<std::size_t>(ref.core)).try_emplace(ref.stream);
  if (!fresh) return nullptr;
  it->second.number = ref.stream;
  it->second.kind = kind;
  return &it->second;
}

std::optional<StreamRef> StreamPool::take_free(const PipePlan& plan, std::int32_t core, StreamKind kind) {
  return cores_[core].ethernet ? take_ethernet(core, kind, cat("pipe_", plan.pipe->id)) : take_worker(plan, core, kind);
}

std::optional<StreamRef> StreamPool::take_worker(const PipePlan& plan, std::int32_t core, StreamKind kind) {
  const auto& limits = in_.device.streams;
  const auto& used = streams_.of_core(static_cast<std::size_t>(core));
  const std::int32_t number = std::max(limits.first_extra, used.empty() ? 0 : used.rbegin()->first + 1);
  if (number < limits.per_core) {
    const StreamRef ref{core, number};
    add(ref, kind);
    return ref;
  }
  const std::string& op = cores_[core].op;
  violations_.shortage(
      cores_[core],
      {.code = "OV012",
       .resource = "extra streams",
       .needed = free_streams_needed(core),
       .available = static_cast<std::uint64_t>(limits.per_core - limits.first_extra),
       .what = cat("pipes send from here, and one of them, pipe_", plan.pipe->id, ", has no stream left"),
       .hint = cat("put a nop between '", op, "' and some of its readers, or choose blockings with which fewer cores read from each core"),
       .notes = {}});
  return std::nullopt;
}

// One for each relay buffer, and for each source of a pipe.
std::uint64_t StreamPool::free_streams_needed(std::int32_t core) const {
  std::uint64_t needed = 1;
  for (const Buffer& b : in_.graph.buffers) needed += b.type == BufferType::relay && cores_.of(b) == core ? 1 : 0;
  for (const PipePlan& p : plans_.pipes)
    for (const Buffer* b : p.sources) needed += p.source != SourceKind::dram && cores_.of(*b) == core ? 1 : 0;
  return needed;
}

std::optional<StreamRef> StreamPool::take_link(std::int32_t core, StreamKind kind, const std::string& user) {
  const auto& possible = in_.cluster.eth_core.link_streams;
  for (std::int32_t number : possible)
    if (const StreamRef ref{core, number}; add(ref, kind) != nullptr) return ref;
  violations_.shortage(
      cores_[core],
      {.code = "OV018",
       .resource = "streams over the link",
       .needed = possible.size() + 1,
       .available = possible.size(),
       .what = cat(user, " has none left"),
       .hint = "let fewer cores of one chip read from cores of the other: through a nop with a smaller grid, or by blockings that match",
       .notes = {}});
  return std::nullopt;
}

// Those above the ones of the link first.
std::optional<StreamRef> StreamPool::take_ethernet(std::int32_t core, StreamKind kind, const std::string& user) {
  const auto& eth = in_.cluster.eth_core;
  const auto& links = eth.link_streams;
  const std::int32_t above = links.empty() ? 0 : *std::max_element(links.begin(), links.end()) + 1;
  for (std::int32_t i = 0; i < eth.streams; ++i) {
    const StreamRef ref{core, (above + i) % eth.streams};
    if (std::find(links.begin(), links.end(), ref.stream) == links.end() && add(ref, kind) != nullptr) return ref;
  }
  const auto available = static_cast<std::uint64_t>(std::max<std::int64_t>(eth.streams - static_cast<std::int64_t>(links.size()), 0));
  violations_.shortage(cores_[core], {.code = "OV012",
                                      .resource = "streams other than those for the link",
                                      .needed = available + 1,
                                      .available = available,
                                      .what = cat(user, " has none left"),
                                      .hint = "let fewer ops read from the ethernet_datacopy ops on this core: through a nop",
                                      .notes = {}});
  return std::nullopt;
}

std::optional<StreamRef> StreamPool::take_multicast(std::int32_t core, const Pipe& pipe) {
  const std::int32_t available = std::min(in_.device.streams.multicast_per_core, in_.device.streams.input(0));
  std::int32_t number = 0;
  while (streams_.contains({core, number})) ++number;
  if (number < available) {
    const StreamRef ref{core, number};
    add(ref, StreamKind::multicast);
    return ref;
  }
  violations_.shortage(cores_[core],
                       {.code = "OV013",
                        .resource = "multicasts",
                        .needed = static_cast<std::uint64_t>(number) + 1,
                        .available = static_cast<std::uint64_t>(available),
                        .what = cat("pipe_", pipe.id, " would be one multicast more than this core can send"),
                        .hint = cat("give '", cores_[core].op, "' a grid of one row or column, so that fewer of its inputs are multicast"),
                        .notes = {}});
  return std::nullopt;
}

}  // namespace buda::overlay
