// SPDX-License-Identifier: Apache-2.0
// The public netlists of TT-Buda: all are read, writing them is a fixed point, and what the original accepts is accepted.
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/netlist/program/temporal_epochs.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>

#include <gmock/gmock.h>
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

// docs/conformance/netlist-verdicts.md: cells of the tables' rows whose first cell is a file, by that file's name without `.
std::map<std::string, std::vector<std::string>> listed(const std::string& page) {
  std::map<std::string, std::vector<std::string>> out;
  std::istringstream lines(page);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (auto cell : split(line, '|')) cells.emplace_back(trim(cell));
    out[cells.at(1).substr(1, cells.at(1).size() - 2)] = std::move(cells);
  }
  return out;
}

// On each of its architectures every netlist is accepted, unless the page lists it, with the rules that it breaks.
TEST_F(Corpus, IsJudgedAsThePageSays) {
  auto devices = ValidationDevices::make(host_, "");
  ASSERT_TRUE(devices.ok());
  auto page = listed(text_of(fs::path(std::getenv("BUDA_SOURCE_DIR")) / "docs/conformance/netlist-verdicts.md"));
  for (const auto& path : files()) {
    const std::string file = fs::relative(path, root_ / "netlists").string();
    const auto error_test = file.find("error_tests/netlists/");
    auto row = page.find(error_test == std::string::npos ? file : file.substr(error_test + 21));
    const Validation judged = validate_netlist(text_of(path), file, *devices);
    std::set<std::string> codes;
    std::vector<std::string> archs;
    for (const Verdict& v : judged.verdicts) {
      codes.insert(v.codes.begin(), v.codes.end());
      if (!v.accepted()) archs.push_back(v.arch);
    }
    if (row == page.end()) {
      EXPECT_THAT(codes, ::testing::IsEmpty()) << file;
    } else if (error_test == std::string::npos) {
      EXPECT_EQ(join(archs, ", "), row->second.at(2)) << file;
      EXPECT_EQ(join(codes, ", "), row->second.at(3)) << file;
    } else {
      // Refused for the reason it was written for: "line 48: ... [NL513]".
      const std::string& wanted = row->second.at(3);
      bool found = false;
      for (const Diagnostic& d : judged.findings) found = found || cat("line ", d.loc.line, ": ", d.message, " [", d.code, ']') == wanted;
      EXPECT_TRUE(found) << file << ": " << wanted;
    }
    if (row != page.end()) page.erase(row);
  }
  for (const auto& [file, row] : page) ADD_FAILURE() << "listed, but not there: " << file;
}

}  // namespace
}  // namespace buda::netlist
