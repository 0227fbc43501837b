// SPDX-License-Identifier: Apache-2.0
// Reads the file of a run, or looks devices up.
#include "apps/tt-smi/seen.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/tool.hpp>
#include <buda/device/load.hpp>
#include <buda/screen/text.hpp>
#include <buda/telemetry/sensors.hpp>

namespace buda::tt_smi {
namespace {

using telemetry::State;
using telemetry::Telemetry;

std::string work_of(const Telemetry& t) {
  std::string out = cat(screen::safe_text(t.model), " on target ", screen::safe_text(t.target), ": ", t.executions,
                        t.executions == 1 ? " execution" : " executions", " of epochs");
  if (t.clock_hz > 0 && t.cycles.ticks > 0)
    out += cat(", ", screen::number_text(t.cycles.cycles()), " cycles (", screen::number_text(1e3 * t.cycles.cycles() / t.clock_hz, 3),
               " ms)");
  out += cat(" in ", screen::number_text(t.seconds, 1), " s");
  return t.epoch.empty() ? out : cat(out, ", the last '", screen::safe_text(t.epoch), "'");
}

Result<Seen> idle_devices(const std::string& device, Host& host) {
  Seen out;
  for (const std::string& name : device.empty() ? device::known_devices(host) : std::vector<std::string>{device}) {
    BUDA_ASSIGN(const auto descriptor, device::load_device(host, name));
    out.devices.push_back(telemetry::idle_device(descriptor));
    out.devices.back().version = cli::version_text();
  }
  out.note = cat("no simulation is running: there is no ", kUsualFile, ", which runner --telemetry would write. Idle devices:");
  return out;
}

}  // namespace

Result<Seen> look(const std::string& file, const std::string& device, const Machine& machine, Host& host) {
  if (file.empty() && !host.fs().exists(kUsualFile)) return idle_devices(device, host);
  const std::string path = file.empty() ? kUsualFile : file;
  BUDA_ASSIGN(const io::Bytes bytes, host.fs().read(path));
  BUDA_ASSIGN(Telemetry t, telemetry::parse_telemetry(bytes.view(), path));
  Seen out;
  out.of_run = true;
  out.running = t.state == State::running && machine.is_alive(t.process);
  if (out.running) {
    out.note = cat("running: ", work_of(t));
  } else if (t.state == State::idle) {
    out.note = "no simulation is running: the device is idle";
  } else {
    out.note = cat("no simulation is running: it has ", t.state == State::ended ? "ended" : "been killed", ". Last readings: ", work_of(t));
  }
  out.devices.push_back(std::move(t));
  return out;
}

}  // namespace buda::tt_smi
