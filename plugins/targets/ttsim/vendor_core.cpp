// SPDX-License-Identifier: Apache-2.0
// Memory, registers and the beginning of a core.
//
// The compute threads begin where configuration words 158 to 160 say if word 161 lets them; only processors of the core write
// configuration. So the first of these runs a program of a few instructions, at address 0, that sets them and then ends the reset of the
// others. Source: tt-isa-documentation, WormholeB0, SoftReset.
#include "vendor_core.hpp"

#include <vector>

namespace buda::ttsim {
namespace {

constexpr std::uint32_t kConfig = 0xffef0000u, kReset = 0xffb121b0u;
// Bits of processors that are kept in reset: of all but the first, and of the one that moves data alone.
constexpr std::uint32_t kAllButFirst = 0x47000, kMoverOnly = 0x40000;
constexpr std::uint32_t kTurn = 64;  // cycles

// The program: stores of constants, and a load that makes sure that they have arrived.
class StartProgram {
 public:
  void store(std::uint32_t address, std::uint32_t value) {
    set(10, address);
    set(11, value);
    words_.push_back(0x00b52023);  // sw a1, 0(a0)
  }
  void load(std::uint32_t address) {
    set(10, address);
    words_.push_back(0x00052583);  // lw a1, 0(a0)
    words_.push_back(0x00b5e5b3);  // or a1, a1, a1
  }
  void stay() { words_.push_back(0x0000006f); }  // j .
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  // lui and addi, whose immediate is signed.
  void set(std::uint32_t reg, std::uint32_t value) {
    const std::uint32_t low = value & 0xfff, high = value + (low >= 0x800 ? 0x1000 : 0);
    words_.push_back((high & 0xfffff000u) | reg << 7 | 0x37);
    words_.push_back(low << 20 | reg << 15 | reg << 7 | 0x13);
  }
  std::vector<std::uint32_t> words_;
};

std::uint32_t stream_register(std::uint32_t stream, kernels::Core::Counter counter) {
  return 0xffb40000u + 4096 * stream + 4 * static_cast<std::uint32_t>(counter);
}

}  // namespace

void VendorCore::write(std::uint32_t address, std::string_view bytes) {
  if (!bytes.empty()) library_.write(address, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

std::uint32_t VendorCore::counter(std::uint32_t stream, Counter counter) {
  std::uint32_t value = 0;
  library_.read(stream_register(stream, counter), &value, 4);
  return value;
}

void VendorCore::set_counter(std::uint32_t stream, Counter counter, std::uint32_t value) {
  library_.write(stream_register(stream, counter), &value, 4);
}

void VendorCore::start(const std::array<std::uint32_t, 3>& entries) {
  StartProgram program;
  for (std::uint32_t t = 0; t < 3; ++t) program.store(kConfig + 4 * (158 + t), entries[t]);
  program.store(kConfig + 4 * 161, 7);
  program.load(kConfig + 4);
  program.store(kReset, kMoverOnly);
  program.stay();
  library_.write(0, program.words().data(), static_cast<std::uint32_t>(4 * program.words().size()));
  library_.write(kReset, &kAllButFirst, 4);
}

// Two words at a time. Source: tt-llk's and ttsim's names of registers (DBG_ARRAY_RD); command 2 selects the destination register.
std::string VendorCore::destination() {
  constexpr std::uint32_t kEnable = 0xffb12060u, kCommand = 0xffb12064u, kData = 0xffb1206cu, kDestination = 2 << 16, kOn = 1, kOff = 0;
  constexpr std::uint32_t kRows = 1024, kPairs = 8;
  std::string out;
  out.reserve(4 * kRows * kPairs);
  library_.write(kEnable, &kOn, 4);
  for (std::uint32_t row = 0; row < kRows; ++row)
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      const std::uint32_t command = kDestination | pair << 12 | row;
      std::uint32_t words = 0;
      library_.write(kCommand, &command, 4);
      library_.read(kData, &words, 4);
      out.append(reinterpret_cast<const char*>(&words), 4);
    }
  library_.write(kEnable, &kOff, 4);
  return out;
}

kernels::Core::Turn VendorCore::advance() {
  library_.clock(kTurn);
  return {};
}

}  // namespace buda::ttsim
