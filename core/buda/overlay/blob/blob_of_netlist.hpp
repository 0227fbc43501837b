// SPDX-License-Identifier: Apache-2.0
// Whether stream programs are of a netlist: they name its ops and queues, at the places that it gives them.
#pragma once

#include <buda/netlist/model/netlist.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <span>
#include <string>

namespace buda::overlay {

// False of cores that only pass tiles on.
bool has_kernel(const Core& core);
bool has_core(const netlist::Op& op, GridCoord worker);

// The first difference between the stream program of an epoch and the netlist whose graphs (by index) are in that epoch; empty: there is
// none.
std::string difference_from(const Blob& blob, const pipes::NetlistIndex& index, std::span<const std::size_t> graphs);

}  // namespace buda::overlay
