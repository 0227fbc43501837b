// SPDX-License-Identifier: Apache-2.0
// Predicted usage of L1, streams and phases against that of the tools' files: many random netlists, and the public netlists of TT-Buda.
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/netlist/text/parse.hpp>

#include "unit/overlay/laid_out.hpp"
#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace buda::overlay {
namespace {

namespace fs = std::filesystem;

struct Board {
  const char* device;
  const char* arch;
  std::int32_t chips;
};

class RandomUsage : public ::testing::TestWithParam<Board> {};

TEST_P(RandomUsage, IsThatOfTheFiles) {
  const auto [device_name, arch, chips] = GetParam();
  device::DeviceDescriptor device = pipes::shipped(device_name);
  device.chips = chips;
  Rng rng(1611);
  const int wanted = pipes::netlists_wanted(1000);
  std::size_t cores = 0;
  for (int i = 0; i < wanted; ++i) {
    const std::string text = pipes::random_netlist(rng, chips, arch);
    auto netlist = netlist::parse_netlist(text, "net.yaml", {arch});
    ASSERT_TRUE(netlist.ok()) << text;
    ASSERT_EQ(difference_of_usage(*netlist, device, pipes::source_host(), cores), "") << text;
  }
  RecordProperty("cores", static_cast<int>(cores));
  EXPECT_GT(cores, static_cast<std::size_t>(wanted));
}

INSTANTIATE_TEST_SUITE_P(Usage, RandomUsage,
                         ::testing::Values(Board{"wormhole_b0", "wormhole_b0", 1}, Board{"n300", "wormhole_b0", 2},
                                           Board{"grayskull", "grayskull", 1}, Board{"grayskull", "grayskull", 2}),
                         [](const auto& board) { return cat(board.param.device, "_x", board.param.chips); });

std::vector<fs::path> corpus_files() {
  const char *source = std::getenv("BUDA_SOURCE_DIR"), *named = std::getenv("BUDA_SHARED_DIR");
  const fs::path shared = named != nullptr ? fs::path(named) : fs::path(source != nullptr ? source : ".").parent_path() / "shared";
  std::error_code none;
  std::vector<fs::path> out;
  for (fs::recursive_directory_iterator it(shared / "corpus" / "netlists", none), end; !none && it != end; it.increment(none))
    if (it->path().extension() == ".yaml") out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The corpus in parts, which can be run one by one.
constexpr std::size_t kParts = 16;
class CorpusUsage : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CorpusUsage, IsThatOfTheFiles) {
  const std::vector<fs::path> files = corpus_files();
  if (files.empty()) GTEST_SKIP() << "no corpus beside the sources";
  Host& host = pipes::source_host();
  auto devices = netlist::ValidationDevices::make(host, "");
  ASSERT_TRUE(devices.ok());
  std::size_t cores = 0, netlists = 0;
  for (std::size_t i = GetParam(); i < files.size(); i += kParts) {
    const std::string text = text_of(files[i]);
    for (const char* arch : {"grayskull", "wormhole_b0"}) {
      auto netlist = netlist::parse_netlist(text, files[i].filename().string(), {arch});
      if (!netlist) continue;
      for (const device::DeviceDescriptor& device : devices->devices_for(*netlist)) {
        if (device.arch != arch || missing_description(device)) continue;
        const auto findings = netlist::check_netlist(*netlist, device);
        if (std::any_of(findings.begin(), findings.end(), [](const Diagnostic& d) { return d.severity == Severity::error; })) continue;
        EXPECT_EQ(difference_of_usage(*netlist, device, host, cores), "") << files[i] << ' ' << arch;
        ++netlists;
      }
    }
  }
  RecordProperty("netlists", static_cast<int>(netlists));
  RecordProperty("cores", static_cast<int>(cores));
  EXPECT_GT(netlists, 0u);
}

INSTANTIATE_TEST_SUITE_P(Usage, CorpusUsage, ::testing::Range<std::size_t>(0, kParts));

}  // namespace
}  // namespace buda::overlay
