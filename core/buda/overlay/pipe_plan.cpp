// Questions to a plan about its targets, and about its padding.
#include <buda/overlay/pipe_plan.hpp>

namespace buda::overlay {

std::map<pipes::Id, int> PipePlan::targets_by_buffer() const {
  std::map<pipes::Id, int> out;
  for (const auto& target : targets)
    for (const Buffer* b : target) ++out[b->id];
  return out;
}

bool PipePlan::brings_blocks(std::int32_t number) const {
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& b) { return b.source == number; });
}

const Padding* PipePlan::only_pads(std::int32_t number, std::size_t target) const {
  auto pads =
      std::find_if(padding.begin(), padding.end(), [&](const Padding& p) { return p.source == number && target_of[p.group] == target; });
  return pads == padding.end() || brings_blocks(number) ? nullptr : &*pads;
}

std::size_t PipePlan::joins(const Padding& p) const {
  return p.hop == Padding::kBehind ? lines[target_of[p.group]].size() - (multicast ? 1 : 0) : p.hop;
}

}  // namespace buda::overlay
