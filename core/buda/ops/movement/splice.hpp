// SPDX-License-Identifier: Apache-2.0
// splice: values one after the other, at device level.
#pragma once

#include <buda/ops/table/op.hpp>

namespace buda::ops {

// Whole tiles, or whole matrices, of up to 8 inputs along z, r or c.
OpDef device_splice();

}  // namespace buda::ops
