// SPDX-License-Identifier: Apache-2.0
// Tensors, for declarations. A declaration elsewhere would hide them (docs/decisions/0019).
#pragma once

#pragma GCC visibility push(default)

namespace buda {

class Tensor;
class NamedTensors;

}  // namespace buda

#pragma GCC visibility pop
