// SPDX-License-Identifier: Apache-2.0
// What every target promises of queues and programs, whatever it computes.
#pragma once

#include "apps/plugin-check/suite.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/target.hpp>

namespace buda::plugin_check {

// Tries it on a netlist that adds a ram to a queue, one entry per execution. Values are compared between runs of the same target, so that
// one that computes nothing can pass, too. Unless it must run programs, a target may say that it cannot: then only its queues are tried,
// and the result is false.
bool check_protocol(runtime::Target& target, const device::DeviceDescriptor& device, bool must_run, Host& host, Suite& suite);

}  // namespace buda::plugin_check
