// SPDX-License-Identifier: Apache-2.0
// The fields of a snapshot.
#include "apps/tt-smi/snapshot.hpp"

#include "apps/tt-smi/tables.hpp"

namespace buda::tt_smi {

using schema::Record;

Snapshot snapshot_of(const Seen& seen, const Machine& machine) {
  Snapshot out{machine.time("%Y-%m-%d %H:%M:%S"), seen.note, machine.host(), {}, seen.devices};
  for (const Fact& fact : compatibility(seen, out.host)) out.compatibility.push_back({fact.name, fact.value, !fact.bad});
  return out;
}

const Record<HostInfo>& describe(const HostInfo*) {
  static const auto record = Record<HostInfo>("the machine")
                                 .required("os", &HostInfo::os, "operating system")
                                 .required("distribution", &HostInfo::distribution, "name and version")
                                 .required("kernel", &HostInfo::kernel, "version")
                                 .required("name", &HostInfo::name, "host name")
                                 .required("platform", &HostInfo::platform, "architecture of the processor")
                                 .required("processors", &HostInfo::processors, "how many are online")
                                 .required("memory_bytes", &HostInfo::memory_bytes, "size of the memory");
  return record;
}

const Record<Check>& describe(const Check*) {
  static const auto record = Record<Check>("a check of compatibility")
                                 .required("name", &Check::name, "what is checked")
                                 .required("result", &Check::result, "as it is shown")
                                 .required("passed", &Check::passed, "whether it is as it should be");
  return record;
}

const Record<Snapshot>& describe(const Snapshot*) {
  static const auto record =
      Record<Snapshot>("host and devices at one time", {"buda.snapshot", 1})
          .required("time", &Snapshot::time, "local time")
          .required("note", &Snapshot::note, "what runs on the devices")
          .required("host", &Snapshot::host, "the machine")
          .required("compatibility", &Snapshot::compatibility, "checks")
          .required("devices", &Snapshot::devices, "as buda.telemetry/1; of a run one, else those that could be simulated");
  return record;
}

}  // namespace buda::tt_smi
