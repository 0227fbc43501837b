// SPDX-License-Identifier: Apache-2.0
// Queues: between host and device, between epochs, and the rams of parameters and constants.
#pragma once

#include <buda/balance/chips/crossings.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/policy/epoch_span.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/balance/queues/dram_algorithm.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/queue.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// loopback: written by an op in one step, and read in the next. gradient: in which an op adds up. buffering: between ops of one epoch,
// where the user wants a queue.
enum class QueueRole : std::uint8_t { input, output, parameter, constant, epoch_to_epoch, loopback, gradient, buffering };
std::string_view role_name(QueueRole role);  // "input", "epoch-to-epoch"

struct QueuePlan {
  netlist::Queue queue;  // complete but for the addresses of its buffers
  QueueRole role = QueueRole::input;
  SourceId source;             // of inputs, parameters, constants and loopbacks
  OpId writer;                 // of outputs, loopbacks, epoch-to-epoch and buffering queues
  Stream stream;               // of the writer
  std::vector<OpUse> readers;  // ops; in order
  bool prologue = false;       // its readers hold it in L1
  Lifetime life = {};          // of a dynamic queue: programs allocate it before the first epoch and free it after the last
  // The value of an encoded part of a selection matrix, which no node of the graph has (encode_selections).
  std::shared_ptr<const Tensor> encoded = {};
};

inline constexpr std::size_t kNoQueue = static_cast<std::size_t>(-1);

struct QueueSet {
  std::vector<QueuePlan> queues;                // inputs, outputs, parameters, constants, then between ops
  std::vector<std::vector<std::size_t>> feeds;  // by OpId and input: index into queues, or kNoQueue where an op feeds it directly
};

// Bytes that an epoch reads from which on large buffers are divided.
inline constexpr std::uint64_t kDividedFrom = 300'000;

// A channel of DRAM of one chip.
struct DramPlace {
  std::int32_t chip = 0, channel = 0;
};
using QueuePlaces = std::map<std::string, DramPlace>;  // by name of the queue
inline constexpr const char* kQueuePlaceForm = "queue.NAME.dram=[CHIP,CHANNEL]";

struct QueueOptions {
  std::int32_t batches = 2;  // of the model's inputs and outputs, that queues of the host hold
  DramAlgorithm placement = DramAlgorithm::by_load;
  // By load: epochs that read so many bytes have the large buffers divided that the host fills, so that channels share them.
  std::uint64_t divided_from = kDividedFrom;
  bool inputs_on_host = false;   // queues of inputs lie in the host's memory, but those of rows (layout flat)
  bool outputs_on_host = false;  // and those of outputs
  QueuePlaces places = {};       // of queues that the user places (queue_places.hpp)
};

// - An input is one buffer, or, when it has few tiles, blocked as the smallest of its readers takes it.
//   What tilizers read lies row by row (layout flat).
// - A parameter or constant is blocked as its readers take it; readers that differ get a copy each.
// - Large buffers of both may be divided later, by what epochs read (build_netlist).
// - Outputs and queues between ops have the blocking of the op that writes them. One is shared by all readers in later epochs, and one by
//   the readers of the same epoch for which a queue is demanded. The former are dynamic, unless the problem says otherwise.
// - On several chips, what an op writes lies on its own chip, an input of the model on the chip that reads it first, and each chip has
//   parameters of its own.
// - In a training step of several phases, states are rams of two entries: the optimizer reads one and writes the other, so that no op reads
//   what another has written already. What backward reads of forward waits in a queue for all batches of a run.
// - So has the queue of an input that is an output of the step before. The host pushes its first value; from then on each step takes an
//   entry for each that it adds.
// The links of every op with these queues are checked again; what does not fit is reported, all of it.
// In epochs of `direct`, ops take from ops of other chips that run together with them without a queue.
Result<QueueSet> make_queues(const Problem& problem, const Choice& choice, const QueueOptions& options, const DirectEpochs& direct = {});

// Gives the queues of encoded selection matrices their values: as the choice needs them, once it is final.
void encode_selections(const Problem& problem, const Choice& choice, QueueSet& set);

// Of a queue that an op of a choice writes for ops of later epochs: dynamic where the same run of one program reads all of it.
Lifetime life_between_epochs(const Problem& problem, const Choice& choice, OpId writer, const std::vector<OpUse>& readers);

// Entries of the queues that the host fills or empties, and of those that ops write for others.
std::int64_t host_entries(const Problem& problem, const QueueOptions& options);
std::int64_t entries_between_ops(const Problem& problem, const Lifetime& life);

}  // namespace buda::balance

#pragma GCC visibility pop
