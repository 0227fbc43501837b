// SPDX-License-Identifier: Apache-2.0
// Diagnostics of pipes, buffers and cores.
#include <buda/overlay/violations.hpp>

#include <buda/base/text.hpp>

#include <utility>

namespace buda::overlay {
namespace {

using pipes::BufferType;

std::string operand_text(const pipes::Buffer& b) {
  if (b.type == BufferType::unpacker) return cat("input ", b.operand);
  if (b.type == BufferType::packer) return "output";
  if (b.type == BufferType::intermediate || b.type == BufferType::gradient_op) return cat("intermediate ", b.operand);
  return std::string(pipes::buffer_type_name(b.type));
}

}  // namespace

bool Violations::is_full() const {
  constexpr std::size_t kMax = 20;
  return failure_.diagnostics().size() >= kMax;
}

std::string Violations::core_text(const Core& c) const {
  const std::string core = c.ethernet ? cat("ethernet channel ", *c.ethernet) : cat("core [", c.core.row, ", ", c.core.col, ']');
  return cat(core, name_chips_ || c.ethernet ? cat(" of chip ", c.chip) : std::string());
}

void Violations::error(std::string code, const pipes::Pipe* pipe, const pipes::Buffer* buffer, std::string message, std::string hint) {
  if (is_full()) return;
  std::string where;
  if (buffer != nullptr) where = cat("op '", buffer->op, "', ", operand_text(*buffer), ": ");
  if (buffer != nullptr && buffer->is_queue()) where = cat("queue '", buffer->op, "': ");
  if (pipe != nullptr) where += cat("pipe_", pipe->id, ": ");
  Diagnostic d = input_error(std::move(code), {}, where + message);
  d.hint = std::move(hint);
  if (pipe != nullptr) d.data.emplace_back("pipe", cat(pipe->id));
  if (buffer != nullptr) {
    d.node = buffer->op;
    d.data.emplace_back("buffer", cat(buffer->id));
    d.data.emplace_back(buffer->is_queue() ? "queue" : "op", buffer->op);
    if (!buffer->is_queue()) {
      d.data.emplace_back("operand", operand_text(*buffer));
      d.data.emplace_back("core", cat('[', buffer->core.row, ", ", buffer->core.col, ']'));
    }
  }
  failure_.add(std::move(d));
}

void Violations::unsupported(const pipes::Pipe* pipe, const pipes::Buffer* buffer, const std::string& feature) {
  if (is_full()) return;
  error("OV001", pipe, buffer, cat(feature, " is not supported yet"));
  failure_.diagnostics().back().data.emplace_back("feature", feature);
}

void Violations::shortage(const Core& core, Shortage s) {
  if (is_full()) return;
  const bool bytes = s.resource.ends_with("bytes");
  auto amount = [bytes](std::uint64_t v) { return bytes ? cat(v, " (", bytes_text(v), ')') : cat(v); };
  std::string message = cat(core.op.empty() ? std::string() : cat("op '", core.op, "', "), core_text(core), " does not fit: ", s.resource,
                            ": ", amount(s.needed), " needed, ", amount(s.available), " available; ", s.what);
  Diagnostic d =
      does_not_fit(std::move(s.code), core.op, std::move(s.resource), s.needed, s.available, std::move(message), std::move(s.hint));
  d.data.emplace_back("core", cat('[', core.core.row, ", ", core.core.col, ']'));
  d.notes = std::move(s.notes);
  failure_.add(std::move(d));
}

}  // namespace buda::overlay
