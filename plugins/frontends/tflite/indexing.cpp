// SPDX-License-Identifier: Apache-2.0
// Elements by their places, and places of elements.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/indexing.hpp>
#include <buda/frontend/scatter.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> import_gather(NodeImport& n) {
  const auto& o = n.options<format::GatherOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape places, n.shape(1));
  Ref value = n.moved(0), indices = n.input(1);
  BUDA_ASSIGN(Ref y, frontend::gathered(n, value, x, indices, places, o.axis(), o.batch_dims()));
  n.output(y);
  return success();
}

Result<void> import_gather_nd(NodeImport& n) {
  Ref value = n.moved(0), indices = n.input(1);
  n.output(n.result().op("gather_nd", {value, indices}));
  return success();
}

// Inputs: indices, table.
Result<void> import_embedding_lookup(NodeImport& n) {
  Ref indices = n.input(0), table = n.moved(1);
  if (n.input_info(1).quantization != n.output_info(0).quantization) table = n.number(1);
  n.output_number(n.result().op("gather", {table, indices}, {{"dim", std::int64_t{0}}}));
  return success();
}

// Updates are added to zeros.
Result<void> import_scatter_nd(NodeImport& n) {
  BUDA_ASSIGN(Dims shape, n.known_integers(2, "shape"));
  BUDA_ASSIGN(auto type, n.type(1));
  Ref indices = n.input(0), updates = n.input(1);
  BUDA_ASSIGN(Ref result, frontend::scattered_onto_zeros(n, indices, updates, type.dtype, Shape(shape)));
  n.output(result);
  return success();
}

// Inputs: indices, depth, the value at an index, and the one elsewhere.
Result<void> import_one_hot(NodeImport& n) {
  BUDA_ASSIGN(auto depth, n.known_integer(1, "depth"));
  BUDA_ASSIGN(double on, n.known_number(2, "value at an index"));
  BUDA_ASSIGN(double off, n.known_number(3, "value elsewhere"));
  BUDA_ASSIGN(auto type, n.type(2));
  Ref indices = n.input(0);
  n.output(frontend::one_hot(n, indices, depth, on, off, type.dtype, n.options<format::OneHotOptions>().axis()));
  return success();
}

Result<void> import_arg(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  Ref value = n.moved(0);
  Ref index = n.step("index").op(n.importer().op, {value}, {{"dim", axis}, {"keep_dims", false}});
  n.output(n.result().op("cast", {index}, {{"dtype", std::string(dtype_name(n.output_info(0).dtype.value_or(DType::i64)))}}));
  return success();
}

Result<void> import_topk(NodeImport& n) {
  BUDA_ASSIGN(auto k, n.known_integer(1, "k"));
  Ref value = n.moved(0);
  Ref largest = n.result().op("topk", {value}, {{"k", k}});
  n.output(largest, 0);
  if (largest.valid() && n.has_output(1))
    n.output(n.step("indices").op("cast", {Ref(largest.node, 1)},
                                  {{"dtype", std::string(dtype_name(n.output_info(1).dtype.value_or(DType::i32)))}}),
             1);
  return success();
}

Result<void> import_cumsum(NodeImport& n) {
  const auto& o = n.options<format::CumsumOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  Ref value = n.number(0);
  n.output_number(n.result().op("cumsum", {value}, {{"dim", axis}, {"exclusive", o.exclusive()}, {"reverse", o.reverse()}}));
  return success();
}

Result<void> import_reverse_sequence(NodeImport& n) {
  const auto& o = n.options<format::ReverseSequenceOptions>();
  Ref value = n.moved(0), lengths = n.input(1);
  n.output(n.result().op("reverse_sequence", {value, lengths},
                         {{"batch_dim", std::int64_t{o.batch_dim()}}, {"time_dim", std::int64_t{o.seq_dim()}}}));
  return success();
}

constexpr OpImporter kIndexingOps[] = {
    {Code::ARG_MAX, import_arg, "argmax", Exactness::exact, "axis known"},
    {Code::ARG_MIN, import_arg, "argmin", Exactness::exact, "axis known"},
    {Code::CUMSUM, import_cumsum, {}, Exactness::rounded, "axis known"},
    {Code::EMBEDDING_LOOKUP, import_embedding_lookup},
    {Code::GATHER, import_gather, {}, Exactness::exact},
    {Code::GATHER_ND, import_gather_nd, {}, Exactness::exact},
    {Code::ONE_HOT, import_one_hot, {}, Exactness::exact, "all but the indices known"},
    {Code::REVERSE_SEQUENCE, import_reverse_sequence, {}, Exactness::exact},
    {Code::SCATTER_ND, import_scatter_nd, {}, Exactness::exact, "shape known"},
    {Code::TOPK_V2, import_topk, {}, Exactness::exact, "k known"},
};

}  // namespace

std::span<const OpImporter> indexing_ops() { return kIndexingOps; }

}  // namespace buda::tflite_frontend
