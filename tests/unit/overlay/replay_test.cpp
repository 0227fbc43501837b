// Stream programs of random netlists and of TT-Buda's own pipegen files, replayed against what the pipes promise.
#include <buda/overlay/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/pipes/pipegen_file.hpp>

#include "unit/overlay/promised.hpp"
#include "unit/pipes/built.hpp"
#include "unit/pipes/random_netlists.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace buda::overlay {
namespace {

// What is wrong with the stream programs of a graph, or nothing. `refused`: they do not fit, or are not supported.
std::string replayed(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, const device::EthCore& eth_core,
                     std::string* refused = nullptr) {
  auto blob = build_blob(graph, device, eth_core);
  if (!blob) {
    const Diagnostic& d = blob.failure().diagnostics().front();
    if (refused == nullptr || (d.fault != Fault::fit && d.code != "OV001")) return pipes::messages(blob.failure());
    *refused = d.message;
    return "";
  }
  auto back = parse_blob(blob_text(*blob), "blob.json");
  if (!back) return pipes::messages(back.failure());
  if (!(*back == *blob)) return "the file reads back as another blob";
  return difference(promised(graph), replay(*back));
}

// Replays `wanted` random netlists of so many chips; why some of them are refused.
std::vector<std::string> refused_of(int wanted, std::uint64_t seed, int chips, const std::string& device,
                                    std::optional<std::size_t> link_streams = {}) {
  Rng rng(seed);
  int built = 0;
  std::vector<std::string> refused;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    std::string text = pipes::random_netlist(rng, chips);
    pipes::Built b(text, device, link_streams);
    if (!b.ok()) continue;
    ++built;
    std::string why;
    EXPECT_EQ(replayed(b.graph, *b.device, b.cluster().eth_core, &why), "") << text;
    if (!why.empty()) refused.push_back(why);
  }
  EXPECT_EQ(built, wanted);
  return refused;
}

TEST(Replay, RandomNetlists) {
  auto refused = refused_of(400, 77, 1, "wormhole_b0");
  EXPECT_LT(refused.size(), 20u) << testing::PrintToString(refused);
}

TEST(Replay, RandomNetlistsOverEthernet) {
  auto refused = refused_of(200, 11, 2, "n300");
  EXPECT_LT(refused.size(), 10u) << testing::PrintToString(refused);
}

TEST(Replay, RandomNetlistsThatShareCables) {
  auto refused = refused_of(200, 12, 2, "n300", 5);
  EXPECT_LT(refused.size(), 10u) << testing::PrintToString(refused);
}

// Pipegen files that TT-Buda's net2pipe wrote, when they are there.
TEST(Replay, OriginalPipegenFiles) {
  namespace fs = std::filesystem;
  const char* named = std::getenv("BUDA_SHARED_DIR");
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  fs::path shared = named != nullptr ? fs::path(named) : fs::path(source != nullptr ? source : ".") / ".." / "shared";
  fs::path folder = shared / "corpus" / "original-outputs";
  std::error_code ec;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename() == "pipegen.yaml") files.push_back(it->path());
  if (files.empty()) GTEST_SKIP() << "no " << folder;
  std::sort(files.begin(), files.end());
  std::size_t done = 0;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    auto graph = pipes::parse_pipegen(text.str(), file.filename().string());
    ASSERT_TRUE(graph.ok()) << file << pipes::messages(graph.failure());
    std::string arch = file.lexically_relative(folder).begin()->string(), refused;
    const auto& device = pipes::shipped(arch);
    EXPECT_EQ(replayed(*graph, device, pipes::shipped_cluster(device).eth_core, &refused), "") << file;
    EXPECT_EQ(refused, "") << file;
    ++done;
  }
  EXPECT_GT(done, 0u);
}

}  // namespace
}  // namespace buda::overlay
