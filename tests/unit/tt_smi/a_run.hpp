// SPDX-License-Identifier: Apache-2.0
// Two chips of a running simulation.
#pragma once

#include "apps/tt-smi/seen.hpp"

#include <buda/cli/tool.hpp>

namespace buda::tt_smi {

inline Seen a_run() {
  telemetry::Telemetry t;
  t.state = telemetry::State::running;
  t.version = cli::version_text();
  t.target = "grid";
  t.model = "net.yaml";
  t.device = "n300";
  t.arch = "wormhole_b0";
  t.clock_hz = 1e9;
  for (std::int32_t id : {0, 1}) {
    telemetry::Chip chip;
    chip.id = id;
    chip.mmio = id == 0;
    chip.grid = {2, 3};
    chip.harvested_rows = {10, 11};
    chip.dram_channels = 6;
    chip.dram_channel_bytes = 2000000000;
    chip.dram_channel_gbs = 40;
    chip.host_gbs = 16;
    chip.ethernet_channels = 16;
    chip.dram_bytes = 1500000;
    chip.now = telemetry::Activity{{0, 0.09, 0.1, 0.55, 0.999, 1}, 12.5, {0.8, 1000, 540, 900, 50, 40, 42.1, 44, 25}};
    chip.average = chip.now;
    chip.average->readings.core_watts = 35;
    chip.limits = {1000, 131.5, 105.2, 75, 90};
    t.chips.push_back(chip);
  }
  return {{t}, true, true, "running: net.yaml"};
}

inline HostInfo a_host() { return {"Linux", "Debian 12", "6.1", "here", "x86_64", 2, 16000000000}; }

}  // namespace buda::tt_smi
