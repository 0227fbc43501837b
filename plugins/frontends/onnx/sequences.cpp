// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors. Their lengths are known while importing, so a sequence is a list of values here, and no value of the graph: what
// cuts a tensor into one, and what joins one, become slices and concatenations.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;
using Elements = std::vector<Operand>;

constexpr std::int64_t kLongestSequence = 1 << 16;

Result<Elements> elements_of(const NodeImport& n, std::size_t i) {
  const Operand value = n.operand(i);
  if (value == nullptr || value->sequence == nullptr) return n.refuse(cat("its input ", i, " is no sequence"));
  return *value->sequence;
}

Result<void> output_sequence(NodeImport& n, Elements elements, std::size_t i = 0) {
  if (static_cast<std::int64_t>(elements.size()) > kLongestSequence)
    return n.refuse(cat("its sequence has more than ", kLongestSequence, " elements"));
  n.output(frontend::sequence_value(n.name(), std::move(elements)), i);
  return success();
}

// A place in a sequence that has so many; negative ones count from the end.
Result<std::size_t> place_of(const NodeImport& n, std::size_t input, std::size_t places, std::size_t length) {
  BUDA_ASSIGN(double given, n.known_number(input, "position"));
  const auto at = static_cast<std::int64_t>(given), count = static_cast<std::int64_t>(length);
  const std::int64_t from_begin = at < 0 ? at + count : at;
  if (from_begin < 0 || from_begin >= static_cast<std::int64_t>(places))
    return n.refuse(cat("its position ", at, " lies outside a sequence of ", length));
  return static_cast<std::size_t>(from_begin);
}

Result<void> import_empty(NodeImport& n) { return output_sequence(n, {}); }

Result<void> import_construct(NodeImport& n) {
  Elements elements;
  for (std::size_t i = 0; i < n.input_count(); ++i) elements.push_back(n.operand(i));
  return output_sequence(n, std::move(elements));
}

Result<void> import_at(NodeImport& n) {
  BUDA_ASSIGN(Elements elements, elements_of(n, 0));
  BUDA_ASSIGN(std::size_t at, place_of(n, 1, elements.size(), elements.size()));
  n.output(elements[at]);
  return success();
}

Result<void> import_insert(NodeImport& n) {
  BUDA_ASSIGN(Elements elements, elements_of(n, 0));
  std::size_t at = elements.size();
  if (n.has_input(2)) {
    BUDA_ASSIGN(at, place_of(n, 2, elements.size() + 1, elements.size()));
  }
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), n.operand(1));
  return output_sequence(n, std::move(elements));
}

Result<void> import_erase(NodeImport& n) {
  BUDA_ASSIGN(Elements elements, elements_of(n, 0));
  if (elements.empty()) return n.refuse("its sequence is empty");
  std::size_t at = elements.size() - 1;
  if (n.has_input(1)) {
    BUDA_ASSIGN(at, place_of(n, 1, elements.size(), elements.size()));
  }
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
  return output_sequence(n, std::move(elements));
}

Result<void> import_length(NodeImport& n) {
  BUDA_ASSIGN(Elements elements, elements_of(n, 0));
  n.output_known(Tensor::scalar(static_cast<std::int64_t>(elements.size())));
  return success();
}

// The sizes of the parts: as listed; or one for all but the last, which has what is left.
Result<Dims> sizes_of_parts(const NodeImport& n, std::int64_t size) {
  if (!n.has_input(1)) return Dims(static_cast<std::size_t>(std::min(size, kLongestSequence + 1)), 1);
  BUDA_ASSIGN(Shape shape, n.shape(1));
  BUDA_ASSIGN(Dims given, n.known_integers(1, "sizes of the parts"));
  if (shape.rank() == 1) {
    std::int64_t sum = 0;
    for (auto part : given) sum = part < 0 || part > size - sum ? size + 1 : sum + part;
    if (sum != size) return n.refuse(cat("parts of sizes ", list_text(given), " do not add up to an axis of size ", size));
    return given;
  }
  const std::int64_t part = given.size() == 1 ? given[0] : 0;
  if (part < 1) return n.refuse(cat("its parts have size ", list_text(given), "; one positive number is needed"));
  Dims out;
  for (std::int64_t at = 0; at < size && static_cast<std::int64_t>(out.size()) <= kLongestSequence; at += part)
    out.push_back(std::min(part, size - at));
  return out;
}

Result<void> import_split(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 0), shape.rank()));
  BUDA_ASSIGN(Dims sizes, sizes_of_parts(n, shape[static_cast<std::size_t>(axis)]));
  if (static_cast<std::int64_t>(sizes.size()) > kLongestSequence)
    return n.refuse(cat("its sequence has more than ", kLongestSequence, " elements"));
  const bool squeezed = !n.has_input(1) && n.integer("keepdims", 1) == 0;
  Ref x = n.input(0);
  Elements elements;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Ref part = n.step(cat(i)).slice(x, axis, at, at + sizes[i]);
    if (squeezed) part = n.step(cat(i, ".squeezed")).squeeze(part, {axis});
    elements.push_back(frontend::computed_value(cat(n.name(), '.', i), part));
    at += sizes[i];
  }
  return output_sequence(n, std::move(elements));
}

Result<void> import_concat(NodeImport& n) {
  BUDA_ASSIGN(Elements elements, elements_of(n, 0));
  if (elements.empty()) return n.refuse("its sequence is empty");
  const bool stacks = n.integer("new_axis", 0) != 0;
  BUDA_ASSIGN(auto first, n.type(elements[0]));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 0), first.shape.rank() + (stacks ? 1 : 0)));
  std::vector<graph::Edge> parts;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    BUDA_TRY(n.type(elements[i]));
    Ref part = n.ref(elements[i]);
    parts.emplace_back(stacks ? n.step(cat("part.", i)).unsqueeze(part, {axis}) : part);
  }
  n.output(n.result().concatenate(std::move(parts), axis));
  return success();
}

// The body for each element of input 0; of the others, sequences give their elements at the same place.
Result<void> import_map(NodeImport& n) {
  BUDA_ASSIGN(const auto* body, n.subgraph("body"));
  BUDA_ASSIGN(Elements leading, elements_of(n, 0));
  std::vector<Elements> results(n.output_count());
  for (std::size_t i = 0; i < leading.size(); ++i) {
    Elements arguments;
    for (std::size_t k = 0; k < n.input_count(); ++k) {
      const Operand value = n.operand(k);
      if (value->sequence == nullptr) {
        arguments.push_back(value);
        continue;
      }
      if (value->sequence->size() != leading.size())
        return n.refuse(cat("its sequences have ", leading.size(), " and ", value->sequence->size(), " elements"));
      arguments.push_back((*value->sequence)[i]);
    }
    BUDA_ASSIGN(Elements made, n.import_subgraph(*body, std::move(arguments), cat(i)));
    if (made.size() != results.size()) return n.refuse(cat("its body has ", made.size(), " results, the node ", results.size()));
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (frontend::failed(made[k])) return success();  // reported already; the results of this node stay undefined
      results[k].push_back(made[k]);
    }
  }
  for (std::size_t k = 0; k < results.size(); ++k) BUDA_TRY(output_sequence(n, std::move(results[k]), k));
  return success();
}

constexpr OpImporter kSequenceOps[] = {
    {"ConcatFromSequence", 11, import_concat, {}, Narrow::refuses, true},
    {"SequenceAt", 11, import_at, {}, Narrow::refuses, true},
    {"SequenceConstruct", 11, import_construct},
    {"SequenceEmpty", 11, import_empty},
    {"SequenceErase", 11, import_erase, {}, Narrow::refuses, true},
    {"SequenceInsert", 11, import_insert, {}, Narrow::refuses, true},
    {"SequenceLength", 11, import_length, {}, Narrow::refuses, true},
    {"SequenceMap", 17, import_map, {}, Narrow::refuses, true},
    {"SplitToSequence", 11, import_split},
};

}  // namespace

std::span<const OpImporter> sequence_ops() { return kSequenceOps; }

}  // namespace buda::onnx_frontend
