// SPDX-License-Identifier: Apache-2.0
// Counts rounds.
#include <buda/pipes/interchip/rounds.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::pipes {

std::vector<std::int64_t> rounds_per_group(const Pipe& pipe, std::int64_t passes) {
  auto padded = [&](std::size_t g) { return g < pipe.output_padding.size() && pipe.output_padding[g] != 0; };
  std::int64_t unpadded = 0, round = -1;
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) unpadded += padded(g) ? 0 : 1;
  std::vector<std::int64_t> out;
  for (std::size_t g = 0; g < pipe.outputs.size(); ++g) {
    round += padded(g) ? 0 : 1;
    out.push_back((passes - std::max<std::int64_t>(round, 0) + unpadded - 1) / std::max<std::int64_t>(unpadded, 1));
  }
  return out;
}

std::vector<Receiver> receivers_of(const InterChipPipe& pipe) {
  std::vector<Receiver> out;
  std::map<std::vector<Id>, std::size_t> known;
  const std::vector<std::int64_t> rounds = rounds_per_group(pipe.pipe, pipe.transfer.passes);
  for (std::size_t g = 0; g < rounds.size(); ++g) {
    auto [it, fresh] = known.emplace(pipe.pipe.outputs[g], out.size());
    if (fresh) out.push_back({});
    out[it->second].groups.push_back(g);
    out[it->second].rounds += rounds[g];
  }
  return out;
}

bool can_separate_receivers(const InterChipPipe& pipe) {
  const Transfer& t = pipe.transfer;
  if (pipe.pipe.outputs.size() < 2 || t.from_queue || t.from == t.to || t.fixed_route != nullptr) return false;
  const std::vector<Receiver> receivers = receivers_of(pipe);
  std::set<Id> known;
  return receivers.size() > 1 && std::all_of(receivers.begin(), receivers.end(), [&](const Receiver& receiver) {
           const auto& group = pipe.pipe.outputs[receiver.groups.front()];
           return t.pass_tiles * receiver.rounds % t.input_count == 0 &&
                  std::all_of(group.begin(), group.end(), [&](Id id) { return known.insert(id).second; });
         });
}

}  // namespace buda::pipes
