// SPDX-License-Identifier: Apache-2.0
// Questions to the streams of a pipe.
#include <buda/overlay/streams/allocation.hpp>

#include <algorithm>

namespace buda::overlay {

const Padding* only_padding(const PipePlan& plan, const PipeStreams& streams, std::int32_t source, std::size_t target) {
  auto found = std::find_if(plan.padding.begin(), plan.padding.end(),
                            [&](const Padding& p) { return p.source == source && streams.target_of[p.group] == target; });
  return found == plan.padding.end() || plan.has_blocks_of(source) ? nullptr : &*found;
}

}  // namespace buda::overlay
