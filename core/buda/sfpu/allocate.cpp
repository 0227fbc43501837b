// SPDX-License-Identifier: Apache-2.0
// Registers for values. There are no jumps, so a value lives from its first to its last operation; where it is changed in some lanes only,
// its register keeps it in the others.
#include <buda/sfpu/operations.hpp>

#include <buda/base/text.hpp>

#include <array>
#include <optional>

namespace buda::sfpu {
namespace {

using numerics::VectorInstruction;
using numerics::VectorOp;

constexpr std::size_t kWritable = 8;

class Allocation {
 public:
  explicit Allocation(const Operations& o) : operations_(o), last_(o.values, 0), register_(o.values) {
    for (std::size_t i = 0; i < o.list.size(); ++i)
      for (ValueId id : {o.list[i].d, o.list[i].c, o.list[i].b, o.list[i].a})
        if (is_value(id)) last_[id] = i;
    if (is_value(o.result)) last_[o.result] = o.list.size();
    for (std::size_t p = 0; p < o.parameters; ++p) take(kFirstValue + static_cast<ValueId>(p), p);
  }

  Result<Program> run() {
    Program program;
    for (std::size_t i = 0; i < operations_.list.size(); ++i) {
      const Operation& o = operations_.list[i];
      VectorInstruction out = o.instruction;
      if (is_removable_move(o, i)) {
        take(o.d, *register_[o.c]);
        continue;
      }
      out.c = number(o.c);
      out.b = number(o.b);
      out.a = number(o.a);
      for (ValueId id : {o.c, o.b, o.a}) release(id, i);
      if (is_value(o.d) && !register_[o.d]) {
        const auto free = free_register();
        if (!free)
          return input_error("SF003", {operations_.file, o.line},
                             "more than eight values are needed at the same time, and there are eight registers");
        take(o.d, *free);
      }
      out.d = number(o.d);
      release(o.d, i);
      program.instructions.push_back(out);
    }
    program.result = number(operations_.result);
    return program;
  }

 private:
  static bool is_value(ValueId id) { return id >= kFirstValue && id != kNoValue; }

  // A copy of a value that is not needed any more.
  bool is_removable_move(const Operation& o, std::size_t i) const {
    return o.instruction.op == VectorOp::move && o.instruction.mod == 0 && is_value(o.c) && !register_[o.d] && last_[o.c] == i;
  }
  std::uint8_t number(ValueId id) const {
    return static_cast<std::uint8_t>(id == kNoValue ? 0 : is_value(id) ? register_[id].value_or(0) : id);
  }
  void take(ValueId id, std::size_t reg) {
    register_[id] = reg;
    holder_[reg] = id;
  }
  void release(ValueId id, std::size_t i) {
    if (is_value(id) && register_[id] && last_[id] <= i && holder_[*register_[id]] == id) holder_[*register_[id]] = kNoValue;
  }
  std::optional<std::size_t> free_register() const {
    for (std::size_t r = 0; r < kWritable; ++r)
      if (holder_[r] == kNoValue) return r;
    return std::nullopt;
  }

  const Operations& operations_;
  std::vector<std::size_t> last_;
  std::vector<std::optional<std::size_t>> register_;
  std::array<ValueId, kWritable> holder_ = {kNoValue, kNoValue, kNoValue, kNoValue, kNoValue, kNoValue, kNoValue, kNoValue};
};

}  // namespace

Result<Program> allocate(const Operations& operations) { return Allocation(operations).run(); }

}  // namespace buda::sfpu
