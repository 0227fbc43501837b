// SPDX-License-Identifier: Apache-2.0
// The list of passes, in the order in which a graph usually meets them.
#include <buda/passes/fuse/fuse_ops.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::passes {

const std::vector<const Pass*>& standard_passes() {
  static const std::vector<const Pass*> list = {
      &kInferTypes,
      &kFracture,
      &kInsertBuffers,
      &kQuantizedModels,
      &kFusePad,
      &kFoldBatchnorm,
      &kFuseGelu,
      &kPrecisePositions,
      &kSpecialValues,
      &kExactIntegers,
      &kDecompose,
      &kConstantFolding,
      &kAlgebraicSimplification,
      &kLayoutStates,
      &kSinkMovement,
      &kNarrowMatmul,
      &kFoldConcatenation,
      &kFoldExactScale,
      &kFoldScale,
      &kFuseBias,
      &kCommonSubexpressionElimination,
      &kDeadCodeElimination,
      &kChooseSaved,
      &kCpuFallback,
      &kLowerToDevice,
      &kTilizeOnDevice,
      &kFuseRelu,
      &kSmallTiles,
      &kFuseUpdates,
      &kFuseOps,
      &kFuseShifts,
      &kPlaceQueues,
      &kSplitSums,
      &kAssignFormats,
  };
  return list;
}

const Pass* find_pass(std::string_view name) {
  for (const Pass* pass : standard_passes())
    if (pass->name == name) return pass;
  return nullptr;
}

Result<const Pass*> require_pass(std::string_view name) {
  if (const Pass* pass = find_pass(name)) return pass;
  std::vector<std::string> known;
  for (const Pass* pass : standard_passes()) known.emplace_back(pass->name);
  Diagnostic d = input_error("PA001", {}, cat("no pass is called '", name, "'; known: ", join(known, ", ")));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

}  // namespace buda::passes
