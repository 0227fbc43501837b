// SPDX-License-Identifier: Apache-2.0
// One option, then both.
#include "buda/image/helpful_option.hpp"

namespace buda::image {

std::string helpful_option(const MemoryOptions& given, const std::function<bool(const MemoryOptions&)>& fits) {
  if (!given.switch_channels && fits({true, given.overlap_dynamic})) return "it fits without --skip_channel_reallocation";
  if (!given.overlap_dynamic && fits({given.switch_channels, true})) return "it fits without --dynamic_queue_overlap_off";
  if (!given.switch_channels && !given.overlap_dynamic && fits({true, true}))
    return "it fits without --skip_channel_reallocation and --dynamic_queue_overlap_off";
  return "no option helps: merge fewer models, or compile them with smaller queues (balancer --microbatch) or formats";
}

}  // namespace buda::image
