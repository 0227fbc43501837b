// SPDX-License-Identifier: Apache-2.0
// Lists of tensors, in which loops keep what they read and write for each step: TensorList, and TensorArray of TensorFlow 1.
//
// A list is a value of its own while importing: each operator gives a new one, and no node of the graph. A TensorArray's changes follow its
// "flow", so that is where its list is.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;

constexpr std::int64_t kLongest = 1 << 16;

Result<void> check_place(const NodeImport& n, std::int64_t at, const Values& list) {
  if (at >= 0 && at < static_cast<std::int64_t>(list.size())) return success();
  return n.refuse(cat("its index ", at, " lies outside a list of ", list.size()));
}

Result<Value> element(const NodeImport& n, const Values& list, std::int64_t at) {
  BUDA_TRY(check_place(n, at, list));
  const Value& found = list[static_cast<std::size_t>(at)];
  if (found.kind != Value::Kind::tensor) return n.refuse(cat("element ", at, " of its list was not written"));
  return found;
}

// The slices of a tensor along its first axis.
Result<Values> slices(NodeImport& n, std::size_t input) {
  BUDA_ASSIGN(Shape shape, n.shape(input));
  if (shape.rank() == 0 || shape[0] > kLongest) return n.refuse(cat("its input ", shape.text(), " cannot be cut into a list"));
  Ref whole = n.input(input);
  Values out;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    Ref slice = n.step(cat("slice", i)).slice(whole, 0, i, i + 1);
    Ref at = n.step(cat(i)).squeeze(slice, {0});
    out.push_back(Value::of(frontend::computed_value(cat(n.name(), '.', i), at)));
  }
  return out;
}

Result<void> stack(NodeImport& n, const Values& elements) {
  if (elements.empty()) return n.refuse("its list is empty");
  std::vector<graph::Edge> parts;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    BUDA_ASSIGN(Value part, element(n, elements, static_cast<std::int64_t>(i)));
    Ref value = n.ref(part.tensor);
    parts.emplace_back(n.step(cat("part", i)).unsqueeze(value, {0}));
  }
  n.output(n.result().concatenate(std::move(parts), 0));
  return success();
}

Result<Values> empty_list(const NodeImport& n, std::size_t size_input) {
  BUDA_ASSIGN(std::int64_t size, n.known_integer(size_input, "size"));
  if (size < 0 || size > kLongest) return n.refuse(cat("its size is ", size, "; at most ", kLongest, " elements are supported"));
  return Values(static_cast<std::size_t>(size));
}

Result<Values> written(const NodeImport& n, Values list, std::int64_t at, Value value) {
  BUDA_TRY(check_place(n, at, list));
  list[static_cast<std::size_t>(at)] = std::move(value);
  return list;
}

// ---- TensorList

Result<void> import_reserve(NodeImport& n) {
  BUDA_ASSIGN(Values list, empty_list(n, 1));
  n.output_list(std::move(list));
  return success();
}

Result<void> import_empty(NodeImport& n) {
  n.output_list({});
  return success();
}

Result<void> import_from_tensor(NodeImport& n) {
  BUDA_ASSIGN(Values list, slices(n, 0));
  n.output_list(std::move(list));
  return success();
}

Result<void> import_stack(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(0));
  return stack(n, list);
}

Result<void> import_get(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(0));
  BUDA_ASSIGN(std::int64_t at, n.known_integer(1, "index"));
  BUDA_ASSIGN(Value found, element(n, list, at));
  n.output(std::move(found));
  return success();
}

Result<void> import_set(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(0));
  BUDA_ASSIGN(std::int64_t at, n.known_integer(1, "index"));
  BUDA_ASSIGN(list, written(n, std::move(list), at, n.value(2)));
  n.output_list(std::move(list));
  return success();
}

Result<void> import_push(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(0));
  if (list.size() >= kLongest) return n.refuse(cat("its list has more than ", kLongest, " elements"));
  list.push_back(n.value(1));
  n.output_list(std::move(list));
  return success();
}

Result<void> import_pop(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(0));
  BUDA_ASSIGN(Value last, element(n, list, static_cast<std::int64_t>(list.size()) - 1));
  list.pop_back();
  n.output_list(std::move(list), 0);
  n.output(std::move(last), 1);
  return success();
}

Result<void> import_length(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(0));
  n.output_known(Tensor::scalar(static_cast<std::int32_t>(list.size())));
  return success();
}

// ---- TensorArray

Result<void> import_array(NodeImport& n) {
  BUDA_ASSIGN(Values list, empty_list(n, 0));
  n.output_list(list, 0);
  n.output_list(std::move(list), 1);
  return success();
}

Result<void> import_array_scatter(NodeImport& n) {
  BUDA_ASSIGN(NodeImport::Dims places, n.known_integers(1, "indices"));
  BUDA_ASSIGN(Values parts, slices(n, 2));
  BUDA_ASSIGN(Values list, n.list(3));
  if (places.size() != parts.size()) return n.refuse(cat("it has ", places.size(), " indices for ", parts.size(), " values"));
  for (std::size_t i = 0; i < places.size(); ++i) {
    BUDA_ASSIGN(list, written(n, std::move(list), places[i], parts[i]));
  }
  n.output_list(std::move(list));
  return success();
}

Result<void> import_array_read(NodeImport& n) {
  BUDA_ASSIGN(std::int64_t at, n.known_integer(1, "index"));
  BUDA_ASSIGN(Values list, n.list(2));
  BUDA_ASSIGN(Value found, element(n, list, at));
  n.output(std::move(found));
  return success();
}

Result<void> import_array_write(NodeImport& n) {
  BUDA_ASSIGN(std::int64_t at, n.known_integer(1, "index"));
  BUDA_ASSIGN(Values list, n.list(3));
  if (at == static_cast<std::int64_t>(list.size()) && at < kLongest) list.emplace_back();  // arrays of dynamic size grow
  BUDA_ASSIGN(list, written(n, std::move(list), at, n.value(2)));
  n.output_list(std::move(list));
  return success();
}

Result<void> import_array_gather(NodeImport& n) {
  BUDA_ASSIGN(NodeImport::Dims places, n.known_integers(1, "indices"));
  BUDA_ASSIGN(Values list, n.list(2));
  Values chosen;
  for (auto at : places) {
    BUDA_ASSIGN(Value found, element(n, list, at));
    chosen.push_back(std::move(found));
  }
  return stack(n, chosen);
}

Result<void> import_array_size(NodeImport& n) {
  BUDA_ASSIGN(Values list, n.list(1));
  n.output_known(Tensor::scalar(static_cast<std::int32_t>(list.size())));
  return success();
}

constexpr OpImporter kListOps[] = {
    {"EmptyTensorList", import_empty},
    {"TensorArrayGatherV3", import_array_gather, {}, "indices known"},
    {"TensorArrayReadV3", import_array_read, {}, "index known"},
    {"TensorArrayScatterV3", import_array_scatter, {}, "indices known"},
    {"TensorArraySizeV3", import_array_size},
    {"TensorArrayV3", import_array, {}, "size known", "handle flow"},
    {"TensorArrayWriteV3", import_array_write, {}, "index known"},
    {"TensorListFromTensor", import_from_tensor},
    {"TensorListGetItem", import_get, {}, "index known"},
    {"TensorListLength", import_length},
    {"TensorListPopBack", import_pop, {}, {}, "output_handle tensor"},
    {"TensorListPushBack", import_push},
    {"TensorListReserve", import_reserve, {}, "size known"},
    {"TensorListSetItem", import_set, {}, "index known"},
    {"TensorListStack", import_stack},
};

}  // namespace

std::span<const OpImporter> list_ops() { return kListOps; }

}  // namespace buda::tensorflow_frontend
