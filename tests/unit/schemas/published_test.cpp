// SPDX-License-Identifier: Apache-2.0
// schemas/: each published JSON Schema is the reader's own, and agrees with it on the examples, judged by another validator.
// With BUDA_UPDATE_DOCS=1 in the environment the schemas are written anew.
#include "apps/buda/bench_figures.hpp"
#include "apps/tt-smi/snapshot.hpp"
#include "apps/tti-pack/image_info.hpp"
#include "unit/schemas/second_validator.hpp"

#include <buda/balance/emit/report.hpp>
#include <buda/balance/emit/report_figures.hpp>
#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/format.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/io/json.hpp>
#include <buda/kernels/compile/manifest.hpp>
#include <buda/kernels/text/package.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/blob/blob_records.hpp>
#include <buda/passes/pipeline/pipeline.hpp>
#include <buda/perf/executions_file.hpp>
#include <buda/perf/summary_file.hpp>
#include <buda/pipes/format/pipes_file.hpp>
#include <buda/runtime/reference/op_accuracy.hpp>
#include <buda/telemetry/telemetry.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

namespace buda {
namespace {

struct Format {
  std::string folder;  // below schemas/
  io::Node (*schema)();
  Result<void> (*read)(io::FileSystem& fs, const std::string& path);
};

template <class T>
Result<void> read_record(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(auto bytes, fs.read(path));
  BUDA_ASSIGN(auto node, io::parse_json(bytes.view(), path));
  BUDA_TRY(schema::read<T>(node));
  return success();
}

template <class T>
Format record_format() {
  return {cat(schema::Codec<T>::json_schema().find("title")->text()), schema::json_schema<T>, read_record<T>};
}

Result<void> read_graph_file(io::FileSystem& fs, const std::string& path) {
  BUDA_TRY(graph::read_graph(fs, path));
  return success();
}

Result<void> read_blob_file(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(auto bytes, fs.read(path));
  BUDA_TRY(overlay::parse_blob(bytes.view(), path));
  return success();
}

Result<void> read_pipes_file(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(auto bytes, fs.read(path));
  BUDA_TRY(pipes::parse_pipes(bytes.view(), path));
  return success();
}

std::vector<Format> formats() {
  std::vector<Format> all = {{"buda.graph/1", graph::graph_file_schema, read_graph_file},
                             {"buda.pipes/1", pipes::pipes_schema, read_pipes_file},
                             {"buda.blob/1", schema::json_schema<overlay::Blob>, read_blob_file},
                             record_format<device::DeviceDescriptor>(),
                             record_format<device::Cluster>(),
                             record_format<host_plan::HostPlan>(),
                             record_format<passes::Pipeline>(),
                             record_format<kernels::Manifest>(),
                             record_format<kernels::PackageFile>(),
                             record_format<balance::PlacementReport>(),
                             record_format<balance::ReportFigures>(),
                             record_format<driver::BenchFigures>(),
                             record_format<perf::SummaryFile>(),
                             record_format<perf::ExecutionsFile>(),
                             record_format<runtime::AccuracyFile>(),
                             record_format<telemetry::Telemetry>(),
                             record_format<tt_smi::Snapshot>(),
                             record_format<tti_pack::ImageInfo>()};
  for (auto& f : all) f.folder.replace(f.folder.find('/'), 1, "-");
  return all;
}

class Published : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    folder_ = cat(source, "/schemas/", GetParam().folder, '/');
  }

  std::string text(const std::string& name) {
    auto bytes = fs_->read(folder_ + name);
    EXPECT_TRUE(bytes) << name;
    return bytes ? std::string(bytes->view()) : "";
  }

  // What the schema says to an example.
  bool valid(const std::string& name) { return second_validator_accepts(io::json_line(GetParam().schema()), text(name)); }

  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  std::string folder_;
};

TEST_P(Published, IsTheReaders) {
  std::string own = io::json_pretty(GetParam().schema());
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(fs_->write(folder_ + "schema.json", own));
    return;
  }
  EXPECT_EQ(text("schema.json"), own) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.schemas`";
}

TEST_P(Published, ExamplesAreJudgedAlike) {
  auto names = fs_->list(folder_);
  ASSERT_TRUE(names);
  int bad = 0;
  for (const auto& name : *names) {
    if (name == "schema.json") continue;
    SCOPED_TRACE(name);
    bool expected = !name.starts_with("bad-");
    bad += expected ? 0 : 1;
    auto read = GetParam().read(*fs_, folder_ + name);
    EXPECT_EQ(read.ok(), expected) << (read.ok() ? "" : read.failure().diagnostics().front().message);
    EXPECT_EQ(valid(name), expected);
  }
  std::set<std::string> there(names->begin(), names->end());
  EXPECT_TRUE(there.contains("minimal.json") && there.contains("full.json"));
  EXPECT_GE(bad, 3);
}

INSTANTIATE_TEST_SUITE_P(Formats, Published, testing::ValuesIn(formats()), [](const auto& tested) {
  std::string name = tested.param.folder;
  for (char& c : name)
    if (c == '.' || c == '-') c = '_';
  return name;
});

// A folder that no format knows is one that nobody checks.
TEST(Schemas, AllAreChecked) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  std::set<std::string> known, there;
  for (const auto& f : formats()) known.insert(f.folder);
  for (const auto& entry : std::filesystem::directory_iterator(std::string(source) + "/schemas"))
    if (entry.is_directory()) there.insert(entry.path().filename().string());
  EXPECT_EQ(known, there);
}

}  // namespace
}  // namespace buda
