// SPDX-License-Identifier: Apache-2.0
// The passes of this toolchain, each in the file that its name says.
#pragma once

#include <buda/passes/pipeline/pass.hpp>

namespace buda::passes {

extern const Pass kAlgebraicSimplification;
extern const Pass kAssignFormats;
extern const Pass kChooseSaved;
extern const Pass kCommonSubexpressionElimination;
extern const Pass kConstantFolding;
extern const Pass kCpuFallback;
extern const Pass kDeadCodeElimination;
extern const Pass kDecompose;
extern const Pass kExactIntegers;
extern const Pass kFoldBatchnorm;
extern const Pass kFoldConcatenation;
extern const Pass kFoldExactScale;
extern const Pass kFoldScale;
extern const Pass kFracture;
extern const Pass kFuseBias;
extern const Pass kFuseGelu;
extern const Pass kFusePad;
extern const Pass kFuseRelu;
extern const Pass kInferTypes;
extern const Pass kInsertBuffers;
extern const Pass kLayoutStates;
extern const Pass kLowerToDevice;
extern const Pass kNarrowMatmul;
extern const Pass kPlaceQueues;
extern const Pass kPrecisePositions;
extern const Pass kQuantizedModels;
extern const Pass kSinkMovement;
extern const Pass kSmallTiles;
extern const Pass kSpecialValues;
extern const Pass kSplitSums;
extern const Pass kTilizeOnDevice;

}  // namespace buda::passes
