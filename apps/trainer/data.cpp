// SPDX-License-Identifier: Apache-2.0
// Reading, matching, and cutting batches.
#include "apps/trainer/data.hpp"

#include <buda/base/checked.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::trainer {
namespace {

using runtime::Port;

// "x=a.npy", but not "dir=1/a.npy" when that is a file of its own.
Result<NamedTensors> read_file(const std::string& text, Host& host) {
  const auto equal = text.find('=');
  const bool named = equal != std::string::npos && equal != 0 && !host.fs().exists(text);
  const std::string file = named ? text.substr(equal + 1) : text;
  BUDA_ASSIGN(auto tensors, read_tensors(host.fs(), file));
  if (!named) return tensors;
  if (tensors.size() != 1) return input_error("TR001", {file}, cat("NAME= expects a file with one tensor, this one has ", tensors.size()));
  NamedTensors out;
  out.emplace(text.substr(0, equal), tensors.begin()->second);
  return out;
}

std::string text_of(const Port& port) { return cat("'", port.tensor->name, "' ", dtype_name(port.dtype), ' ', port.shape.text()); }

Shape without_first(const Shape& shape) {
  return shape.rank() == 0 ? shape : Shape(std::vector<std::int64_t>(shape.begin() + 1, shape.end()));
}
Shape without_last(const Shape& shape) {
  return shape.rank() == 0 ? shape : Shape(std::vector<std::int64_t>(shape.begin(), shape.end() - 1));
}

std::vector<std::int64_t> integers(const Tensor& tensor) {
  const Tensor wide = tensor.cast(DType::i64);
  return {wide.as<std::int64_t>().begin(), wide.as<std::int64_t>().end()};
}

// As PyTorch's losses have it.
constexpr std::int64_t kIgnored = -100;

// Numbers of classes as vectors, in the model's shape but for the first size. Those that are ignored are zeros, and the others count for as
// much more, so that the mean over the first `rows` is one over those that count.
Result<Tensor> one_hot(const Tensor& classes, std::int64_t depth, const std::string& option, std::size_t rows) {
  std::vector<float> out(classes.size() * static_cast<std::size_t>(depth), 0);
  const std::vector<std::int64_t> numbers = integers(classes);
  const std::size_t per_row = numbers.size() / static_cast<std::size_t>(std::max<std::int64_t>(classes.shape()[0], 1));
  const std::size_t all = per_row * rows;
  const auto ignored = std::count(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(all), kIgnored);
  const auto counted = static_cast<double>(all) - static_cast<double>(ignored);
  const float one = counted == 0 ? 0 : static_cast<float>(static_cast<double>(all) / counted);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == kIgnored) continue;
    if (numbers[i] < 0 || numbers[i] >= depth)
      return input_error("TR002", {},
                         cat("option --", option, ": row ", i / std::max<std::size_t>(per_row, 1), " has class ", numbers[i],
                             "; the model has the classes 0 to ", depth - 1, ", and ", kIgnored, " counts for nothing"));
    out[i * static_cast<std::size_t>(depth) + static_cast<std::size_t>(numbers[i])] = one;
  }
  std::vector<std::int64_t> dims = classes.shape().dims();
  dims.push_back(depth);
  return Tensor(Shape(std::move(dims)), std::move(out));
}

}  // namespace

Result<Data> Data::read(const Files& files, const runtime::TrainingSession& training, Host& host) {
  Data out;
  BUDA_TRY(out.add(training.inputs(), files.inputs, files.inputs_option, false, host));
  BUDA_TRY(out.add(training.targets(), files.targets, files.targets_option, true, host));
  return out;
}

Result<void> Data::add(const std::vector<const Port*>& ports, const std::vector<std::string>& files, const std::string& option,
                       bool are_targets, Host& host) {
  NamedTensors given;
  for (const std::string& file : files) {
    BUDA_ASSIGN(auto tensors, read_file(file, host));
    given.merge(tensors);
    if (!tensors.empty())
      return input_error("TR001", {}, cat("option --", option, ": there are two tensors named '", tensors.begin()->first, "'"));
  }
  if (ports.size() == 1 && given.size() == 1 && !given.contains(ports[0]->tensor->name)) {
    Tensor only = given.begin()->second;
    given.clear();
    given.emplace(ports[0]->tensor->name, std::move(only));
  }
  std::vector<std::string> wanted, texts;
  for (const Port* port : ports) {
    wanted.push_back(port->tensor->name);
    texts.push_back(text_of(*port));
  }
  Failure failure;
  for (const auto& [name, tensor] : given) {
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) continue;
    Diagnostic d =
        input_error("TR001", {}, cat("option --", option, ": the model does not take '", name, "'; it takes ", join(texts, ", ")));
    if (auto near = nearest_word(name, wanted)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  for (const Port* port : ports) {
    auto tensor = given.find(port->tensor->name);
    if (tensor == given.end()) {
      failure.add(input_error("TR001", {}, cat("option --", option, ": ", text_of(*port), " is missing")));
      continue;
    }
    auto made = column(*port, tensor->second, option, are_targets);
    if (!made) {
      failure.add(std::move(made).failure());
      continue;
    }
    const std::int64_t rows = made->tensor.shape()[0];
    if (rows_ >= 0 && rows != rows_)
      failure.add(input_error("TR002", {},
                              cat("option --", option, ": '", port->tensor->name, "' has ", rows, " rows, and '",
                                  columns_.front().port->tensor->name, "' has ", rows_)));
    rows_ = rows_ < 0 ? rows : rows_;
    columns_.push_back(std::move(*made));
  }
  if (!failure.empty()) return failure;
  return success();
}

Result<Data::Column> Data::column(const Port& port, Tensor tensor, const std::string& option, bool is_target) const {
  const bool classes = is_target && is_integer(tensor.dtype()) && is_float(port.dtype) && tensor.shape().rank() + 1 == port.shape.rank();
  const Shape row = without_first(classes ? without_last(port.shape) : port.shape);
  if (tensor.shape().rank() == 0 || port.shape.rank() == 0 || without_first(tensor.shape()) != row) {
    Diagnostic d = input_error("TR002", {},
                               cat("option --", option, ": the tensor for ", text_of(port), " is ", tensor.describe(),
                                   "; its sizes after the first, the number of rows, have to be the model's"));
    if (is_target && port.shape.rank() > 1) d.notes.push_back({{}, "numbers of classes are integers, without the last size"});
    return d;
  }
  if (!classes && is_float(port.dtype) != is_float(tensor.dtype()))
    return input_error(
        "TR002", {},
        cat("option --", option, ": the elements for ", text_of(port), " are ", dtype_name(tensor.dtype()), "; convert them first"));
  if (classes) BUDA_TRY(one_hot(tensor, port.shape[port.shape.rank() - 1], option, static_cast<std::size_t>(tensor.shape()[0])));
  return Column{&port, std::move(tensor), classes};
}

Result<NamedTensors> Data::batch(std::span<const std::int64_t> rows) const {
  NamedTensors out;
  for (const Column& c : columns_) {
    const std::int64_t size = align_up(static_cast<std::int64_t>(rows.size()), c.port->shape[0]);
    const std::string_view bytes = c.tensor.bytes();
    const std::size_t row_bytes = bytes.size() / static_cast<std::size_t>(std::max<std::int64_t>(c.tensor.shape()[0], 1));
    std::string taken;
    for (std::int64_t row : rows) taken += bytes.substr(static_cast<std::size_t>(row) * row_bytes, row_bytes);
    taken.resize(static_cast<std::size_t>(size) * row_bytes, '\0');
    Shape shape = c.tensor.shape();
    shape[0] = size;
    BUDA_ASSIGN(Tensor part, Tensor::from_bytes(c.tensor.dtype(), shape, io::Bytes(std::move(taken))));
    if (c.holds_classes) {
      BUDA_ASSIGN(part, one_hot(part, c.port->shape[c.port->shape.rank() - 1], "targets", rows.size()));
    }
    BUDA_ASSIGN(part, runtime::with_dtype(*c.port, part));
    out.emplace(c.port->tensor->name, std::move(part));
  }
  return out;
}

std::string Data::not_finite(std::span<const std::int64_t> rows) const {
  for (const Column& c : columns_) {
    if (!is_float(c.tensor.dtype())) continue;
    const std::vector<float> values = c.tensor.to_f32();
    const std::size_t size = values.size() / static_cast<std::size_t>(std::max<std::int64_t>(c.tensor.shape()[0], 1));
    for (const std::int64_t row : rows)
      for (const float value : std::span(values).subspan(static_cast<std::size_t>(row) * size, size))
        if (!std::isfinite(value))
          return cat("row ", row, " of '", c.port->tensor->name, "' has ", std::isnan(value) ? "a NaN" : "an infinity");
  }
  return "";
}

std::int64_t Data::class_of(std::int64_t row) const {
  for (const Column& c : columns_)
    if (c.holds_classes && c.tensor.shape().rank() == 1) return integers(c.tensor)[static_cast<std::size_t>(row)];
  return -1;
}

std::vector<std::int64_t> order_of_epoch(std::int64_t rows, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(rows));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  Rng rng(seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(epoch));
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

}  // namespace buda::trainer
