// SPDX-License-Identifier: Apache-2.0
// The tables of all netlists of a folder, with BUDA_REPLAY=FOLDER (make replay): replayed, and measured.
#include "unit/movers/replay.hpp"
#include "unit/pipes/built.hpp"

#include <buda/liveness/liveness.hpp>
#include <buda/movers/encode.hpp>
#include <buda/runtime/streams.hpp>

#include <movers/tables.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

namespace buda::movers {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMaxTiles = 400'000;  // of all streams of an epoch

struct Counts {
  std::map<std::string, std::size_t> netlists;  // by what became of them
  std::map<std::string, std::size_t> refused;   // by code
  std::vector<std::uint64_t> bytes;             // of tables, by core
  std::size_t larger = 0;                       // than a stream program may be
  double streams = 0, lowering = 0;             // seconds
};

template <class Work>
auto timed(double& seconds, Work work) {
  const auto begin = Clock::now();
  auto result = work();
  seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

// What becomes of the tables of an epoch; nothing where all is right.
std::string judged(const overlay::Blob& blob, const device::DeviceDescriptor& board, Counts& counts) {
  const auto tables = timed(counts.lowering, [&] { return lower(blob, {}); });
  if (!tables) {
    ++counts.refused[tables.failure().diagnostics().front().code];
    return "refused";
  }
  for (const CoreTables& core : tables->cores) {
    const auto words = encode(core, board.noc, std::nullopt);
    if (!words) {
      ++counts.refused[words.failure().diagnostics().front().code];
      return "refused";
    }
    counts.bytes.push_back(words->size());
    counts.larger += words->size() > board.l1.overlay_blob_included ? 1 : 0;
  }
  std::int64_t tiles = 0;
  for (const overlay::Core& core : blob.cores)
    for (const overlay::Stream& stream : core.streams) tiles += stream.messages();
  if (tiles > kMaxTiles) return "too large to replay";
  for (std::uint32_t seed : {0u, 1u})
    if (std::string wrong = wrong_with(blob, {}, *tables, seed); !wrong.empty()) return wrong;
  return "";
}

bool deadlocks(const netlist::Netlist& netlist, const device::DeviceDescriptor& board) {
  auto decided = liveness::check_liveness(netlist, board, pipes::source_host(), liveness::Remedy::left_out);
  return decided && std::any_of(decided->begin(), decided->end(), [](const auto& epoch) { return epoch.deadlock.has_value(); });
}

std::string judged(const fs::path& path, Counts& counts) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool grayskull = text.find("wormhole") == std::string::npos;
  const device::DeviceDescriptor& board = pipes::shipped(grayskull ? "grayskull" : "wormhole_b0");
  auto parsed = netlist::parse_netlist(text, path.string(), {board.arch});
  if (!parsed) return "not valid";
  runtime::Program program;
  program.netlist = std::move(*parsed);
  const bool made =
      timed(counts.streams, [&] { return runtime::complete_program(program, {.streams = true}, {}, board, pipes::source_host()).ok(); });
  if (!made) return "no stream programs for one chip";
  for (const runtime::EpochStreams& epoch : program.epochs) {
    std::string wrong = judged(*epoch.blob, board, counts);
    if (wrong.find("waits for ever") != std::string::npos && deadlocks(program.netlist, board)) return "deadlocks with streams, too";
    if (!wrong.empty()) return wrong;
  }
  return "right";
}

TEST(Replay, TablesOfAFolderDoWhatStreamsWouldDo) {
  const char* folder = std::getenv("BUDA_REPLAY");
  if (folder == nullptr) GTEST_SKIP() << "BUDA_REPLAY names no folder";
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  Counts counts;
  for (const fs::path& path : paths) {
    const std::string verdict = judged(path, counts);
    const bool known = verdict == "right" || verdict == "refused" || verdict == "not valid" || verdict.starts_with("no stream") ||
                       verdict.starts_with("too large") || verdict.starts_with("deadlocks");
    EXPECT_TRUE(known) << path << ": " << verdict;
    ++counts.netlists[known ? verdict : "wrong"];
  }
  for (const auto& [verdict, count] : counts.netlists) std::cout << verdict << ": " << count << "\n";
  for (const auto& [code, count] : counts.refused) std::cout << "refused with " << code << ": " << count << "\n";
  ASSERT_FALSE(counts.bytes.empty());
  std::sort(counts.bytes.begin(), counts.bytes.end());
  const auto share = [&](std::size_t percent) { return counts.bytes[(counts.bytes.size() - 1) * percent / 100]; };
  std::cout << counts.bytes.size() << " cores; bytes of tables: half have " << share(50) << ", 99 % " << share(99) << ", all " << share(100)
            << "; " << counts.larger << " are larger than a stream program may be\n"
            << "seconds: stream programs " << counts.streams << ", tables " << counts.lowering << "\n";
}

}  // namespace
}  // namespace buda::movers
