// SPDX-License-Identifier: Apache-2.0
// Reading the rings.
#include <buda/kernels/run/zone_rings.hpp>

#include <buda/kernels/programs/program_text.hpp>

#include <kernels/arguments.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace buda::kernels {
namespace {

constexpr std::string_view kZoneText = "ZONE:";
constexpr std::size_t kMaxMarksPerCore = 1'000'000;  // of a core: what nobody reads any more

std::uint32_t zones_of_thread(std::size_t thread) { return tt::kZoneAddress + static_cast<std::uint32_t>(thread * sizeof(tt::ZoneRing)); }

}  // namespace

bool has_zones(const KernelSet& kernels) { return has_text(kernels, kZoneText); }

ZoneRings::ZoneRings(const std::array<Executable, 3>& programs) : programs_(programs) {
  used_ = std::any_of(programs.begin(), programs.end(), [](const Executable& program) { return has_text(program, kZoneText); });
}

void ZoneRings::start(Core& core) const {
  if (!used_) return;
  for (std::size_t t = 0; t < programs_.size(); ++t) core.write(zones_of_thread(t), std::string(sizeof(tt::ZoneRing), '\0'));
  core.allow(tt::kZoneAddress, 3 * sizeof(tt::ZoneRing), Core::Use::shared);
}

bool ZoneRings::take(Core& core, ZoneMarks& to) {
  if (!used_) return false;
  bool any = false;
  std::uint64_t lost = 0;
  for (std::size_t t = 0; t < programs_.size(); ++t) {
    tt::ZoneRing ring;
    core.read(zones_of_thread(t), reinterpret_cast<char*>(&ring), sizeof ring);
    lost += ring.lost;
    // A kernel that writes something else into its ring is read no further.
    while (ring.written - read_[t] >= 2 && ring.written - read_[t] <= tt::kZoneWords) {
      any = true;
      if (to.marks.size() == kMaxMarksPerCore) {
        read_[t] += 2;
        ++dropped_;
        continue;
      }
      const std::uint32_t what = ring.words[read_[t] % tt::kZoneWords], cycle = ring.words[(read_[t] + 1) % tt::kZoneWords];
      const auto name = text_at(programs_[t], what & ~tt::kZoneEnds, kZoneText);
      to.marks.push_back({t, std::string(name.value_or("?")), (what & tt::kZoneEnds) != 0, cycle});
      read_[t] += 2;
    }
    const std::uint32_t read = read_[t];
    core.write(zones_of_thread(t) + static_cast<std::uint32_t>(offsetof(tt::ZoneRing, read)),
               {reinterpret_cast<const char*>(&read), sizeof read});
  }
  to.lost = lost + dropped_;
  return any;
}

}  // namespace buda::kernels
