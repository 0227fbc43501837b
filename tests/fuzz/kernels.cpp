// SPDX-License-Identifier: Apache-2.0
// Any bytes as kernels: programs, their manifest, instructions of a core's processors and of its coprocessor. What is wrong with them is
// said; nothing runs without end. READER names the function that is fuzzed.
#include <buda/base/text.hpp>
#include <buda/diag/format.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/isa/opcodes.hpp>
#include <buda/kernels/programs/check.hpp>
#include <buda/kernels/programs/disassembly.hpp>
#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/text/kernel_set.hpp>
#include <tensix/core.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace buda;

constexpr std::size_t kL1 = 128 * 1024;
constexpr std::array<std::uint32_t, tensix::kThreads> kEntries = {0x1000, 0x2000, 0x3000};
constexpr std::uint32_t kMaxPerThread = 0x1000;  // bytes of a program
// Calls of advance, each of which lets an endless loop execute 2,000 instructions. Most programs that go wrong at all do so in the first.
constexpr int kCalls = 8;

// A failure must have something to say, and saying it must work.
template <class T>
bool check(const Result<T>& r) {
  if (r) return true;
  if (r.failure().empty()) std::abort();
  for (const auto& d : r.failure().diagnostics())
    if (d.message.empty() || d.fault == Fault::bug || format_text(d, {}, nullptr).empty()) std::abort();
  return false;
}

// One for all inputs, since making one takes as long as running a short program; as if it were new.
tensix::Core& empty_core() {
  static tensix::Core core(kL1);
  std::fill(core.l1().begin(), core.l1().end(), std::uint8_t{0});
  core.checks.on = true;
  core.checks.ignored = {};
  return core;
}

// For a while; a fault, and where threads stand, must be text.
void run(tensix::Core& core, const std::array<std::uint32_t, tensix::kThreads>& entries) {
  core.reset(entries);
  for (int i = 0; i < kCalls; ++i) {
    if (core.advance().fault) {
      if (core.fault().empty() || core.place(core.fault_thread()).empty()) std::abort();
      return;
    }
  }
  for (std::size_t t = 0; t < tensix::kThreads; ++t)
    if (core.where(t).empty()) std::abort();
}

// Apart from what else is done with a program, which takes a quarter of the time.
[[maybe_unused]] void fuzz_listing(const std::string& text) { check(kernels::disassembly(text, "f.elf")); }

[[maybe_unused]] void fuzz_elf(const std::string& text) {
  // One that lies where a thread has no room is a fault of our linking, and not of the file.
  for (std::size_t t = 0; t < tensix::kThreads; ++t)
    if (const auto lies = kernels::check_executable(text, t, "f.elf"); !lies && lies.failure().empty()) std::abort();
  const auto program = kernels::parse_executable(text, "f.elf");
  if (!check(program)) return;
  tensix::Core& core = empty_core();
  for (const kernels::Segment& s : program->segments)
    if (s.address < kL1 && s.bytes.size() <= kL1 - s.address) std::memcpy(core.l1().data() + s.address, s.bytes.data(), s.bytes.size());
  run(core, {program->entry, program->entry, program->entry});
}

[[maybe_unused]] void fuzz_manifest(const std::string& text) {
  io::MemoryFileSystem fs;
  fs.put("k/manifest.json", text);
  CollectingSink sink;
  Host host(fs, sink);
  check(kernels::read_kernels("k", host));
}

// The same program for every processor, from different places.
[[maybe_unused]] void fuzz_program(const std::string& text) {
  if (text.empty()) return;
  tensix::Core& core = empty_core();
  core.checks.on = text[0] % 2 == 0;
  for (std::uint32_t at : kEntries)
    std::memcpy(core.l1().data() + at, text.data() + 1, std::min<std::size_t>(text.size() - 1, kMaxPerThread));
  run(core, kEntries);
}

// Records of five bytes: an instruction of the coprocessor for a thread, or a word of configuration that stands before it begins.
[[maybe_unused]] void fuzz_instructions(const std::string& text) {
  if (text.empty()) return;
  tensix::Core& core = empty_core();
  core.checks.on = text[0] % 2 == 0;
  std::array<std::uint32_t, tensix::kThreads> ends = kEntries;
  std::string stores;
  for (std::size_t i = 1; i + 5 <= text.size(); i += 5) {
    const auto what = static_cast<std::uint8_t>(text[i]);
    std::uint32_t word;
    std::memcpy(&word, text.data() + i + 1, 4);
    const std::size_t thread = what % 4;
    if (thread < tensix::kThreads && ends[thread] - kEntries[thread] < kMaxPerThread - 4) {
      core.set_word(ends[thread], isa::in_program(word));
      ends[thread] += 4;
    } else if (thread == tensix::kThreads) {
      stores += text.substr(i, 5);
    }
  }
  for (std::uint32_t end : ends) core.set_word(end, 0x0000006f);  // j .
  core.reset(kEntries);
  for (std::size_t i = 0; i + 5 <= stores.size(); i += 5) {
    std::uint32_t word;
    std::memcpy(&word, stores.data() + i + 1, 4);
    core.coprocessor().config.word(0, static_cast<std::uint8_t>(stores[i]) % tensix::Config::kWords) = word;
  }
  for (int i = 0; i < kCalls; ++i)
    if (core.advance().fault) {
      if (core.fault().empty()) std::abort();
      return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  READER(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
