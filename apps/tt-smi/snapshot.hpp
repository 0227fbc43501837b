// SPDX-License-Identifier: Apache-2.0
// A snapshot of host and devices: format buda.snapshot/1 (docs/formats/telemetry.md).
#pragma once

#include "apps/tt-smi/machine.hpp"
#include "apps/tt-smi/seen.hpp"

#include <buda/schema/record.hpp>

#include <string>
#include <vector>

namespace buda::tt_smi {

struct Check {
  std::string name, result;
  bool passed = true;
  friend bool operator==(const Check&, const Check&) = default;
};

struct Snapshot {
  std::string time, note;
  HostInfo host;
  std::vector<Check> compatibility;
  std::vector<telemetry::Telemetry> devices;
};

Snapshot snapshot_of(const Seen& seen, const Machine& machine);

const schema::Record<HostInfo>& describe(const HostInfo*);
const schema::Record<Check>& describe(const Check*);
const schema::Record<Snapshot>& describe(const Snapshot*);

}  // namespace buda::tt_smi
