// SPDX-License-Identifier: Apache-2.0
// TTIImage, and what makes sessions of it.
#include "apps/python/image.hpp"

#include "apps/python/backend.hpp"
#include "apps/python/session.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/image/image.hpp>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace py = pybind11;

namespace buda::python {
namespace {

bool has_name_of_model(const std::string& path) {
  static constexpr std::array<std::string_view, 9> kEndings = {".onnx",   ".pt", ".pth",   ".tflite",    ".mlir",
                                                               ".mlirbc", ".pb", ".pbtxt", ".graph.json"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

Result<image::DeviceJson> description_of(Host& host, const std::string& path) {
  BUDA_ASSIGN(const auto bytes, host.fs().read(path));
  auto members = image::read_members(bytes, path);
  if (!members) {
    Failure failure = std::move(members).failure();
    Diagnostic& d = failure.diagnostics().front();
    if (has_name_of_model(path)) d.hint = cat("it is a model; an image is made of it by openbuda.compile_to_image('", path, "')");
    return failure;
  }
  return image::read_description(*members, path);
}

// An image's file. It is read when it is opened.
class PyImage {
 public:
  explicit PyImage(std::string path) : path_(std::move(path)) {
    auto environment = std::make_shared<Environment>();
    description_ = without_lock(environment, [&host = environment->host(), file = path_] { return description_of(host, file); });
  }
  const std::string& path() const { return path_; }
  const image::DeviceJson& description() const { return description_; }
  py::dict shapes(bool inputs) const {
    py::dict out;
    for (const auto& tensor : inputs ? description_.plan.inputs : description_.plan.outputs)
      out[py::str(tensor.name)] = py::tuple(py::cast(tensor.shape));
    return out;
  }
  std::vector<std::string> models() const {
    std::vector<std::string> out;
    for (const auto& part : description_.models) out.push_back(part.name);
    if (out.empty()) out.push_back(description_.name);
    return out;
  }
  std::unique_ptr<PySession> open(const std::string& target, const std::string& device, const py::kwargs& options) const {
    return PySession::open({path_, target, device, plugin_options(options)});
  }
  std::unique_ptr<PyBackend> open_backend(const std::string& target, const std::string& device, const py::kwargs& options) const {
    return PyBackend::open({path_, target, device, plugin_options(options)});
  }
  std::string text() const { return cat("<openbuda.TTIImage '", path_, "' for ", description_.arch, ": ", join(models(), ", "), '>'); }

 private:
  std::string path_;
  image::DeviceJson description_;
};

// PyBuda's run_inference: a list of inputs, each a dictionary or a tuple in the order of the model's inputs; a list of results alike.
py::list run_inference(const PyImage& image, const py::list& inputs, const std::string& target, const std::string& device,
                       const py::kwargs& options) {
  auto session = image.open(target, device, options);
  const py::list outputs = session->ports("", false);
  py::list results;
  for (const auto& given : inputs) {
    const py::dict result = session->run(py::reinterpret_borrow<py::object>(given), "");
    if (py::isinstance<py::dict>(given)) {
      results.append(result);
      continue;
    }
    py::list ordered;
    for (const auto& output : outputs) ordered.append(result[output[py::int_(0)]]);
    results.append(ordered);
  }
  return results;
}

}  // namespace

void declare_images(py::module_& module) {
  py::class_<PyImage>(module, "TTIImage", "A compiled model.")
      .def_static(
          "load_from_disk", [](const std::filesystem::path& path) { return std::make_unique<PyImage>(path.string()); }, py::arg("path"),
          "The image of a file.")
      .def_property_readonly("path", &PyImage::path, "Its file.")
      .def_property_readonly(
          "name", [](const PyImage& i) { return i.description().name; }, "Of its model.")
      .def_property_readonly(
          "arch", [](const PyImage& i) { return i.description().arch; }, "The chip's architecture.")
      .def_property_readonly("models", &PyImage::models, "The names of its models; several of a merged image.")
      .def("__repr__", &PyImage::text)
      .def(
          "get_input_shapes", [](const PyImage& i) { return i.shapes(true); }, "By name.")
      .def(
          "get_output_shapes", [](const PyImage& i) { return i.shapes(false); }, "By name.")
      .def("open", &PyImage::open, py::arg("target") = "golden", py::arg("device") = "",
           "On a target, with the target's options as keywords; the device is the image's own unless named.")
      .def("open_backend", &PyImage::open_backend, py::arg("target") = "golden", py::arg("device") = "",
           "The same for pushing and popping.");
  module.def(
      "load_image", [](const std::filesystem::path& path) { return std::make_unique<PyImage>(path.string()); }, py::arg("path"),
      "The image of a file.");
  module.def("run_inference", &run_inference, py::arg("image"), py::arg("inputs"), py::arg("target") = "golden", py::arg("device") = "",
             "Runs an image for each of the inputs: dictionaries, or tuples in the order of the model's inputs. Gives results alike.");
  module.def(
      "detect_available_devices",
      [] {
        Environment environment;
        return device::known_devices(environment.host());
      },
      "The boards that targets can simulate.");
  module.def(
      "targets", [] { return plugins().targets.names(); }, "The names of the installed targets.");
}

}  // namespace buda::python
