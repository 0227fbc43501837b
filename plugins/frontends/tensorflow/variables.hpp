// SPDX-License-Identifier: Apache-2.0
// The values of a model's variables.
#pragma once

#include "checkpoint.hpp"
#include "model.hpp"

#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>

#include <map>
#include <optional>
#include <string>

namespace buda::tensorflow_frontend {

// Reads from the checkpoint beside a SavedModel what is asked for, once.
class Variables {
 public:
  Variables(const Model& model, Host& host);
  // The variable that the node of this name makes; errors are those of `reader`.
  Result<frontend::Operand> read(const frontend::OpImport& reader, const std::string& name);
  // Those of the checkpoint that were needed, by path.
  std::map<std::string, io::Bytes> files() const { return checkpoint_ ? checkpoint_->files() : std::map<std::string, io::Bytes>(); }

 private:
  const Model* model_;
  Host* host_;
  std::map<std::string, std::string> keys_;  // in the checkpoint, by variable
  std::optional<Checkpoint> checkpoint_;
  bool unreadable_ = false;  // the checkpoint, which was said
  std::map<std::string, frontend::Operand> known_;
};

}  // namespace buda::tensorflow_frontend
