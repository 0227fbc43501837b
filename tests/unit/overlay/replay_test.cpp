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
std::string replayed(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, std::string* refused = nullptr) {
  auto blob = build_blob(graph, device, pipes::shipped_cluster(device).eth_core);
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

// Replays `wanted` random netlists of so many chips; how many of them pipegen refuses.
int refused_of(int wanted, std::uint64_t seed, int chips, const std::string& device) {
  Rng rng(seed);
  int built = 0, refused = 0;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    std::string text = pipes::random_netlist(rng, chips);
    pipes::Built b(text, device);
    if (!b.ok()) continue;
    ++built;
    std::string why;
    EXPECT_EQ(replayed(b.graph, *b.device, &why), "") << text;
    refused += why.empty() ? 0 : 1;
  }
  EXPECT_EQ(built, wanted);
  return refused;
}

TEST(Replay, RandomNetlists) { EXPECT_LT(refused_of(400, 77, 1, "wormhole_b0"), 20); }

TEST(Replay, RandomNetlistsOverEthernet) { EXPECT_LT(refused_of(200, 11, 2, "n300"), 50) << "only where one cable has too few streams"; }

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
    EXPECT_EQ(replayed(*graph, pipes::shipped(arch), &refused), "") << file;
    EXPECT_EQ(refused, "") << file;
    ++done;
  }
  EXPECT_GT(done, 0u);
}

}  // namespace
}  // namespace buda::overlay
