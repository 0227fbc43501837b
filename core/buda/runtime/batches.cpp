// SPDX-License-Identifier: Apache-2.0
// Cutting and joining along the first axis.
#include <buda/runtime/batches.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/process.hpp>
#include <buda/runtime/inputs/fixed_inputs.hpp>
#include <buda/runtime/inputs/input_ranges.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <optional>

namespace buda::runtime {
namespace {

std::string inputs_text(const Ports& ports) {
  std::vector<std::string> texts;
  for (const auto& port : ports.inputs) texts.push_back(cat("'", port.tensor->name, "' ", dtype_name(port.dtype), ' ', port.shape.text()));
  return texts.empty() ? "the model has no inputs" : cat("the model's inputs are ", join(texts, ", "));
}

// The shapes are equal, but perhaps for the first axis.
bool same_rows(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && a.rank() > 0 && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

std::size_t row_bytes(const Tensor& tensor) {
  auto rows = static_cast<std::size_t>(tensor.shape()[0]);
  return rows == 0 ? 0 : tensor.bytes().size() / rows;
}

// Rows that depend on each other belong into one batch. With states batches are steps that follow each other, which users ask for.
std::optional<Diagnostic> refuse_mixed_rows(const Ports& ports, const std::vector<const Port*>& cut, const Batches& batches) {
  if (!ports.states.empty()) return std::nullopt;
  auto mixed = std::find_if(ports.outputs.begin(), ports.outputs.end(), [](const Port& p) { return !p.tensor->rows_mixed_by.empty(); });
  if (mixed == ports.outputs.end()) return std::nullopt;
  Diagnostic d = input_error("RT027", {},
                             cat("inputs have ", batches.rows, batches.rows == 1 ? " row" : " rows", ", and the model computes the ",
                                 batches.batch, " that it was compiled for together: '", mixed->tensor->rows_mixed_by,
                                 "' makes the rows of output '", mixed->tensor->name, "' depend on each other or on their places"));
  std::vector<std::string> shapes;
  for (const Port* port : cut) {
    std::vector<std::int64_t> dims = port->shape.dims();
    dims[0] = batches.rows;
    std::vector<std::string> sizes;
    for (std::int64_t size : dims) sizes.push_back(cat(size));
    shapes.push_back(io::shell_line({"--input-shape", cat(port->tensor->name, '=', join(sizes, ","))}));
  }
  d.hint = cat("compile the model for ", batches.rows, batches.rows == 1 ? " row" : " rows",
               ", exported with that size, or where it leaves the size open with ", join(shapes, " "));
  return d;
}

std::int64_t first_size(const Port& port) { return port.shape.rank() == 0 ? 1 : port.shape[0]; }

// Inputs whose first sizes differ have no batch in common: each has to have the model's shape.
std::optional<Failure> refuse_different_batches(const std::vector<const Port*>& cut, const NamedTensors& inputs) {
  const Port& first = *cut.front();
  const auto other = std::find_if(cut.begin(), cut.end(), [&](const Port* port) { return first_size(*port) != first_size(first); });
  if (other == cut.end()) return std::nullopt;
  Failure failure;
  for (const Port* port : cut) {
    const Shape& given = inputs.at(port->tensor->name).shape();
    if (given == port->shape) continue;
    failure.add(input_error("RT021", {},
                            cat("input '", port->tensor->name, "' has the shape ", given.text(), ", the model's is ", port->shape.text(),
                                "; the model cannot be run in batches: '", first.tensor->name, "' has ", first_size(first),
                                " rows per batch and '", (*other)->tensor->name, "' ", first_size(**other))));
  }
  return failure;
}

Result<Batches> plan(const Ports& ports, const NamedTensors& inputs) {
  Failure failure;
  std::vector<std::string> names;
  for (const auto& port : ports.inputs) names.push_back(port.tensor->name);
  for (const auto& name : names)
    if (ports.must_be_given(name) && !inputs.contains(name)) failure.add(input_error("RT020", {}, cat("input '", name, "' is missing")));
  for (const auto& [name, tensor] : inputs) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    Diagnostic d = input_error("RT020", {}, cat("the model has no input '", name, "'"));
    if (auto near = nearest_word(name, names)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  std::vector<const Port*> cut;
  for (const auto& port : ports.inputs) {
    auto given = inputs.find(port.tensor->name);
    if (ports.must_be_given(port.tensor->name) && !port.is_of_step) {
      cut.push_back(&port);
    } else if (port.is_read && given != inputs.end() && given->second.shape() != port.shape) {
      failure.add(input_error("RT021", {},
                              cat("input '", port.tensor->name, "' has the shape ", given->second.shape().text(), ", the model's is ",
                                  port.shape.text(), "; it is given for the first step alone")));
    }
  }
  if (auto fixed = check_fixed_inputs(ports, inputs); !fixed) failure.add(std::move(fixed).failure());
  if (auto within = check_input_ranges(ports, inputs); !within) failure.add(std::move(within).failure());
  if (!failure.empty()) return failure;

  if (std::all_of(cut.begin(), cut.end(), [&](const Port* port) { return inputs.at(port->tensor->name).shape() == port->shape; }))
    return Batches{};

  // All inputs have to be longer or shorter along the first axis, and the outputs have to have the batch there too.
  if (auto different = refuse_different_batches(cut, inputs)) return std::move(*different);
  Batches out;
  for (const Port* p : cut) {
    const Port& port = *p;
    const Shape& given = inputs.at(port.tensor->name).shape();
    if (!same_rows(given, port.shape)) {
      failure.add(input_error("RT021", {},
                              cat("input '", port.tensor->name, "' has the shape ", given.text(), ", the model's is ", port.shape.text(),
                                  "; only the first size may differ, as a number of rows to run in batches")));
      continue;
    }
    const Port& first = *cut.front();
    if (given[0] < 1) failure.add(input_error("RT021", {}, cat("input '", port.tensor->name, "' has no rows")));
    const std::int64_t rows = inputs.at(first.tensor->name).shape()[0];
    if (given[0] != rows)
      failure.add(input_error("RT021", {},
                              cat("inputs '", first.tensor->name, "' and '", port.tensor->name, "' have ", rows, " and ", given[0],
                                  " rows; all have to have the same number")));
    out.rows = given[0];
    out.batch = port.shape[0];
  }
  for (const auto& port : ports.outputs)
    if (failure.empty() && !ports.gives_state(port.tensor->name) && (port.shape.rank() == 0 || port.shape[0] != out.batch))
      failure.add(input_error("RT021", {},
                              cat("inputs cannot be run in batches: output '", port.tensor->name, "' has the shape ", port.shape.text(),
                                  ", without the batch of ", out.batch, " as its first size")));
  if (!failure.empty()) return failure;
  if (out.batch < 1) return input_error("RT021", {}, "the model's batch is empty");
  if (auto mixed = refuse_mixed_rows(ports, cut, out)) return std::move(*mixed);
  out.count = ceil_div(out.rows, out.batch);
  if (!ports.states.empty() && out.padded() > 0)
    return input_error("RT021", {},
                       cat("inputs have ", out.rows, " rows, which is not a multiple of the batch of ", out.batch,
                           "; rows of zeros would change the state of the model"));
  return out;
}

}  // namespace

Result<Batches> plan_batches(const Ports& ports, const NamedTensors& inputs) {
  auto batches = plan(ports, inputs);
  // Said once, behind all that is wrong.
  if (!batches) batches.failure().diagnostics().back().notes.push_back({{}, inputs_text(ports)});
  return batches;
}

std::string Batches::text() const {
  std::string out = cat(rows, rows == 1 ? " row" : " rows", " run as ", count, count == 1 ? " batch of " : " batches of ", batch);
  if (padded() > 0)
    out += cat(count == 1 ? ", " : ", the last one ", "padded with ", padded(), padded() == 1 ? " row of zeros" : " rows of zeros");
  return out;
}

Result<Tensor> with_dtype(const Port& port, const Tensor& tensor) {
  if (tensor.dtype() == port.dtype) return tensor;
  auto wrong_type = [&](const std::string& why) {
    return input_error("RT022", {},
                       cat("input '", port.tensor->name, "' has elements of type ", dtype_name(tensor.dtype()), ", the model's are ",
                           dtype_name(port.dtype), why));
  };
  if (is_float(tensor.dtype()) && is_float(port.dtype)) return tensor.cast(port.dtype);
  if (!is_integer(tensor.dtype()) || !is_integer(port.dtype)) return wrong_type("; convert it first");
  Tensor converted = tensor.cast(port.dtype);
  if (converted.cast(tensor.dtype()) != tensor) return wrong_type(", which cannot hold all of its values");
  return converted;
}

Result<Tensor> rows_of(const Tensor& tensor, std::int64_t first, std::int64_t rows) {
  Shape shape = tensor.shape();
  const std::size_t bytes = row_bytes(tensor);
  const std::int64_t there = std::clamp<std::int64_t>(shape[0] - first, 0, rows);
  std::string out(tensor.bytes().substr(static_cast<std::size_t>(first) * bytes, static_cast<std::size_t>(there) * bytes));
  out.resize(static_cast<std::size_t>(rows) * bytes, '\0');
  shape[0] = rows;
  return Tensor::from_bytes(tensor.dtype(), std::move(shape), io::Bytes(std::move(out)));
}

Result<Tensor> joined(const std::vector<Tensor>& tensors, std::int64_t rows) {
  if (tensors.size() == 1 && (rows < 0 || rows == tensors.front().shape()[0])) return tensors.front();
  Shape shape = tensors.front().shape();
  const std::size_t bytes = row_bytes(tensors.front());
  std::string out;
  std::int64_t total = 0;
  for (const auto& t : tensors) total += t.shape()[0];
  if (rows >= 0) total = std::min(total, rows);
  out.reserve(static_cast<std::size_t>(total) * bytes);
  for (const auto& t : tensors) out += t.bytes();
  out.resize(static_cast<std::size_t>(total) * bytes);
  shape[0] = total;
  return Tensor::from_bytes(tensors.front().dtype(), std::move(shape), io::Bytes(std::move(out)));
}

}  // namespace buda::runtime
