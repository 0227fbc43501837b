// SPDX-License-Identifier: Apache-2.0
// Ops that lead from the host to the device and back inside a mixed graph (graph/placement.hpp).
#pragma once

#include <buda/ops/table/op.hpp>

#include <vector>

namespace buda::ops {

// to_device, at device level, and to_host, at tensor level: an op is of the level of its result. Their attributes are those of inputs and
// outputs of device graphs (device_layout.hpp).
std::vector<OpDef> border_ops();

}  // namespace buda::ops
