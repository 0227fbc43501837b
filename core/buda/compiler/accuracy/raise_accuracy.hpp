// SPDX-License-Identifier: Apache-2.0
// The accuracy budget: the cheapest formats, fidelities and accumulations with which a model's outputs are as accurate as asked for.
//
// The model is compiled and run on the arithmetic of the device, on inputs of the user's. First Float16 is tried for everything, which
// costs little. Where that is not enough, what each op loses of the outputs is measured (op_losses.hpp); the ops that lose most for what
// their raise costs are raised first (raise_order.hpp), trials of the whole model tell how many of them it takes, and raises
// that are not needed are taken back (give_back.hpp). Docs: docs/tools/optimizer.md, "Accuracy".
#pragma once

#include <buda/compiler/accuracy/trial.hpp>
#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

namespace buda::compiler {

// OZ020: options that need each other.
Result<bool> asks_for_accuracy(const OptimizerOptions& options);

// The optimizer's options of the setting with rules of mixed precision in place of `accuracy`, `calibrate` and `expect`: compiling with
// them is all that is left to do. Written to `accuracy_rules`, where that is given. Says what it raised, and what that costs.
// OZ021: names of tensors; OZ022: the floor cannot be reached.
Result<OptimizerOptions> raise_accuracy(const TrialSetting& setting, Host& host);

}  // namespace buda::compiler
