// SPDX-License-Identifier: Apache-2.0
// Stacks of a producer's parts, slices into a consumer's, and what remains of both.
#include <buda/balance/models/stream.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace buda::balance {
namespace {

using netlist::Tm;
using netlist::TmKind;

constexpr std::array<std::string_view, 5> kDirections = {"n", "r", "c", "rz", "cz"};

bool is_stack(const Tm& tm) { return tm.kind == TmKind::vstack || tm.kind == TmKind::hstack; }
bool is_slice(const Tm& tm) { return tm.kind == TmKind::vslice || tm.kind == TmKind::hslice; }
bool of_rows(const Tm& tm) { return tm.kind == TmKind::vstack || tm.kind == TmKind::vslice; }

Tm slice(bool rows, std::int64_t n) {
  const auto factor = static_cast<std::int32_t>(n);
  return rows ? Tm::vslice(factor) : Tm::hslice(factor);
}
Tm stack(bool rows, std::int64_t n) {
  const auto factor = static_cast<std::int32_t>(n);
  return rows ? Tm::vstack(factor) : Tm::hstack(factor);
}

// What `first` and a stack or slice right after it do together: the greater of the two remains in part, or neither.
std::vector<Tm> joined(const Tm& first, const Tm& second) {
  const std::int32_t a = first.factor, b = second.factor;
  const bool rows = of_rows(first);
  auto same = [&](const Tm& tm, std::int32_t n) { return is_stack(tm) ? stack(rows, n) : slice(rows, n); };
  if (a == b) return {};
  if (a % b == 0) return {same(first, a / b)};
  if (b % a == 0) return {same(second, b / a)};
  return {first, second};
}

bool undoes(const Tm& first, const Tm& second) {
  const bool opposite = (is_stack(first) && is_slice(second)) || (is_slice(first) && is_stack(second));
  return opposite && of_rows(first) == of_rows(second);
}

void append(std::vector<Tm>& tms, const Tm& tm) {
  if ((is_stack(tm) || is_slice(tm)) && tm.factor == 1) return;
  if (!tms.empty() && undoes(tms.back(), tm)) {
    const auto left = joined(tms.back(), tm);
    if (left.size() == 2) {
      tms.push_back(tm);
    } else {
      tms.pop_back();
      for (const Tm& one : left) append(tms, one);
    }
  } else {
    tms.push_back(tm);
  }
}

// `steps` done to all matrices at once, side by side or below one another: across the direction that they cut.
std::vector<Tm> on_all(std::int64_t matrices, bool rows, std::vector<Tm> steps) {
  steps.insert(steps.begin(), stack(!rows, matrices));
  steps.push_back(slice(!rows, matrices));
  return steps;
}

// From a result as it is held to the result.
std::vector<Tm> to_whole(const HeldResult& held) {
  const Stream& s = held.stream;
  const std::int64_t parts = s.parts * held.bands;
  std::vector<Tm> out;
  if (held.below) out.push_back(slice(true, held.matrices * held.bands));
  if (parts == 1) return out;
  const bool rows = held.below || cuts_rows(s.direction);
  std::vector<Tm> steps = {stack(rows, parts)};
  if (!goes_by_matrix(s.direction)) steps = on_all(held.matrices, rows, std::move(steps));
  out.insert(out.end(), steps.begin(), steps.end());
  return out;
}

// From an operand of so many matrices to what each part of the result takes.
std::vector<Tm> to_parts(const Stream& s, StreamedOperand operand, std::int64_t matrices) {
  if (s.parts == 1 || operand == StreamedOperand::whole) return {};
  // An operand that each part needs as a whole is repeated side by side and cut again, which gives every matrix of it `parts` times in
  // sequence; a broadcast along z would repeat all matrices in sequence.
  const bool repeated = cuts_rows(s.direction) ? operand == StreamedOperand::columns : operand == StreamedOperand::rows;
  const bool rows = repeated ? operand == StreamedOperand::rows : cuts_rows(s.direction);
  std::vector<Tm> steps;
  if (repeated) steps.push_back(Tm::broadcast(rows ? netlist::Dim::r : netlist::Dim::c, s.parts));
  steps.push_back(slice(rows, s.parts));
  return goes_by_matrix(s.direction) ? steps : on_all(matrices, rows, std::move(steps));
}

// The t of a value after a manipulation of an edge.
std::int64_t matrices_after(std::int64_t matrices, const Tm& tm) {
  if (is_slice(tm)) return matrices * tm.factor;
  if (is_stack(tm)) return matrices / tm.factor;
  return tm.kind == TmKind::broadcast && tm.dim == netlist::Dim::z ? matrices * tm.factor : matrices;
}

}  // namespace

std::string_view direction_name(StreamDirection direction) { return kDirections[static_cast<std::size_t>(direction)]; }

std::optional<StreamDirection> direction_from_name(std::string_view name) {
  const auto found = std::find(kDirections.begin(), kDirections.end(), name);
  if (found == kDirections.end()) return std::nullopt;
  return static_cast<StreamDirection>(found - kDirections.begin());
}

bool cuts_rows(StreamDirection direction) { return direction == StreamDirection::r || direction == StreamDirection::rz; }
bool goes_by_matrix(StreamDirection direction) { return direction == StreamDirection::rz || direction == StreamDirection::cz; }

netlist::TileShape held_shape(const netlist::TileShape& logical, const HeldResult& held) {
  netlist::TileShape out = logical;
  const Stream& s = held.stream;
  if (held.below) return {s.parts, logical.t * logical.rt / s.parts, logical.ct};
  out.t *= s.parts;
  if (s.parts > 1) (cuts_rows(s.direction) ? out.rt : out.ct) /= s.parts;
  return out;
}

std::variant<netlist::EdgeMaps, std::string> streamed_maps(const HeldResult& producer, const netlist::EdgeMaps& logical,
                                                           const Stream& consumer, StreamedOperand operand) {
  netlist::EdgeMaps out;
  out.unpad = logical.unpad;
  out.pad = logical.pad;
  const bool is_cut = producer.stream.parts > 1 || producer.below, by_rows = producer.below || cuts_rows(producer.stream.direction);
  if (logical.unpad && is_cut && (by_rows ? logical.unpad->rt : logical.unpad->ct) > 0)
    return std::string("its producer streams a result that is cut off here");
  // Padding comes last: to each part, which is what it means where it lies across the cuts.
  const bool across = logical.pad && (cuts_rows(consumer.direction) ? logical.pad->rt : logical.pad->ct) == 0;
  if (logical.pad && consumer.parts > 1 && !(across && operand == StreamedOperand::rows_and_columns))
    return std::string("it is padded here, and cannot be cut into parts");
  if (operand == StreamedOperand::slices && consumer.parts > 1 && consumer.direction != StreamDirection::r)
    return std::string("what is reduced along z streams along r only");
  std::int64_t matrices = producer.matrices;
  for (const Tm& tm : to_whole(producer)) append(out.tms, tm);
  for (const Tm& tm : logical.tms) {
    append(out.tms, tm);
    matrices = matrices_after(matrices, tm);
  }
  for (const Tm& tm : to_parts(consumer, operand, matrices)) append(out.tms, tm);
  return out;
}

}  // namespace buda::balance
