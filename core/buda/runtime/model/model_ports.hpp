// SPDX-License-Identifier: Apache-2.0
// The ports of a whole model, whose host segments read inputs, too.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/ports.hpp>

namespace buda::runtime {

// As bind_ports, with inputs that neither device nor host graphs read marked. The model must outlive the ports.
Result<Ports> ports_of(const Model& model);

}  // namespace buda::runtime
