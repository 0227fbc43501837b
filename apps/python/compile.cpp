// SPDX-License-Identifier: Apache-2.0
// compile_to_image and merge_models.
#include "apps/python/compile.hpp"

#include "apps/python/arrays.hpp"
#include "apps/python/graph.hpp"
#include "apps/python/model_source.hpp"
#include "apps/python/shapes.hpp"
#include "apps/python/toolchain.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/compile.hpp>
#include <buda/compiler/merge_models.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/image.hpp>
#include <buda/image/merge.hpp>
#include <buda/schema/option_set.hpp>
#include <buda/tensor/tensor.hpp>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace buda::python {
namespace {

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

Result<void> write(image::Image image, const std::string& path, Host& host) {
  end_if_lost();
  BUDA_ASSIGN(auto file, host.fs().create(path));
  BUDA_TRY(image::write_image(*file, std::move(image), host.threads));
  end_if_lost();
  return file->commit();
}

// Tried before the work, which may take minutes, rather than after it.
Result<void> check_place(const std::string& path, Host& host) {
  BUDA_ASSIGN(auto unused, host.fs().create(path));
  return success();
}

// "policy.ribbon.rows" is an option of a plugin; everything else one of the optimizer or the balancer, by any name that it has.
void set_option(const std::string& key, const py::handle& value, compiler::CompileOptions& options, const schema::OptionSet& set) {
  const std::vector<std::string> texts = option_texts(value);
  const std::size_t dot = key.rfind('.');
  for (const auto kind : compiler::plugin_kinds())
    if (dot != std::string::npos && key.starts_with(cat(plugin::kind_name(kind), '.'))) {
      for (const auto& text : texts) options.plugins[key.substr(0, dot)].set(key.substr(dot + 1), text);
      return;
    }
  // What is said of one op or queue is one value, if need be a list as YAML writes it.
  const bool is_one = key.starts_with("op.") || key.starts_with("queue.");
  raise_unless(set.assign(key, is_one && texts.size() != 1 ? std::vector<std::string>{cat('[', join(texts, ", "), ']')} : texts));
}

using ValueBounds = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;  // least and largest element

// Of a graph that was made in Python, or of a file.
std::string compile_to_image(GraphMaker* graph, const std::string& model, const std::string& output, const std::string& device,
                             const std::string& frontend, const std::map<std::string, std::int64_t>& dims, const py::dict& values,
                             const py::dict& shapes, const ValueBounds& value_ranges, const py::dict& options, const py::dict& more) {
  auto environment = std::make_shared<Environment>();
  compiler::CompileOptions compile;
  compile.device = device;
  compile.frontend = frontend;
  compile.import.dims = dims;
  compile.import.values = tensors_of(values);
  compile.import.input_shapes = shapes_of(shapes);
  compile.value_ranges = value_ranges;
  schema::OptionSet set;
  compiler::declare(set, compile.optimizer);
  compiler::declare(set, compile.balancer);
  for (const py::dict& given : {options, more})
    for (const auto& [key, value] : given) set_option(key.cast<std::string>(), value, compile, set);
  compile.cancelled = is_lost;
  const plugin::Registries& registries = plugins();
  const auto made = graph == nullptr ? nullptr : graph->finished();
  const std::string path = !output.empty() ? output : (graph != nullptr ? graph->name() : stem(model)) + ".tti";
  without_lock(environment, [&host = environment->host(), &registries, made, model, path, compile = std::move(compile)]() -> Result<void> {
    BUDA_TRY(check_place(path, host));
    BUDA_ASSIGN(const plugin::ModelSource source, model_source(made.get(), model, host));
    BUDA_ASSIGN(auto image, buda::compile(source, compile, registries, host));
    return write(std::move(image), path, host);
  });
  return path;
}

py::dict merge_models(const std::filesystem::path& folder, const std::vector<std::string>& models, const std::string& arch,
                      const std::filesystem::path& file, bool switch_channels, bool overlap_dynamic) {
  const std::string location = folder.string(), output = file.string();
  auto environment = std::make_shared<Environment>();
  image::MergeOptions options;
  options.name = stem(output);
  options.arch = arch;
  options.memory = {switch_channels, overlap_dynamic};
  const std::string profile =
      without_lock(environment, [&host = environment->host(), location, models, options, output]() -> Result<std::string> {
        BUDA_TRY(check_place(output, host));
        std::vector<image::NamedImage> images;
        for (const auto& name : models) {
          end_if_lost();
          const std::string path = cat(location, '/', name, ".tti");
          BUDA_ASSIGN(auto bytes, host.fs().read(path));
          BUDA_ASSIGN(auto image, image::read_image(bytes, path));
          images.push_back({name, std::move(image)});
        }
        BUDA_ASSIGN(auto merged, compiler::merge_models(std::move(images), options, host));
        std::string text = image::memory_profile_text(merged.memory);
        BUDA_TRY(write(std::move(merged.image), output, host));
        return text;
      });
  py::dict out;
  out["path"] = output;
  out["memory_profile"] = profile;
  return out;
}

}  // namespace

void declare_compiler(py::module_& module) {
  module.def("compile_to_image", &compile_to_image, "What openbuda.compile_to_image calls.");
  module.def("merge_models", &merge_models, py::arg("model_bin_location"), py::arg("models"), py::arg("arch") = "wormhole_b0",
             py::arg("merged_model_location") = "merged_model.tti", py::arg("switch_chans_if_capacity_hit") = true,
             py::arg("overlap_dynamic_queues") = true,
             "Merges the images MODEL.tti of a folder into one for one device, as tti-merge does; gives its path and the memory profile.");
}

}  // namespace buda::python
