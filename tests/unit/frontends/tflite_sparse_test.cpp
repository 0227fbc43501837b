// SPDX-License-Identifier: Apache-2.0
// Constants of TensorFlow Lite models of which some elements are stored, against matrices written out here.
#include "tflite_fixture.hpp"

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <memory>
#include <utility>

namespace buda::test {
namespace {

using ::testing::HasSubstr;

// One level of sparse storage: dense, or with segments and indices.
std::unique_ptr<tfl::DimensionMetadataT> dense_level(std::int32_t size) {
  auto out = std::make_unique<tfl::DimensionMetadataT>();
  out->dense_size = size;
  return out;
}
std::unique_ptr<tfl::DimensionMetadataT> sparse_level(std::vector<std::uint8_t> segments, std::vector<std::uint16_t> indices) {
  auto out = std::make_unique<tfl::DimensionMetadataT>();
  out->format = tfl::DimensionType::SPARSE_CSR;
  tfl::Uint8VectorT begins;
  begins.values = std::move(segments);
  out->array_segments.Set(std::move(begins));
  tfl::Uint16VectorT places;
  places.values = std::move(indices);
  out->array_indices.Set(std::move(places));
  return out;
}

// A constant that DENSIFY makes whole, and to which an input is added.
struct SparseModel {
  TfliteModel m;
  tfl::SparsityParametersT* sparsity = nullptr;

  SparseModel(const TfliteModel::Dims& shape, const std::vector<float>& stored) {
    const int x = m.input("x", shape), w = m.constant("w", shape, stored), whole = m.tensor("whole", shape), y = m.tensor("y", shape);
    auto& tensor = *m.graph().tensors[static_cast<std::size_t>(w)];
    tensor.sparsity = std::make_unique<tfl::SparsityParametersT>();
    sparsity = tensor.sparsity.get();
    m.op(tfl::BuiltinOperator::DENSIFY, {w}, {whole});
    m.op(tfl::BuiltinOperator::ADD, {x, whole}, {y}, tfl::AddOptionsT{});
    m.output(y);
  }
};

// Blocks of 2x2 of a 4x4 matrix: of its upper half both, of its lower half the right one. `turned`: columns before rows, outside and in
// blocks.
SparseModel blocks_of_a_matrix(bool turned) {
  SparseModel out({4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  auto& s = *out.sparsity;
  s.traversal_order = turned ? std::vector<std::int32_t>{1, 0, 3, 2} : std::vector<std::int32_t>{0, 1, 2, 3};
  s.block_map = {0, 1};
  s.dim_metadata.push_back(dense_level(2));
  s.dim_metadata.push_back(turned ? sparse_level({0, 1, 3}, {0, 0, 1}) : sparse_level({0, 2, 3}, {0, 1, 1}));
  s.dim_metadata.push_back(dense_level(2));
  s.dim_metadata.push_back(dense_level(2));
  return out;
}

TEST_F(Tflite, SparseConstantsAreFilledUp) {
  const Tensor zeros({4, 4}, std::vector<float>(16, 0));
  EXPECT_EQ(run(blocks_of_a_matrix(false).m, {zeros}).to_f32(), (std::vector<float>{1, 2, 5, 6, 3, 4, 7, 8, 0, 0, 9, 10, 0, 0, 11, 12}));
  EXPECT_EQ(run(blocks_of_a_matrix(true).m, {zeros}).to_f32(), (std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8, 0, 0, 9, 11, 0, 0, 10, 12}));

  SparseModel rows({3, 4}, {1, 2, 3});
  rows.sparsity->traversal_order = {0, 1};
  rows.sparsity->dim_metadata.push_back(dense_level(3));
  rows.sparsity->dim_metadata.push_back(sparse_level({0, 2, 2, 3}, {1, 3, 0}));
  EXPECT_EQ(run(rows.m, {Tensor({3, 4}, std::vector<float>(12, 1))}).to_f32(), (std::vector<float>{1, 2, 1, 3, 1, 1, 1, 1, 4, 1, 1, 1}));
}

TEST_F(Tflite, SparseStorageThatDoesNotFitIsRefused) {
  const auto changed = [](const std::function<void(tfl::SparsityParametersT&)>& change) {
    SparseModel model = blocks_of_a_matrix(false);
    change(*model.sparsity);
    return model.m.bytes();
  };
  using S = tfl::SparsityParametersT;
  const auto cases = std::to_array<std::pair<std::function<void(S&)>, const char*>>({
      {[](S& s) { s.traversal_order.pop_back(); }, "names 3 axes of sparse storage, where its shape and blocks have 4"},
      {[](S& s) {
         s.traversal_order = {0, 0, 2, 3};
       },
       "an axis of sparse storage that there is not, or twice"},
      {[](S& s) {
         s.traversal_order = {0, 1, 2, 7};
       },
       "an axis of sparse storage that there is not, or twice"},
      {[](S& s) { s.dim_metadata[2]->dense_size = 3; }, "blocks that do not divide its shape [4, 4]"},
      {[](S& s) {
         s.block_map = {0, 0};
         s.dim_metadata[2] = sparse_level({0, 1, 2, 3}, {1, 1, 1});
         s.dim_metadata[2]->dense_size = 1;
       },
       "blocks that do not divide its shape [4, 4]"},
      {[](S& s) {
         s.block_map = {0, 5};
       },
       "blocks that do not divide its shape [4, 4]"},
      {[](S& s) { s.dim_metadata[0]->dense_size = 4; }, "has 4 indices along an axis of sparse storage that has 2"},
      {[](S& s) {
         s.dim_metadata[1] = sparse_level({0, 2}, {0, 1, 1});
       },
       "segments of sparse storage that do not share out its indices"},
      {[](S& s) {
         s.dim_metadata[1] = sparse_level({0, 4, 3}, {0, 1, 1});
       },
       "segments of sparse storage that do not share out its indices"},
      {[](S& s) {
         s.dim_metadata[1] = sparse_level({0, 2, 3}, {0, 1, 2});
       },
       "an index of sparse storage outside of its axis"},
      {[](S& s) {
         s.dim_metadata[1] = sparse_level({0, 2, 3}, {1, 0, 1});
       },
       "indices of sparse storage that do not ascend"},
      {[](S& s) {
         s.dim_metadata[1] = sparse_level({0, 2, 2}, {0, 1});
       },
       "stores 12 elements sparsely, and names places of 8"},
  });
  for (const auto& [change, message] : cases) EXPECT_THAT(refusal(changed(change)), HasSubstr(message));
}

TEST_F(Tflite, DamagedSparseConstantsAreReadOrRefused) {
  Rng rng(5);
  const std::string good = blocks_of_a_matrix(true).m.bytes();
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = good;
    for (std::uint64_t k = 0; k <= rng.below(3); ++k)
      bytes[8 + rng.below(bytes.size() - 8)] = static_cast<char>(rng.below(2) == 0 ? rng.below(8) : rng.below(256));
    auto graph = import(bytes, {}, "dir/m.tflite");
    read += graph ? 1 : 0;
    if (graph) continue;
    for (const auto& d : graph.failure().diagnostics()) ASSERT_NE(d.fault, Fault::bug) << d.message;
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace buda::test
