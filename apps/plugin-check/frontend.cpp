// SPDX-License-Identifier: Apache-2.0
// The suite of frontends: samples as they are, cut off, and damaged.
#include "apps/plugin-check/checks.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/node.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::plugin_check {
namespace {

using plugin::Frontend;
using plugin::ImportOptions;
using plugin::ModelSource;

constexpr std::size_t kHeadBytes = 4096;
constexpr std::size_t kDamagedFiles = 200;

std::string_view head_of(const io::Bytes& bytes) { return bytes.view().substr(0, kHeadBytes); }

class FrontendSuite {
 public:
  FrontendSuite(const std::string& name, const Bench& bench, Suite& suite) : name_(name), bench_(bench), suite_(suite) {}

  void run() {
    auto made = make();
    if (!made) {
      suite_.check("it can be made with its defaults", std::move(made).failure());
      return;
    }
    frontend_ = std::move(*made);
    suite_.check("recognizes() gives 0 to 100 for any bytes, and 0 for none", scores());
    suite_.check("an empty file is refused", refuses(import({"empty", io::Bytes(std::string())}), "an empty file"));
    if (auto read = read_samples(); !read) {
      suite_.check("its samples can be read", read);
      return;
    }
    if (samples_.empty()) {
      suite_.check("there is a sample that it recognizes", broken("no file is recognized; give a model with --sample"));
      return;
    }
    suite_.check("a model becomes a sound graph of tensor level with types and origins", each(&FrontendSuite::gives_a_graph));
    suite_.check("the same bytes give the same graph", each(&FrontendSuite::repeats));
    suite_.check("the graph has the name that the user wants", each(&FrontendSuite::takes_a_name));
    suite_.check("an unknown dimension or input is refused", each(&FrontendSuite::refuses_unknown_names));
    suite_.check("files that are cut off are read or refused", each(&FrontendSuite::survives_cuts));
    suite_.check("files with damaged bytes are read or refused", each(&FrontendSuite::survives_damage));
  }

 private:
  Result<std::unique_ptr<Frontend>> make() const {
    const plugin::Registries& all = bench_.registries;
    return plugin::make(all, all.frontends, plugin::Kind::frontend, name_, bench_.host.options_of(plugin::Kind::frontend, name_),
                        bench_.host);
  }

  Result<graph::Graph> import(const ModelSource& source, const ImportOptions& options = {}) const {
    return frontend_->import(source, options, bench_.host);
  }

  Result<int> score(std::string_view head, const std::string& file) const {
    try {
      return frontend_->recognizes(head, file);
    } catch (const std::exception& e) {
      return broken(e.what());
    }
  }

  Result<void> scores() const {
    Rng rng(bench_.host.seed);
    for (std::size_t size : {0, 1, 7, 100, 4096}) {
      std::string bytes(size, '\0');
      for (char& c : bytes) c = static_cast<char>(rng.below(256));
      BUDA_ASSIGN(int certainty, score(bytes, "-"));
      if (certainty < 0 || certainty > 100) return broken(cat("it gives ", certainty));
      if (size == 0 && certainty != 0) return broken(cat("it gives ", certainty, " for no bytes of a file without a name"));
    }
    return success();
  }

  Result<void> read_samples() {
    for (const std::string& file : bench_.options.samples) {
      BUDA_ASSIGN(io::Bytes bytes, bench_.host.fs().read(file));
      BUDA_ASSIGN(int certainty, score(head_of(bytes), file));
      if (certainty > 0) samples_.push_back({file, std::move(bytes)});
    }
    return success();
  }

  Result<void> each(Result<void> (FrontendSuite::*check)(const ModelSource&) const) const {
    for (const ModelSource& sample : samples_)
      if (auto done = (this->*check)(sample); !done) {
        Diagnostic d = done.failure().diagnostics().front();
        d.message = cat(sample.path, ": ", d.message);
        return d;
      }
    return success();
  }

  Result<void> gives_a_graph(const ModelSource& sample) const {
    BUDA_ASSIGN(graph::Graph graph, import(sample));
    if (graph.level != graph::Level::tensor) return broken("the graph is not at tensor level");
    if (graph.outputs().empty()) return broken("the graph has no output");
    BUDA_TRY(ops::check(graph));
    for (graph::NodeId id : graph.ids()) {
      const graph::Node& n = graph.node(id);
      if (!n.is_op()) continue;
      if (n.outputs.empty()) return broken(cat("node '", n.name(), "' has no type"));
      if (n.origins.empty()) return broken(cat("node '", n.name(), "' has no origin: its place in the model is unknown"));
      for (const graph::Origin& origin : n.origins)
        if (origin.file.find('/') != std::string::npos)
          return broken(cat("the origin of node '", n.name(), "' names a folder: ", origin.file));
    }
    return success();
  }

  Result<void> repeats(const ModelSource& sample) const {
    BUDA_ASSIGN(graph::Graph first, import(sample));
    BUDA_ASSIGN(auto other, make());
    BUDA_ASSIGN(graph::Graph second, other->import(sample, {}, bench_.host));
    if (graph::graph_text(first) != graph::graph_text(second)) return broken("two imports give different graphs");
    return success();
  }

  Result<void> takes_a_name(const ModelSource& sample) const {
    ImportOptions options;
    options.name = "wanted";
    BUDA_ASSIGN(graph::Graph graph, import(sample, options));
    if (graph.name != options.name) return broken(cat("the graph is called '", graph.name, "' instead of '", options.name, '\''));
    return success();
  }

  Result<void> refuses_unknown_names(const ModelSource& sample) const {
    ImportOptions options;
    options.dims["a dimension that no model has"] = 3;
    BUDA_TRY(refuses(import(sample, options), "a dimension that the model does not have"));
    options = {};
    options.values.emplace("an input that no model has", Tensor::scalar(1.0f));
    BUDA_TRY(refuses(import(sample, options), "a value for an input that the model does not have"));
    options = {};
    options.input_shapes["an input that no model has"] = {Shape{3}};
    return refuses(import(sample, options), "a shape for an input that the model does not have");
  }

  // A failure of the plugin, as opposed to a refusal.
  Result<void> survives(const std::string& path, std::string bytes) const {
    auto done = import({path, io::Bytes(std::move(bytes))});
    if (done) return ops::check(*done);
    for (const Diagnostic& d : done.failure().diagnostics())
      if (d.fault == Fault::bug) return d;
    return success();
  }

  Result<void> survives_cuts(const ModelSource& sample) const {
    std::string_view all = sample.bytes.view();
    std::size_t step = std::max<std::size_t>(1, all.size() / kDamagedFiles);
    for (std::size_t size = 0; size < all.size(); size += step) BUDA_TRY(survives(sample.path, std::string(all.substr(0, size))));
    return success();
  }

  Result<void> survives_damage(const ModelSource& sample) const {
    Rng rng(bench_.host.seed);
    for (std::size_t i = 0; i < kDamagedFiles && sample.bytes.size() != 0; ++i) {
      std::string bytes(sample.bytes.view());
      for (int change = 0; change < 3; ++change) bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
      BUDA_TRY(survives(sample.path, std::move(bytes)));
    }
    return success();
  }

  const std::string& name_;
  const Bench& bench_;
  Suite& suite_;
  std::unique_ptr<Frontend> frontend_;
  std::vector<ModelSource> samples_;
};

}  // namespace

void check_frontend(const std::string& name, const Bench& bench, Suite& suite) { FrontendSuite(name, bench, suite).run(); }

}  // namespace buda::plugin_check
