// SPDX-License-Identifier: Apache-2.0
// Finds the installation beside libbuda, and raises its errors.
#include "apps/python/toolchain.hpp"

#include <buda/plugin/abi.h>
#include <buda/base/text.hpp>
#include <buda/compiler/compile.hpp>
#include <buda/diag/format.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/file_system.hpp>
#include <buda/plugin/loader.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace buda::python {
namespace {

// The installation that libbuda is in: <prefix>/lib/libbuda.so.
std::string prefix() {
  Dl_info info{};
  // Any function of the library.
  if (::dladdr(reinterpret_cast<const void*>(&io::make_real_file_system), &info) == 0 || info.dli_fname == nullptr) return "/usr";
  std::error_code error;
  const auto library = std::filesystem::canonical(info.dli_fname, error);
  return error ? "/usr" : library.parent_path().parent_path().string();
}

// Lives as long as the interpreter, and is not destroyed after it.
py::object& error_type() {
  static auto* type = new py::object;
  return *type;
}

std::string text_of(const Diagnostic& d) {
  std::string text = format_text(d, {}, nullptr);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

py::dict dictionary_of(const Diagnostic& d) {
  py::dict out;
  out["code"] = d.code;
  out["fault"] = fault_name(d.fault);
  out["message"] = d.message;
  out["file"] = d.loc.file;
  out["line"] = d.loc.line;
  out["node"] = d.node;
  out["hint"] = d.hint;
  py::dict data;
  for (const auto& [name, value] : d.data) data[py::str(name)] = value;
  out["data"] = data;
  return out;
}

// Keeps diagnostics until they are taken.
class Warnings final : public DiagSink {
 public:
  void report(const Diagnostic& d) override {
    const std::lock_guard lock(mutex_);
    told_.push_back(d);
  }
  std::vector<Diagnostic> taken() {
    const std::lock_guard lock(mutex_);
    return std::exchange(told_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Diagnostic> told_;
};

// Ends interrupted work where it tells how far it is.
class EndingHost final : public Host {
 public:
  EndingHost(io::FileSystem& fs, DiagSink& diagnostics, Ends ends) : Host(fs, diagnostics), ends_(ends) {}
  void progress(std::string_view what, std::size_t, std::size_t) override {
    if (ends_ == Ends::anywhere || what == "running") end_if_lost();  // a session tells that between batches
  }

 private:
  Ends ends_;
};

}  // namespace

struct Environment::Parts {
  explicit Parts(Ends ends) : host(*files, warnings, ends) {}
  std::unique_ptr<io::FileSystem> files = io::make_real_file_system();
  Warnings warnings;
  EndingHost host;
};

Environment::Environment(Ends ends) : parts_(new Parts(ends)) {
  host().threads = std::max(1u, std::thread::hardware_concurrency());
  host().share_dir = prefix() + "/share/buda";
}

Environment::~Environment() = default;

Host& Environment::host() { return parts_->host; }

void Environment::tell_warnings() {
  for (const Diagnostic& d : parts_->warnings.taken())
    if (d.severity == Severity::warning && PyErr_WarnEx(PyExc_UserWarning, text_of(d).c_str(), 1) != 0) throw py::error_already_set();
}

const plugin::Registries& plugins() {
  static const plugin::Registries* loaded = [] {
    auto* registries = new plugin::Registries;  // as long as the process, as the plugins' code
    Environment environment;
    std::vector<plugin::Kind> kinds = compiler::plugin_kinds();
    kinds.push_back(plugin::Kind::target);
    plugin::SearchPath path;
    path.installed_directory = cat(prefix(), "/lib/buda/plugins/abi", BUDA_ABI_GENERATION);
    raise_unless(plugin::load_plugins(path, kinds, *registries, environment.host()));
    return registries;
  }();
  return *loaded;
}

void declare_error(py::module_& module) {
  error_type() = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "openbuda.Error", "What the toolchain refused; .diagnostics has the errors as dictionaries.", PyExc_RuntimeError, nullptr));
  module.attr("Error") = error_type();
}

void raise(const Failure& failure) {
  std::string text;
  py::list diagnostics;
  for (const Diagnostic& d : failure.diagnostics()) {
    text += (text.empty() ? "" : "\n") + text_of(d);
    diagnostics.append(dictionary_of(d));
  }
  py::object error = error_type()(text);
  error.attr("diagnostics") = diagnostics;
  PyErr_SetObject(error_type().ptr(), error.ptr());
  throw py::error_already_set();
}

std::vector<std::string> option_texts(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return {value.cast<bool>() ? "true" : "false"};
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    std::vector<std::string> out;
    for (const auto& element : value)
      for (auto& text : option_texts(element)) out.push_back(std::move(text));
    return out;
  }
  return {py::str(value).cast<std::string>()};
}

schema::OptionValues plugin_options(const py::kwargs& arguments) {
  schema::OptionValues out;
  for (const auto& [key, value] : arguments) {
    std::string name = key.cast<std::string>();
    std::replace(name.begin(), name.end(), '_', '-');
    for (auto& text : option_texts(value)) out.set(name, text);
  }
  return out;
}

}  // namespace buda::python
