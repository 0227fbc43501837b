// SPDX-License-Identifier: Apache-2.0
// The whole chip of the vendor's simulator, in a process of its own: the library can be used once per process, and ends the process on
// errors.
#pragma once

#include <buda/chip/bus.hpp>

#include <memory>
#include <optional>
#include <string>

namespace buda::ttsim {

// TT002: the library cannot be loaded. `host`: the node by which the chip reaches memory of the host.
Result<std::unique_ptr<chip::Bus>> open_chip(const std::string& library, std::optional<device::NocCoord> host);

}  // namespace buda::ttsim
