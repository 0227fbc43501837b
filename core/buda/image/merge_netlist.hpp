// SPDX-License-Identifier: Apache-2.0
// Netlists of several models as one. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <set>
#include <string>
#include <vector>

namespace buda::image {

// Puts the prefix before the names of queues, graphs, ops and programs, wherever they occur, and numbers fused ops from `first_fused` on.
void rename_parts(netlist::Netlist& netlist, const std::string& prefix, std::size_t first_fused);

// The same in the plan that goes with it.
void rename_parts(host_plan::HostPlan& plan, const std::string& prefix);

// Everything of all of them, in their order. Names differ, and the architecture is the same. Test configurations are left out: they belong
// to the netlists alone.
netlist::Netlist joined(const std::vector<netlist::Netlist>& netlists);

// Queues that programs allocate and deallocate.
std::set<std::string> dynamic_queues(const netlist::Netlist& netlist);

// Makes queues dynamic that only carry data from one graph of a program to another: all that is written into them is read again before the
// program ends, so that their memory is free while other programs run. The program then allocates them at its beginning and deallocates
// them at its end; the variables of their pointers, which begin anew with them, are no longer static.
// A queue is left alone when the host or a second program has to do with it, when it is read before it is written, when it shares memory or
// variables with a queue that stays, and when its pointers are numbers. `kept` are the queues that the host uses.
void make_dynamic(netlist::Netlist& netlist, const std::set<std::string>& kept);

}  // namespace buda::image
