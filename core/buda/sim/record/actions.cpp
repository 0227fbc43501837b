// SPDX-License-Identifier: Apache-2.0
// A ring of actions, and the way back through it.
#include <buda/sim/record/actions.hpp>

#include <algorithm>

namespace buda::sim {

Action transfer_action(Action::Kind kind, std::uint32_t stream, std::uint32_t cause, const Fabric::Started& started, Ticks begin, Ticks end,
                       const Path* answered) {
  Action out{begin, end, stream, cause, started.slowest, static_cast<std::uint16_t>(std::min(started.sharing, 0xffffu)), kind};
  Savings saved = started.saved;
  Ticks time = started.duration;
  if (answered != nullptr) {
    time += answered->latency;
    saved[static_cast<std::size_t>(Part::networks)] += (answered->latency - answered->beyond.latency) / 2;
    saved[static_cast<std::size_t>(answered->beyond.part)] += answered->beyond.latency / 2;
  }
  for (std::size_t part = 0; part < kParts; ++part) out.saved[part] = static_cast<std::uint32_t>(saved[part]);
  out.queued = static_cast<std::uint32_t>(end - begin - std::min(end - begin, time));
  return out;
}

std::uint32_t ActionLog::add(const Action& action) {
  const std::size_t slot = count_ & mask_;
  if (slot / kBlock == blocks_.size()) blocks_.emplace_back().reserve(kBlock);
  std::vector<Action>& block = blocks_[slot / kBlock];
  if (slot % kBlock < block.size()) {
    block[slot % kBlock] = action;
  } else {
    block.push_back(action);
  }
  return count_++;
}

const Action* ActionLog::find(std::uint32_t id) const {
  if (id >= count_ || count_ - id > mask_ + 1) return nullptr;
  const std::size_t slot = id & mask_;
  return &blocks_[slot / kBlock][slot % kBlock];
}

std::uint32_t ActionLog::ended_by(Ticks time) const {
  constexpr std::uint32_t kMost = 4096;
  for (std::uint32_t back = 1; back <= std::min(kMost, count_) && find(count_ - back) != nullptr; ++back)
    if (find(count_ - back)->end <= time) return count_ - back;
  return kNoAction;
}

std::vector<Link> chain_of(const ActionLog& log, std::uint32_t last, Ticks from) {
  std::vector<Link> out;
  const Action* action = log.find(last);
  // What a step puts out and what it frees comes at its end, so causes end before their effects begin; only the end of the span is cut.
  while (action != nullptr && action->end > from) {
    const Action* cause = log.find(action->cause);
    const Ticks begin = std::max(action->begin, from);
    Link link{action, action->end - begin, 0};
    if (cause != nullptr && action->begin > from) link.after = action->begin - std::min(action->begin, std::max(cause->end, from));
    out.push_back(link);
    action = cause;
  }
  return out;
}

}  // namespace buda::sim
