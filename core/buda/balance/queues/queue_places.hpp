// SPDX-License-Identifier: Apache-2.0
// Queues that the user puts into a channel of DRAM: queue.NAME.dram=[CHIP,CHANNEL], from --set and config files.
#pragma once

#include <buda/balance/queues/queues.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>

#include <map>
#include <string>

namespace buda::balance {

// Keys are without "queue.": "input_ids.dram". Reports all that is wrong with them: unknown keys, values of another form, chips and
// channels that the device does not have.
Result<QueuePlaces> parse_queue_places(const std::map<std::string, std::string>& given, const device::DeviceDescriptor& device);

// Whether the queues of a plan lie where they are to: an error for each name that no queue has, for each queue that another chip uses, or
// that lies in the host's memory, and for each whose channel has no room (BL053).
Result<void> check_queue_places(const QueueSet& queues, const QueuePlaces& places);

}  // namespace buda::balance
