// SPDX-License-Identifier: Apache-2.0
// From chosen and placed ops to the netlist.
#pragma once

#include <buda/balance/emit/laid_out.hpp>
#include <buda/balance/queues/queue_loads.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// Bytes of a channel of DRAM that were given out, and those there are.
struct DramChannelUse {
  std::int32_t chip = 0;
  std::uint64_t used = 0, capacity = 0;
};

struct BuiltNetlist {
  netlist::Netlist netlist;
  // What the report tells of it: links of each op, by OpId; channels of DRAM in order, chip after chip.
  std::vector<Links> links;
  std::vector<DramChannelUse> dram;
  // The queue's buffers stand in the netlist; this is the set they came from.
  QueueSet queues;
  std::vector<QueueUse> uses;  // of each queue, as routes say
  LaidOut laid_out;            // filled in later
};

// Gives queues their addresses, in channels as `options` say, and ops their places, inputs and overlay sizes; one graph per epoch. Queues
// whose buffers are too large for channels to share what an epoch reads are divided into more.
// Every op is judged once more with the links that it really has. Fails when DRAM is full, or an op does not fit, with all findings.
Result<BuiltNetlist> build_netlist(const Problem& problem, const Choice& choice, QueueSet queues, const QueueOptions& options);

}  // namespace buda::balance
