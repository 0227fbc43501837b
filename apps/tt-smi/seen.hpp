// SPDX-License-Identifier: Apache-2.0
// The devices that there are to show: of a run, or those that could be simulated.
#pragma once

#include "apps/tt-smi/machine.hpp"

#include <buda/io/host.hpp>
#include <buda/telemetry/telemetry.hpp>

#include <string>
#include <vector>

namespace buda::tt_smi {

// Of telemetry, in the current folder.
inline constexpr const char* kUsualFile = "telemetry.json";

struct Seen {
  std::vector<telemetry::Telemetry> devices;  // one where a run has told of it
  bool of_run = false;
  bool running = false;
  std::string note;  // a sentence on what they are
};

// `file`: empty for kUsualFile, which need not exist. `device`: the one that is shown then; empty: all that are known.
Result<Seen> look(const std::string& file, const std::string& device, const Machine& machine, Host& host);

}  // namespace buda::tt_smi
