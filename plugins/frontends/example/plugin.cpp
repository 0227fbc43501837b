// SPDX-License-Identifier: Apache-2.0
// The frontend `example`: multilayer perceptrons written down as text, one line per layer. A start for frontends of your own.
//
//   # an .mlp file
//   input 64                             features per sample
//   linear 32 w1.npy b1.npy relu         y = relu(x W + b), W being [features, 32] and b [32]; both files lie beside this one
//   linear 10 w2.npy b2.npy
//   softmax
//
// The activation of a linear layer is relu, sigmoid, tanh or nothing. The option `batch` says how many samples come at once:
// importer m.mlp --set frontend.example.batch=4. docs/plugins/frontend.md walks through this file.
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

namespace {

using namespace buda;

// Reads one file. Everything that can be wrong with a file becomes a diagnostic with its line, and reading goes on to find the rest.
class MlpReader {
 public:
  MlpReader(const plugin::ModelSource& source, const std::string& name, std::int64_t batch, Host& host)
      : path_(source.path), host_(&host), batch_(batch), builder_(name) {}

  Result<graph::Graph> read(std::string_view text) {
    for (auto line : split(text, '\n')) {
      ++line_;
      std::vector<std::string> words;
      for (auto word : split(line.substr(0, line.find('#')), ' '))
        if (!trim(word).empty()) words.emplace_back(trim(word));
      if (!words.empty()) layer(words);
    }
    if (!value_.valid() && failure_.empty()) error("has no layers; the first line says how many features come in: input 64");
    builder_.output("y", value_);
    if (!failure_.empty()) return std::move(failure_);
    return builder_.finish();
  }

 private:
  void error(std::string message) { failure_.add(input_error("EX001", {path_, line_, 0}, std::move(message))); }

  void layer(const std::vector<std::string>& words) {
    const std::string& kind = words[0];
    std::size_t first_new = builder_.graph().id_bound();
    if (kind == "input" && words.size() == 2)
      input(words);
    else if (kind == "linear" && (words.size() == 4 || words.size() == 5))
      linear(words);
    else if (kind == "softmax" && words.size() == 1)
      value_ = builder_.named(cat("softmax", line_)).softmax(value_, 1);
    else
      error("expected 'input N', 'linear N WEIGHTS BIAS [ACTIVATION]' or 'softmax'");
    // Where a node comes from is part of the graph: messages of later tools lead back to this line.
    for (std::size_t i = first_new; i < builder_.graph().id_bound(); ++i)
      builder_.graph().node(graph::NodeId(static_cast<std::uint32_t>(i))).origins = {
          {path_.substr(path_.rfind('/') + 1), cat("line ", line_)}};
  }

  void input(const std::vector<std::string>& words) {
    auto features = parse_int(words[1]);
    if (!features || *features < 1) return error(cat("expected a number of features, found '", words[1], '\''));
    if (value_.valid()) return error("has a second input; one is enough");
    features_ = *features;
    value_ = builder_.input("x", {batch_, features_});
  }

  void linear(const std::vector<std::string>& words) {
    auto features = parse_int(words[1]);
    if (!features || *features < 1) return error(cat("expected a number of features, found '", words[1], '\''));
    auto weights = tensor(words[2], {features_, *features});
    auto bias = tensor(words[3], {*features});
    features_ = *features;
    std::string activation = words.size() == 5 ? words[4] : "";
    if (!activation.empty() && activation != "relu" && activation != "sigmoid" && activation != "tanh")
      error(cat("unknown activation '", activation, "'; known: relu, sigmoid, tanh"));
    if (!failure_.empty()) return;
    std::string name = cat("linear", line_);
    auto w = builder_.parameter(name + ".weights", std::move(*weights));
    auto b = builder_.parameter(name + ".bias", std::move(*bias));
    value_ = builder_.named(name).matmul(value_, w);
    value_ = builder_.named(name + ".add").add(value_, b);
    if (!activation.empty()) value_ = builder_.named(cat(name, '.', activation)).op(activation, {value_});
  }

  // A tensor of exactly this shape, from a file in the model's folder. The host's file system notes what was read, for depfiles.
  std::optional<Tensor> tensor(const std::string& file, const Shape& shape) {
    auto tensors = read_tensors(host_->fs(), path_.substr(0, path_.rfind('/') + 1) + file);
    if (!tensors) {
      failure_.add(std::move(tensors).failure());
    } else if (tensors->size() != 1 || tensors->begin()->second.shape() != shape || tensors->begin()->second.dtype() != DType::f32) {
      error(cat("'", file, "' must hold one F32 tensor of shape ", shape.text()));
    } else {
      return tensors->begin()->second;
    }
    return std::nullopt;
  }

  std::string path_;
  Host* host_;
  std::int64_t batch_;
  ops::Builder builder_;
  graph::ValueRef value_;  // of the layer before
  std::int64_t features_ = 0;
  std::uint32_t line_ = 0;
  Failure failure_;
};

class ExampleFrontend final : public plugin::Frontend {
 public:
  explicit ExampleFrontend(std::int64_t batch) : batch_(batch) {}

  // The format has no magic number, so that the name decides; a frontend that was told to look (--frontend) need not be sure.
  int recognizes(std::string_view, const std::string& file_name) const override { return file_name.ends_with(".mlp") ? 70 : 0; }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    auto refused = [&](const char* flag, const std::string& name, const char* why) {
      return input_error("EX002", {source.path}, cat("option --", flag, ' ', name, ": ", why));
    };
    if (!options.dims.empty()) return refused("dim", options.dims.begin()->first, "a perceptron has no symbolic dimensions");
    if (!options.values.empty()) return refused("value", options.values.begin()->first, "this frontend fixes no inputs");
    if (!options.input_shapes.empty())
      return refused("input-shape", options.input_shapes.begin()->first, "the file states the shape of the input");
    return MlpReader(source, options.name.empty() ? "mlp" : options.name, batch_, host).read(source.bytes.view());
  }

 private:
  std::int64_t batch_;
};

}  // namespace

BUDA_PLUGIN(.name = "example", .version = "1.0", .description = "reads perceptrons written as text", .license = "Apache-2.0") {
  schema::OptionSpec batch{.name = "batch", .type = schema::OptionType::integer, .summary = "samples that come at once", .value_name = "N"};
  batch.default_text = "1";
  batch.least = 1;
  registrar.add_frontend({.name = "example",
                          .summary = "perceptrons in a text format (.mlp); an example of a frontend",
                          .options = {batch},
                          .make = [](const schema::OptionValues& options, Host&) -> Result<std::unique_ptr<plugin::Frontend>> {
                            return std::unique_ptr<plugin::Frontend>(std::make_unique<ExampleFrontend>(options.integer("batch")));
                          }});
}
