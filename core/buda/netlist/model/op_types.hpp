// SPDX-License-Identifier: Apache-2.0
// The vocabulary of netlists: op types, fidelities, orders, and their spelling.
#pragma once

#include <buda/ops/table/op_type.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

using ops::OpClass;
using ops::OpType;

// What readers and writers know of a type at sight.
struct OpTypeInfo {
  OpType type;
  std::string_view name;
  OpClass op_class;
  bool sub_op;  // legal in a fused op's schedule
};

// From the table of device ops (ops/table/device_op.hpp).
const OpTypeInfo& info(OpType type);
const std::vector<OpTypeInfo>& all_op_types();
using ops::op_class;
using ops::op_type_from_name;
using ops::op_type_name;

// Passes of the multiplier over high and low halves of the mantissas. HiFi2_A is another spelling of HiFi2.
enum class MathFidelity : std::uint8_t { lofi, hifi2, hifi2_b, hifi3, hifi4 };
std::string_view fidelity_name(MathFidelity fidelity);
std::optional<MathFidelity> fidelity_from_name(std::string_view name);
int fidelity_phases(MathFidelity fidelity);  // 1…4

// Scan order of the ublocks of an mblock: r row by row, c column by column.
enum class UblockOrder : std::uint8_t { r, c };

enum class QueueKind : std::uint8_t { queue, ram };
enum class QueueLocation : std::uint8_t { dram, host };
enum class QueueLayout : std::uint8_t { tilized, flat };
enum class ReluMode : std::uint8_t { none, min, max };
enum class VectorMode : std::uint8_t { rc, r, c };
enum class SfpuThread : std::uint8_t { math, pack };
enum class Dim : std::uint8_t { none, r, c, z };
enum class Granularity : std::uint8_t { ublock, t };
enum class TopkSort : std::uint8_t { max, argmax };
enum class StochasticRounding : std::uint8_t { none, fpu, pack, all };
enum class VarOp : std::uint8_t { set, add, mul, inc, incwrap };

// Spelling of each of these in netlists; from_name gives nothing for a word that is none of theirs.
template <class E>
struct Spelling {
  E value;
  std::string_view name;
};
const std::vector<Spelling<UblockOrder>>& spellings(const UblockOrder*);
const std::vector<Spelling<QueueKind>>& spellings(const QueueKind*);
const std::vector<Spelling<QueueLocation>>& spellings(const QueueLocation*);
const std::vector<Spelling<QueueLayout>>& spellings(const QueueLayout*);
const std::vector<Spelling<ReluMode>>& spellings(const ReluMode*);
const std::vector<Spelling<VectorMode>>& spellings(const VectorMode*);
const std::vector<Spelling<SfpuThread>>& spellings(const SfpuThread*);
const std::vector<Spelling<Dim>>& spellings(const Dim*);
const std::vector<Spelling<Granularity>>& spellings(const Granularity*);
const std::vector<Spelling<TopkSort>>& spellings(const TopkSort*);
const std::vector<Spelling<StochasticRounding>>& spellings(const StochasticRounding*);
const std::vector<Spelling<VarOp>>& spellings(const VarOp*);
const std::vector<Spelling<MathFidelity>>& spellings(const MathFidelity*);

template <class E>
std::string_view name_of(E value) {
  for (const auto& s : spellings(static_cast<const E*>(nullptr)))
    if (s.value == value) return s.name;
  return "";
}
template <class E>
std::optional<E> from_name(std::string_view name) {
  for (const auto& s : spellings(static_cast<const E*>(nullptr)))
    if (s.name == name) return s.value;
  return std::nullopt;
}
template <class E>
std::vector<std::string> names_of() {
  std::vector<std::string> out;
  for (const auto& s : spellings(static_cast<const E*>(nullptr))) out.emplace_back(s.name);
  return out;
}

}  // namespace buda::netlist

#pragma GCC visibility pop
