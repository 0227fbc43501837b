// SPDX-License-Identifier: Apache-2.0
// Any bytes into a frontend: a graph or diagnostics must come out. PLUGIN is the plugin's file, FRONTEND its name.
#include <buda/diag/format.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/loader.hpp>

#include <cstdlib>
#include <fuzz/zip_checksums.hpp>

namespace {

using namespace buda;

std::unique_ptr<plugin::Frontend> load() {
  static plugin::Registries registries;
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  if (!plugin::load_plugin(PLUGIN, registries, host)) std::abort();
  auto made = plugin::make(registries, registries.frontends, plugin::Kind::frontend, FRONTEND, {}, host);
  if (!made) std::abort();
  return std::move(made).value();
}

void import(plugin::Frontend& frontend, const std::string& text) {
  static_cast<void>(frontend.recognizes(text, "m"));
  io::MemoryFileSystem fs;
  CollectingSink sink;
  Host host(fs, sink);
  auto graph = frontend.import({"m", io::Bytes(text)}, {}, host);
  if (graph) {
    static_cast<void>(graph::graph_text(*graph));
    return;
  }
  if (graph.failure().empty()) std::abort();
  for (const auto& d : graph.failure().diagnostics())
    if (d.message.empty() || d.fault == Fault::bug || format_text(d, {}, nullptr).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto frontend = load();
  const std::string text(reinterpret_cast<const char*>(data), size);
  import(*frontend, text);
  if (text.starts_with("PK")) import(*frontend, with_checksums(text));
  return 0;
}
