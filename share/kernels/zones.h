// ZONE("block"): from here to the end of the scope is a zone of the kernel's profile. Without kernelc's --zones nothing is left of it.
//
// Marks have the time of the processor, which pushes instructions: the coprocessor may be as far behind as its queue is long. A mark for
// which there is no room is counted, not waited for.
#pragma once

#include <core.h>

namespace tt {

// RISCV_DEBUG_REG_WALL_CLOCK_L: cycles, the lower 32 bits.
enum : uint32_t { kWallClock = 0xffb121f0u };

__attribute__((noinline)) inline void mark_zone(uint32_t what) {
  const uint32_t cycle = at(kWallClock);
  volatile ZoneRing& ring = *reinterpret_cast<volatile ZoneRing*>(kZoneAddress + TT_THREAD * sizeof(ZoneRing));
  const uint32_t to = ring.written;
  if (to + 2 - ring.read > kZoneWords) {
    ring.lost = ring.lost + 1;
    return;
  }
  ring.words[to % kZoneWords] = what;
  ring.words[to % kZoneWords + 1] = cycle;
  ring.written = to + 2;
}

class Zone {
 public:
  explicit Zone(const char* name) : name_(reinterpret_cast<uint32_t>(name)) { mark_zone(name_); }
  ~Zone() { mark_zone(name_ | kZoneEnds); }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  uint32_t name_;
};

}  // namespace tt

#ifdef TT_ZONES
// The mark before the name tells who runs the kernel that it has zones.
#define ZONE(name) const ::tt::Zone TT_ZONE_OF(__LINE__)("ZONE:" name)
#define TT_ZONE_OF(line) TT_ZONE_AT(line)
#define TT_ZONE_AT(line) zone_of_line_##line
#else
#define ZONE(name) static_cast<void>(0)
#endif
