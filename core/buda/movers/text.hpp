// SPDX-License-Identifier: Apache-2.0
// Tables for readers.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/movers/tables.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <string>

namespace buda::movers {

// For each core with anything to move: its rings, what they receive and what they send, with all loops written out as runs of tuples, and
// the bytes that the tables take in L1. `blob`: of which `tables` were made.
std::string text_of(const Tables& tables, const overlay::Blob& blob, const device::DeviceDescriptor& device);

}  // namespace buda::movers
