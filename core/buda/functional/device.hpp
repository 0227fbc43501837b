// SPDX-License-Identifier: Apache-2.0
// A device that lives on the host: queues as ring buffers, graphs executed op by op. Targets without streams are such devices; what they
// differ in is who computes an op.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/arith/precision.hpp>

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/target.hpp>

#include <cstdint>
#include <functional>
#include <memory>

#pragma GCC visibility push(default)

namespace buda::functional {

struct DeviceOptions {
  arith::Mode mode = arith::Mode::exact;
  bool check_nan = false;  // count NaN, infinities and saturated numbers by op, and report the first that each makes
  // Numbers of manipulated inputs of an op that are laid out at once: more are worked on t by t where the op allows it.
  std::int64_t most_numbers = std::int64_t{1} << 27;
  // What computes an op; without it the host does, as `mode` says.
  std::function<arith::Outcome(const arith::OpCall&)> run_op = {};
};

// The host must outlive the device.
Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const DeviceOptions& options, Host& host);

}  // namespace buda::functional

#pragma GCC visibility pop
