// Pipes that meet at relay buffers are planned as one: from the first, which has the sources and the order of blocks, along the relays to
// the last, which has the outputs. Each relay buffer is a stream that receives and sends on, so its phases are those of the whole way.
#include <buda/overlay/builder.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::overlay {

void Builder::index_relays() {
  for (const Pipe& pipe : graph_.pipes)
    for (Id id : pipe.inputs)
      if (const Buffer* b = index_.find(id); b != nullptr && is_relay(*b)) {
        auto& readers = relay_readers_[b->id];
        if (readers.empty() || readers.back() != &pipe) readers.push_back(&pipe);
      }
}

bool Builder::starts_at_relay(const Pipe& pipe) const {
  return std::any_of(pipe.inputs.begin(), pipe.inputs.end(), [&](Id id) {
    const Buffer* b = index_.find(id);
    return b != nullptr && is_relay(*b);
  });
}

// From a relay buffer to the pipe that leads elsewhere.
bool Builder::follow(const PipePlan& plan, const Buffer* relay, Way& way) {
  const Pipe* bringing = plan.pipe;
  while (way.hops.size() <= graph_.buffers.size()) {
    auto readers = relay_readers_.find(relay->id);
    if (readers == relay_readers_.end()) {
      error("OV002", bringing, relay, cat("no pipe takes from buffer_", relay->id));
      return false;
    }
    const Pipe* next = readers->second.front();
    if (readers->second.size() > 1) {
      unsupported(next, relay, "a relay buffer that several pipes take from");
      return false;
    }
    if (!std::all_of(next->inputs.begin(), next->inputs.end(), [&](Id id) { return index_.find(id) == relay; })) {
      unsupported(next, relay, "a pipe that takes from a relay buffer and from others");
      return false;
    }
    way.hops.push_back({relay, bringing});
    bringing = next;
    const Buffer* out = next->outputs.empty() || next->outputs.front().empty() ? nullptr : index_.find(next->outputs.front().front());
    if (out == nullptr || !is_relay(*out)) {
      way.last = next;
      return true;
    }
    if (next->outputs.size() > 1 || next->outputs.front().size() > 1) {
      unsupported(next, relay, "a relay buffer from which tiles go to several others");
      return false;
    }
    relay = out;
  }
  error("OV002", plan.pipe, relay, "the pipes lead in a circle");
  return false;
}

// Replaces output groups that are relay buffers by what lies at the end of the way.
bool Builder::follow_relays(PipePlan& plan) {
  std::vector<std::vector<const Buffer*>> ends;
  std::vector<Way> ways;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const auto& group = plan.groups[g];
    if (std::none_of(group.begin(), group.end(), [](const Buffer* b) { return is_relay(*b); })) {
      ends.push_back(group);
      ways.push_back({{}, plan.pipe, g});
      continue;
    }
    if (group.size() > 1) {
      unsupported(plan.pipe, group.front(), "tiles that go to several relay buffers at once");
      return false;
    }
    Way way;
    if (!follow(plan, group.front(), way)) return false;
    const Buffer& last = *way.hops.back().buffer;
    std::int64_t taken = static_cast<std::int64_t>(way.last->inputs.size()) * way.last->repeats() * last.scatter_gather_num_tiles;
    if (way.last->outputs.size() > 1 && (plan.groups.size() > 1 || taken != plan.pass_tiles)) {
      unsupported(way.last, &last, "a relay buffer from which receivers take other portions in turns than arrive");
      return false;
    }
    for (std::size_t i = 0; i < way.last->outputs.size(); ++i) {
      std::vector<const Buffer*> end;
      if (!resolve_group(*way.last, way.last->outputs[i], end)) return false;
      ends.push_back(std::move(end));
      way.group = i;
      ways.push_back(way);
    }
  }
  plan.groups = std::move(ends);
  plan.ways = std::move(ways);
  return true;
}

// What stands on no way from a source is fed by nobody.
void Builder::check_relays() {
  std::set<Id> reached;
  for (const PipePlan& plan : plans_)
    for (const Way& way : plan.ways)
      for (const Hop& hop : way.hops) reached.insert(hop.buffer->id);
  for (const Buffer& b : graph_.buffers)
    if (is_relay(b) && !reached.contains(b.id)) error("OV002", nullptr, &b, cat("no pipe leads to buffer_", b.id));
}

std::int32_t Builder::core_of_relay(const Buffer& b) const {
  if (b.type != BufferType::ethernet_relay) return core_at(b.chip, b.core);
  auto it = link_core_.find({b.chip, b.ethernet_chan.value_or(-1)});
  return it == link_core_.end() ? -1 : it->second;
}

}  // namespace buda::overlay
