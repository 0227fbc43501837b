// The program that runs the epochs.
#pragma once

#include <buda/balance/queues/queues.hpp>
#include <buda/netlist/model/program.hpp>

#include <string>

namespace buda::balance {

inline constexpr const char* kLoopCount = "$p_loop_count";

std::string graph_name(std::int32_t epoch);      // "fwd_0_3"
std::string program_name(std::int32_t segment);  // "run_fwd_0"

// The program of a segment of the device, whose epochs follow those of segments before it. One turn of the loop takes `microbatch` entries
// of every input through all epochs. Read pointers of a queue, local and global, are static variables that advance after the last epoch
// that reads it, modulo twice its entries; rams are read at slot 0. Queues are read in one segment, rams in any.
netlist::Program make_program(const Problem& problem, const Choice& choice, const QueueSet& queues, std::int32_t segment);

}  // namespace buda::balance
