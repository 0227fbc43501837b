// SPDX-License-Identifier: Apache-2.0
// The balancer in process, on files in memory.
#include "apps/balancer/output.hpp"
#include "apps/balancer/run.hpp"

#include "unit/balance/fixture.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/plugin/policy.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cstdlib>

namespace buda::balancer {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Files in memory, the shipped devices, and one policy.
struct Session {
  Session() : host(fs, sink) {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    auto real = io::make_real_file_system();
    std::string folder = std::string(source == nullptr ? "." : source) + "/share/devices/";
    for (const char* name : {"n150", "wormhole_b0", "e75", "grayskull"}) {
      auto text = real->read(folder + name + ".yaml");
      EXPECT_TRUE(text.ok());
      if (text.ok()) fs.put(std::string("/share/devices/") + name + ".yaml", std::string(text->view()));
    }
    host.share_dir = "/share";
    host.plugins.policies.insert({{.name = "by_size",
                                   .summary = "",
                                   .options = {},
                                   .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                                     return std::unique_ptr<balance::Policy>(std::make_unique<balance::BySize>());
                                   }},
                                  {"test", "1", "test.so"}});
    options.policy = "by_size";
  }

  void put_graph(const std::string& path, const graph::Graph& graph) { EXPECT_TRUE(graph::write_graph(fs, graph, path).ok()); }
  std::string text(const std::string& path) const {
    const io::Bytes* bytes = fs.find(path);
    return bytes == nullptr ? "" : std::string(bytes->view());
  }
  // Files that were not there before.
  std::vector<std::string> files_in(const std::string& folder) const {
    std::vector<std::string> out;
    for (const auto& [path, bytes] : fs.files())
      if (path.starts_with(folder)) out.push_back(path.substr(folder.size()));
    return out;
  }

  io::MemoryFileSystem fs;
  CollectingSink sink;
  cli::ToolHost host;
  Options options;
};

graph::Graph small() { return balance::perceptron(32, {64, 64, 32}); }

TEST(Balancer, WritesNetlistPlanAndReport) {
  Session s;
  s.put_graph("in/g.json", small());
  s.options.graph = "in/g.json";
  s.options.output = "out/net.yaml";
  auto done = run(s.options, s.host);
  ASSERT_TRUE(done.ok()) << balance::text_of(done.failure());
  // The tensors are where they were.
  EXPECT_THAT(s.files_in("out/"), UnorderedElementsAre("net.yaml", "net.plan.json", "net.report.json"));
  auto plan = host_plan::read_host_plan(s.fs, "out/net.plan.json");
  ASSERT_TRUE(plan.ok()) << balance::text_of(plan.failure());
  EXPECT_EQ(plan->segments[0].file, "net.yaml");
  ASSERT_EQ(plan->parameters.size(), 4u);
  for (const auto& p : plan->parameters) {
    EXPECT_EQ(p.file, "../in/g.safetensors");
    auto tensors = read_tensors(s.fs, "out/" + p.file);
    if (tensors.ok()) {
      EXPECT_EQ(tensors->count(p.tensor), 1u) << p.tensor;
    }
  }
}

TEST(Balancer, TensorsOfAPipedGraphGetAFile) {
  Session s;
  s.fs.put("-", graph::graph_text(small()));
  s.options.graph = "-";
  s.options.output = "out/net.yaml";
  auto done = run(s.options, s.host);
  ASSERT_TRUE(done.ok()) << balance::text_of(done.failure());
  EXPECT_THAT(s.files_in("out/"), UnorderedElementsAre("net.yaml", "net.plan.json", "net.report.json", "net.safetensors"));
  auto tensors = read_tensors(s.fs, "out/net.safetensors");
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(tensors->size(), 4u);
}

TEST(Balancer, FoldersAndThreadsLeaveNoTrace) {
  auto products = [](const std::string& in, const std::string& out, unsigned threads) {
    Session s;
    s.put_graph(in + "g.json", small());
    s.options.graph = in + "g.json";
    s.options.output = out + "net.yaml";
    s.host.threads = threads;
    EXPECT_TRUE(run(s.options, s.host).ok());
    return std::vector<std::string>{s.text(out + "net.yaml"), s.text(out + "net.plan.json"), s.text(out + "net.report.json")};
  };
  auto here = products("a/", "a/", 1);
  EXPECT_EQ(here, products("some/where/else/", "some/where/else/", 4));
  EXPECT_FALSE(here[0].empty());
}

TEST(Balancer, NothingAppearsWhenSomethingFails) {
  Session s;
  s.fs.put("-", graph::graph_text(small()));
  s.options.graph = "-";
  s.options.output = "net.yaml";
  ASSERT_TRUE(s.fs.make_directories("net.report.json").ok());
  auto done = run(s.options, s.host);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.failure().diagnostics()[0].fault, Fault::input);
  EXPECT_EQ(s.fs.find("net.yaml"), nullptr);
  EXPECT_EQ(s.fs.find("net.plan.json"), nullptr);
  EXPECT_EQ(s.fs.find("net.safetensors"), nullptr);
}

TEST(Balancer, AModelThatDoesNotFitWritesNothing) {
  Session s;
  balance::DeviceGraph g;
  g.output("y", g.op("e", "exp", {g.input("x", {1, 1, 32, 32 * 4099})}, {1, 1, 32, 32 * 4099}));
  s.put_graph("g.json", g.graph);
  s.options.graph = "g.json";
  s.options.output = "net.yaml";
  auto done = run(s.options, s.host);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(cli::exit_code(done.failure()), cli::kDoesNotFit);
  EXPECT_EQ(s.fs.find("net.yaml"), nullptr);
}

TEST(Balancer, OutputNamesFollowTheNetlist) {
  Options o;
  o.output = "a.b/digits.yaml";
  EXPECT_EQ(output_files(o).plan, "a.b/digits.plan.json");
  EXPECT_EQ(output_files(o).report, "a.b/digits.report.json");
  EXPECT_EQ(output_files(o).tensors, "a.b/digits.safetensors");
  o.output = "a.b/net";
  EXPECT_EQ(output_files(o).plan, "a.b/net.plan.json");
  EXPECT_EQ(output_files(o).report, "a.b/net.report.json");
  o.output = "-";
  EXPECT_EQ(output_files(o).plan, "");
  EXPECT_EQ(output_files(o).report, "");
  o.plan = "p.plan.json";
  EXPECT_EQ(output_files(o).tensors, "p.safetensors");
  o.output.clear();
  o.graph = "c/digits.device.graph.json";
  EXPECT_EQ(output_files(o).netlist, "digits.yaml");
  o.graph = "-";
  EXPECT_EQ(output_files(o).netlist, "-");
}

TEST(Balancer, PoliciesMayBeSpeltAsInPyBuda) {
  Session s;
  s.put_graph("g.json", small());
  s.options.graph = "g.json";
  s.options.output = "net.yaml";
  s.options.policy = "BySize";
  EXPECT_TRUE(run(s.options, s.host).ok());
  s.options.policy = "NLP";
  auto done = run(s.options, s.host);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.failure().diagnostics()[0].message, HasSubstr("'NLP'"));
}

}  // namespace
}  // namespace buda::balancer
