// The passes around convolutions and data movement (docs/internals/data-movement.md), each in the file that its name says.
#pragma once

#include <buda/passes/pass.hpp>

namespace buda::passes {

extern const Pass kFoldBatchnorm;
extern const Pass kFoldConcatenation;
extern const Pass kFusePad;
extern const Pass kNarrowMatmul;
extern const Pass kSinkMovement;

}  // namespace buda::passes
