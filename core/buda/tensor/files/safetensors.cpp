// SPDX-License-Identifier: Apache-2.0
// safetensors: eight bytes of header length, a JSON object {name: {dtype, shape, data_offsets}}, data.
// Reference: the format description in the safetensors project. The data must be covered exactly, so that nothing can hide in a file.
#include <buda/tensor/files/safetensors.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/tensor/bytes/little_endian.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace buda {
namespace {

constexpr std::size_t kLengthSize = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

class SafetensorsParser {
 public:
  SafetensorsParser(const io::Bytes& bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  Result<NamedTensors> parse() {
    BUDA_ASSIGN(std::uint64_t length, header_length());
    std::uint64_t data_size = bytes_.size() - kLengthSize - length;
    auto header = io::parse_json(bytes_.view().substr(kLengthSize, length), path_);
    if (!header) {
      for (Diagnostic& d : header.failure().diagnostics()) {
        d.message = cat("the header is not JSON: ", d.message, " (column ", d.loc.column, " of line ", d.loc.line, " of the header)");
        d.loc = {path_};  // lines of the file are something else
      }
      return std::move(header).failure();
    }
    if (!header->is_map()) return error(cat("the header is ", header->describe(), ", not a map of tensors"));
    Failure failure;
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < header->size(); ++i) {
      const std::string& name = header->keys()[i];
      auto entry = name == kMetadata ? metadata(header->items()[i]) : read_entry(name, header->items()[i], data_size);
      if (!entry)
        failure.add(std::move(entry).failure());
      else if (name != kMetadata)
        entries.push_back(std::move(*entry));
    }
    if (failure.empty()) check_coverage(entries, data_size, failure);
    if (!failure.empty()) return failure;
    NamedTensors tensors;
    for (Entry& e : entries) {
      io::Bytes data = bytes_.slice(kLengthSize + length + e.begin, e.end - e.begin);
      BUDA_ASSIGN(Tensor tensor, Tensor::from_bytes(e.dtype, std::move(e.shape), std::move(data)));
      tensors.emplace(std::move(e.name), std::move(tensor));
    }
    return tensors;
  }

 private:
  Diagnostic error(std::string message) const { return input_error("TN023", {path_}, std::move(message)); }

  Result<std::uint64_t> header_length() const {
    if (bytes_.size() < kLengthSize) return error(cat("is too short for a safetensors file: ", bytes_.size(), " bytes"));
    auto length = load_le<std::uint64_t>(bytes_.view(), 0);
    if (length > kLargestSafetensorsHeader)
      return error(cat("announces a header of ", length, " bytes; at most ", kLargestSafetensorsHeader, " are allowed"));
    if (length > bytes_.size() - kLengthSize)
      return error(cat("ends within its header: ", length, " bytes are announced, ", bytes_.size() - kLengthSize, " follow"));
    return length;
  }

  Result<Entry> metadata(const io::Node& node) const {
    bool strings = node.is_map() && std::all_of(node.items().begin(), node.items().end(), [](const io::Node& v) { return v.is_string(); });
    if (!strings) return error("'__metadata__' is not a map of strings");
    return Entry{};
  }

  Result<Entry> read_entry(const std::string& name, const io::Node& node, std::uint64_t data_size) const {
    auto wrong = [&](std::string message) { return error(cat("tensor '", name, "': ", message)); };
    if (!node.is_map()) return wrong(cat("its description is ", node.describe(), ", not a map"));
    for (const std::string& key : node.keys())
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        return wrong(cat("unknown key '", key, "'; there are 'dtype', 'shape' and 'data_offsets'"));
    Entry entry;
    entry.name = name;
    const io::Node* dtype = node.find("dtype");
    if (dtype == nullptr || !dtype->is_string()) return wrong("'dtype' is missing or not a string");
    auto type = dtype_from_name(dtype->text());
    if (!type) return unknown_type(name, dtype->text());
    entry.dtype = *type;
    auto shape = integers(node.find("shape"));
    if (!shape) return wrong("'shape' is missing or not a list of sizes");
    entry.shape = Shape(std::move(*shape));
    auto offsets = integers(node.find("data_offsets"));
    if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) return wrong("'data_offsets' is missing or not [begin, end]");
    entry.begin = static_cast<std::uint64_t>((*offsets)[0]);
    entry.end = static_cast<std::uint64_t>((*offsets)[1]);
    if (entry.end > data_size)
      return wrong(
          cat("its data, bytes ", entry.begin, " to ", entry.end, ", reaches beyond the ", data_size, " bytes of data in the file"));
    auto size = tensor_bytes(entry.dtype, entry.shape);
    if (!size || static_cast<std::uint64_t>(*size) != entry.end - entry.begin)
      return wrong(cat("shape ", entry.shape.text(), " and type ", dtype_name(entry.dtype), " take ",
                       size ? cat(*size, " bytes") : std::string("more bytes than can be addressed"), ", but it has ",
                       entry.end - entry.begin));
    return entry;
  }

  Diagnostic unknown_type(const std::string& name, const std::string& type) const {
    std::vector<std::string> known;
    for (DType t : all_dtypes()) known.emplace_back(dtype_name(t));
    Diagnostic d = error(cat("tensor '", name, "': elements of type '", type, "' are not supported; there are ", join(known, ", ")));
    if (auto nearest = nearest_word(type, known)) d.hint = cat("did you mean '", *nearest, "'?");
    return d;
  }

  // A list of integers that are not negative.
  static std::optional<std::vector<std::int64_t>> integers(const io::Node* node) {
    if (node == nullptr || !node->is_list()) return std::nullopt;
    std::vector<std::int64_t> out;
    for (const io::Node& item : node->items()) {
      auto value = item.as_int();
      if (!value || *value < 0) return std::nullopt;
      out.push_back(*value);
    }
    return out;
  }

  void check_coverage(const std::vector<Entry>& entries, std::uint64_t data_size, Failure& failure) const {
    std::vector<const Entry*> order;
    for (const Entry& e : entries) order.push_back(&e);
    std::sort(order.begin(), order.end(),
              [](const Entry* a, const Entry* b) { return std::tie(a->begin, a->end, a->name) < std::tie(b->begin, b->end, b->name); });
    std::uint64_t covered = 0;
    const Entry* before = nullptr;
    for (const Entry* e : order) {
      if (e->begin < covered)
        failure.add(error(cat("the data of tensors '", before->name, "' and '", e->name, "' overlaps at byte ", e->begin)));
      if (e->begin > covered) failure.add(error(cat("bytes ", covered, " to ", e->begin, " of the data belong to no tensor")));
      covered = std::max(covered, e->end);
      before = e;
    }
    if (covered != data_size) failure.add(error(cat("bytes ", covered, " to ", data_size, " of the data belong to no tensor")));
  }

  const io::Bytes& bytes_;
  const std::string& path_;
};

}  // namespace

Result<NamedTensors> parse_safetensors(const io::Bytes& bytes, const std::string& path) { return SafetensorsParser(bytes, path).parse(); }

Result<void> write_safetensors(io::OutputFile& out, const NamedTensors& tensors) {
  using Named = NamedTensors::value_type;
  std::vector<const Named*> order;
  for (const Named& t : tensors) {
    if (t.first == kMetadata) return input_error("TN022", {}, "a tensor in a safetensors file cannot be named '__metadata__'");
    if (!is_valid_utf8(t.first)) return input_error("TN022", {}, "a name that is not UTF-8 cannot be written to a safetensors file");
    order.push_back(&t);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Named* a, const Named* b) { return dtype_size(a->second.dtype()) > dtype_size(b->second.dtype()); });
  std::map<std::string_view, std::int64_t> begins;
  std::int64_t size = 0;
  for (const Named* t : order) {
    begins[t->first] = size;
    size += static_cast<std::int64_t>(t->second.bytes().size());
  }
  io::Node header = io::Node::map();
  for (const auto& [name, tensor] : tensors) {
    io::Node shape = io::Node::list();
    for (std::int64_t d : tensor.shape()) shape.push(io::Node::integer(d));
    io::Node offsets = io::Node::list();
    offsets.push(io::Node::integer(begins[name]));
    offsets.push(io::Node::integer(begins[name] + static_cast<std::int64_t>(tensor.bytes().size())));
    io::Node entry = io::Node::map();
    entry.add("dtype", io::Node::string(std::string(dtype_name(tensor.dtype()))));
    entry.add("shape", std::move(shape));
    entry.add("data_offsets", std::move(offsets));
    header.add(name, std::move(entry));
  }
  std::string text = io::json_line(header);
  text.resize(align_up<std::size_t>(text.size(), 8), ' ');
  if (text.size() > kLargestSafetensorsHeader)
    return input_error("TN022", {}, "these tensors need a header that is longer than a safetensors file may have");
  std::string length;
  append_le(length, static_cast<std::uint64_t>(text.size()));
  BUDA_TRY(out.write(length));
  BUDA_TRY(out.write(text));
  for (const Named* t : order) BUDA_TRY(out.write(t->second.bytes()));
  return success();
}

}  // namespace buda
