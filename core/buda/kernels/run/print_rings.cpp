// SPDX-License-Identifier: Apache-2.0
// Reading the rings, and formats.
#include <buda/kernels/run/print_rings.hpp>

#include <buda/base/text.hpp>
#include <buda/kernels/programs/program_text.hpp>

#include <kernels/arguments.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <vector>

namespace buda::kernels {
namespace {

constexpr std::string_view kMark = "DPRINT:";

std::uint32_t ring_address(std::size_t thread) { return tt::kPrintAddress + static_cast<std::uint32_t>(thread * sizeof(tt::PrintRing)); }

}  // namespace

bool prints(const KernelSet& kernels) { return has_text(kernels, kMark); }

std::string printed_text(std::string_view format, std::span<const std::uint32_t> values) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      text += format[i];
      continue;
    }
    const char kind = format[++i];
    if (kind == '%') {
      text += '%';
      continue;
    }
    if (next == values.size() || std::string_view("udxcf").find(kind) == std::string_view::npos) {
      text += '?';
      continue;
    }
    const std::uint32_t value = values[next++];
    if (kind == 'u') text += cat(value);
    if (kind == 'd') text += cat(static_cast<std::int32_t>(value));
    if (kind == 'x') text += hex_text(value);
    if (kind == 'c') text += value >= 32 && value < 127 ? static_cast<char>(value) : '?';
    if (kind == 'f') text += cat(std::bit_cast<float>(value));
  }
  return text;
}

PrintRings::PrintRings(const std::array<Executable, 3>& programs) : programs_(programs) {
  used_ = std::any_of(programs.begin(), programs.end(), [](const Executable& program) { return has_text(program, kMark); });
}

void PrintRings::start(Core& core) const {
  if (!used_) return;
  for (std::size_t t = 0; t < programs_.size(); ++t) core.write(ring_address(t), std::string(sizeof(tt::PrintRing), '\0'));
  core.allow(tt::kPrintAddress, 3 * sizeof(tt::PrintRing), Core::Use::shared);
}

bool PrintRings::take(Core& core, std::vector<PrintedLine>& to) {
  bool any = false;
  for (std::size_t t = 0; used_ && t < programs_.size(); ++t) {
    tt::PrintRing ring;
    core.read(ring_address(t), reinterpret_cast<char*>(&ring), sizeof ring);
    const auto word = [&](std::uint32_t at) { return ring.words[at % tt::kPrintWords]; };
    // A kernel that writes something else into its ring is read no further.
    while (ring.written - read_[t] >= 2 && ring.written - read_[t] <= tt::kPrintWords) {
      const std::uint32_t count = std::min(word(read_[t] + 1), ring.written - read_[t] - 2);
      std::vector<std::uint32_t> values;
      for (std::uint32_t i = 0; i < count; ++i) values.push_back(word(read_[t] + 2 + i));
      to.push_back({t, printed_text(text_at(programs_[t], word(read_[t]), kMark).value_or("?"), values)});
      read_[t] += 2 + count;
      any = true;
    }
    const std::uint32_t read = read_[t];
    core.write(ring_address(t) + static_cast<std::uint32_t>(offsetof(tt::PrintRing, read)),
               {reinterpret_cast<const char*>(&read), sizeof read});
  }
  return any;
}

}  // namespace buda::kernels
