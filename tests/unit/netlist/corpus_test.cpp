// The public netlists of TT-Buda: all are read, writing them is a fixed point, and what the original accepts is accepted.
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/netlist/temporal_epochs.hpp>
#include <buda/netlist/write.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace buda::netlist {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Corpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    const char* shared = std::getenv("BUDA_SHARED_DIR");
    root_ = shared != nullptr   ? fs::path(shared) / "corpus"
            : source != nullptr ? fs::path(source).parent_path() / "shared/corpus"
                                : fs::path();
    if (source == nullptr || root_.empty() || !fs::is_directory(root_ / "netlists")) GTEST_SKIP() << "no corpus beside the sources";
    host_.share_dir = std::string(source) + "/share";
    for (const char* arch : {"grayskull", "wormhole_b0"}) {
      auto device = device::load_device(host_, arch);
      ASSERT_TRUE(device.ok());
      device->chips = 64;  // the corpus has clusters of up to 33
      devices_[arch] = *device;
    }
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / "netlists"))
      if (entry.path().extension() == ".yaml") out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
  // Errors of reading and checking, each as a line.
  std::vector<std::string> errors(const std::string& text, const std::string& arch) {
    std::vector<Diagnostic> found;
    auto netlist = parse_netlist(text, "net.yaml", {arch});
    if (netlist.ok()) {
      found = check_netlist(*netlist, devices_.at(arch));
    } else {
      found = netlist.failure().diagnostics();
    }
    std::vector<std::string> out;
    for (const auto& d : found)
      if (d.severity == Severity::error) out.push_back(d.message + " [" + d.code + "]");
    return out;
  }

  fs::path root_;
  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  Host host_{*fs_, sink_};
  std::map<std::string, device::DeviceDescriptor> devices_;
};

TEST_F(Corpus, IsReadAndWritingItIsAFixedPoint) {
  for (const auto& path : files()) {
    if (path.string().find("error_tests") != std::string::npos) continue;
    std::string text = text_of(path);
    ParseOptions options;
    auto netlist = parse_netlist(text, "net.yaml", options);
    for (const char* arch : {"grayskull", "wormhole_b0", "wormhole", "blackhole"}) {
      if (netlist.ok()) break;
      options.arch = arch;
      netlist = parse_netlist(text, "net.yaml", options);
    }
    ASSERT_TRUE(netlist.ok()) << path << ": " << netlist.failure().diagnostics()[0].message;
    std::string written = write_netlist(*netlist);
    auto again = parse_netlist(written, "net.yaml", options);
    ASSERT_TRUE(again.ok()) << path << ": " << again.failure().diagnostics()[0].message;
    EXPECT_TRUE(*again == *netlist) << path;
    EXPECT_EQ(write_netlist(*again), written) << path;
  }
}

TEST_F(Corpus, WhatTheOriginalAcceptsIsAcceptedWithAsManyEpochs) {
  std::istringstream verdicts(text_of(root_ / "original-verdicts.tsv"));
  std::string line;
  std::getline(verdicts, line);
  while (std::getline(verdicts, line)) {
    std::istringstream fields(line);
    std::string file, arch, verdict, epochs;
    for (std::string* field : {&file, &arch, &verdict, &epochs}) std::getline(fields, *field, '\t');
    if (verdict != "ok") continue;
    std::string text = text_of(root_ / "netlists" / file);
    auto found = errors(text, arch);
    EXPECT_TRUE(found.empty()) << file << ' ' << arch << ": " << found.front();
    auto netlist = parse_netlist(text, file, {arch});
    ASSERT_TRUE(netlist.ok());
    auto temporal = temporal_epochs(*netlist, arch != "grayskull");
    ASSERT_TRUE(temporal.ok()) << file;
    EXPECT_EQ(std::to_string(temporal->size()), epochs) << file << ' ' << arch;
  }
}

TEST_F(Corpus, WhatIsInvalidOnPurposeIsRefused) {
  int count = 0;
  for (const auto& path : files()) {
    if (path.string().find("error_tests") == std::string::npos) continue;
    ++count;
    for (const char* arch : {"grayskull", "wormhole_b0"}) EXPECT_FALSE(errors(text_of(path), arch).empty()) << path << ' ' << arch;
  }
  EXPECT_GT(count, 5);
}

}  // namespace
}  // namespace buda::netlist
