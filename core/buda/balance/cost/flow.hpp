// SPDX-License-Identifier: Apache-2.0
// Ops and edges as buda/cost/pipeline.hpp counts them.
#pragma once

#include <buda/balance/resources/resources.hpp>
#include <buda/cost/pipeline.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/netlist/model/op.hpp>

#include <cstddef>

#pragma GCC visibility push(default)

namespace buda::balance {

// An op without its inputs. `kernel`: cycles of its kernel; `write`: to take its result to a queue, 0 if there is none.
cost::PipelineOp pipeline_op(const netlist::Op& op, double kernel, double write);

// From an op beside it, `from`, over an edge of this flow.
cost::PipelineInput pipeline_input(const netlist::Op& op, std::size_t input, const EdgeFlow& flow, std::size_t from,
                                   const device::DeviceDescriptor& device);
// From a queue, in so many cycles.
cost::PipelineInput queue_input(const netlist::Op& op, std::size_t input, double cycles, const device::DeviceDescriptor& device);

}  // namespace buda::balance

#pragma GCC visibility pop
