// SPDX-License-Identifier: Apache-2.0
// Writing of small archives.
#include "torchscript_archive.hpp"

#include <buda/base/text.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/files/zip.hpp>

namespace buda::test {
namespace {

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// "__torch__.torch.nn.Linear" is written as its module and its name.
std::string global(const std::string& full) {
  const auto dot = full.rfind('.');
  return cat('c', full.substr(0, dot), '\n', full.substr(dot + 1), '\n');
}

std::string_view storage_name(DType dtype) {
  switch (dtype) {
    case DType::i64:
      return "LongStorage";
    case DType::boolean:
      return "BoolStorage";
    case DType::f64:
      return "DoubleStorage";
    default:
      return "FloatStorage";
  }
}

std::string integers(const std::vector<int>& values) {
  std::string out = "(";
  for (int v : values) out += TorchArchive::integer(v);
  return out + "t";
}

}  // namespace

std::string TorchArchive::integer(std::int32_t value) { return cat('J', little_endian(static_cast<std::uint32_t>(value), 4)); }
std::string TorchArchive::text(const std::string& value) { return cat('X', little_endian(value.size(), 4), value); }

std::string TorchArchive::object(const std::string& type, const Fields& fields) {
  std::string out = cat(global(type), ")\x81}(");
  for (const auto& [name, value] : fields) out += cat(text(name), value);
  return out + "ub";
}

std::string TorchArchive::tensor(const Tensor& t) {
  std::vector<int> sizes, strides;
  for (auto s : t.shape()) sizes.push_back(static_cast<int>(s));
  for (auto s : t.shape().strides()) strides.push_back(static_cast<int>(s));
  return tensor(t, sizes, strides);
}

std::string TorchArchive::tensor(const Tensor& storage, const std::vector<int>& sizes, const std::vector<int>& strides, int first) {
  const std::string key = cat(storages_++);
  members_[cat("data/", key)] = std::string(storage.bytes());
  return cat("ctorch._utils\n_rebuild_tensor_v2\n((", text("storage"), "ctorch\n", storage_name(storage.dtype()), '\n', text(key),
             text("cpu"), integer(static_cast<std::int32_t>(storage.size())), "tQ", integer(first), integers(sizes), integers(strides),
             flag(false), "ccollections\nOrderedDict\n)RtR");
}

TorchArchive& TorchArchive::field(const std::string& name, std::string pickled) {
  fields_.emplace_back(name, std::move(pickled));
  return *this;
}

TorchArchive& TorchArchive::code(const std::string& module, const std::string& text) {
  std::string path = module;
  for (char& c : path)
    if (c == '.') c = '/';
  return member(cat("code/", path, ".py"), text);
}

TorchArchive& TorchArchive::forward(const std::string& parameters, const std::string& body, const std::string& fields) {
  return code("__torch__", cat("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n", fields, "  def forward(self: __torch__.M",
                               parameters.empty() ? "" : ",\n    ", parameters, ") -> Tensor:\n", body));
}

TorchArchive& TorchArchive::member(const std::string& name, std::string content) {
  members_[name] = std::move(content);
  return *this;
}

std::string TorchArchive::pickle() const { return cat("\x80\x02", object("__torch__.M", fields_), '.'); }

std::string TorchArchive::bytes() const {
  io::MemoryFileSystem fs;
  auto file = fs.create("a.pt", io::WriteMode::always);
  ZipWriter zip(**file);
  auto members = members_;
  members.emplace("data.pkl", pickle());
  for (const auto& [name, content] : members) {
    const std::string_view pieces[] = {content};
    static_cast<void>(zip.add(cat("m/", name), pieces, ZipMethod::stored));
  }
  static_cast<void>(zip.finish());
  static_cast<void>((*file)->commit());
  return std::string(fs.find("a.pt")->view());
}

}  // namespace buda::test
