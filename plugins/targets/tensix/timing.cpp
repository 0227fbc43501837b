// SPDX-License-Identifier: Apache-2.0
// What is waited for, and bytes from L1.
#include "timing.hpp"

namespace buda::tensix {
namespace {

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t per_cycle) { return (bytes + per_cycle - 1) / per_cycle; }

// What two unpackers get that want speeds `first` and `second`: unpackers 0 and 1.
struct Speeds {
  std::uint32_t first, second;
};
Speeds shared(std::uint32_t first, std::uint32_t second) {
  if (first == 1 || second == 1) return {first, second};
  return {first / 2, second / 2};
}

}  // namespace

Cycle Timing::done(std::size_t thread) const {
  const Thread& t = threads_[thread];
  return std::max({t.next, t.matrix, t.vector, t.unpacked[0], t.unpacked[1], t.packed[0], t.packed[1], t.packed[2], t.packed[3]});
}

Cycle Timing::units_done(std::size_t thread, std::uint32_t conditions) const {
  Cycle at = 0;
  for (std::size_t u = 0; u < 2; ++u)
    if ((conditions >> (1 + u) & 1) != 0) at = std::max(at, threads_[thread].unpacked[u]);
  for (std::size_t p = 0; p < 4; ++p)
    if ((conditions >> (3 + p) & 1) != 0) at = std::max(at, threads_[thread].packed[p]);
  if ((conditions & 1u << 7) != 0) at = std::max(at, threads_[thread].matrix);
  if ((conditions & 1u << 14) != 0) at = std::max(at, threads_[thread].vector);
  return at;
}

// While both are at work each is slower; the other one may have been at work before, and be so longer now.
void Timing::unpack(std::size_t thread, std::size_t unpacker, std::uint32_t bytes, std::uint32_t speed, SourceBank* bank) {
  Job& job = jobs_[unpacker];
  Job& other = jobs_[1 - unpacker];
  const Cycle begin = std::max(now + latency::kUnpackAddress, job.end);
  Cycle end = begin + rounded_up(bytes, std::uint64_t{16} * speed);
  if (other.end > begin) {
    const Speeds speeds = unpacker == 0 ? shared(speed, other.speed) : shared(other.speed, speed);
    const std::uint64_t mine = std::uint64_t{16} * (unpacker == 0 ? speeds.first : speeds.second),
                        its = std::uint64_t{16} * (unpacker == 0 ? speeds.second : speeds.first);
    const std::uint64_t left = std::min<std::uint64_t>(other.bytes, (other.end - begin) * 16 * other.speed);
    const Cycle my_time = rounded_up(bytes, mine), its_time = rounded_up(left, its);
    if (its_time <= my_time) {
      other.end = begin + its_time;
      end = other.end + rounded_up(bytes - std::min<std::uint64_t>(bytes, its_time * mine), std::uint64_t{16} * speed);
    } else {
      end = begin + my_time;
      other.end = end + rounded_up(left - std::min<std::uint64_t>(left, my_time * its), std::uint64_t{16} * other.speed);
    }
    if (other.bank != nullptr) other.bank->since = other.end;
    threads_[other.thread].unpacked[1 - unpacker] = other.end;
  }
  job = {end, bytes, speed, bank, thread};
  if (bank != nullptr) bank->since = end;
  threads_[thread].unpacked[unpacker] = end;
}

}  // namespace buda::tensix
