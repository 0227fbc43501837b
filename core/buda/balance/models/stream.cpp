// Stacks of a producer's parts, slices into a consumer's, and what remains of both.
#include <buda/balance/models/stream.hpp>

#include <algorithm>
#include <vector>

namespace buda::balance {
namespace {

using netlist::Tm;
using netlist::TmKind;

// What a stack of `a` and a slice of `b` right after it do together; empty when they have to remain both.
std::vector<Tm> joined(const Tm& stack, const Tm& slice) {
  const bool rows = stack.kind == TmKind::vstack;
  const std::int32_t a = stack.factor, b = slice.factor;
  if (a == b) return {};
  if (a % b == 0) return {rows ? Tm::vstack(a / b) : Tm::hstack(a / b)};
  if (b % a == 0) return {rows ? Tm::vslice(b / a) : Tm::hslice(b / a)};
  return {stack, slice};
}

bool undoes(const Tm& stack, const Tm& slice) {
  return (stack.kind == TmKind::vstack && slice.kind == TmKind::vslice) || (stack.kind == TmKind::hstack && slice.kind == TmKind::hslice);
}

void append(std::vector<Tm>& tms, const Tm& tm) {
  if (!tms.empty() && undoes(tms.back(), tm)) {
    const Tm last = tms.back();
    tms.pop_back();
    for (const Tm& left : joined(last, tm)) tms.push_back(left);
  } else {
    tms.push_back(tm);
  }
}

Tm stack(const Stream& s) { return s.direction == StreamDirection::c ? Tm::hstack(s.parts) : Tm::vstack(s.parts); }

std::vector<Tm> slices_for(const Stream& s, StreamedOperand operand) {
  if (s.parts == 1) return {};
  const bool by_rows = s.direction == StreamDirection::r;
  // An operand that each part needs as a whole is repeated side by side and cut again, which gives every matrix of it `parts` times in
  // sequence; a broadcast along z would repeat all matrices in sequence.
  switch (operand) {
    case StreamedOperand::rows:
      if (!by_rows) return {Tm::broadcast(netlist::Dim::r, s.parts), Tm::vslice(s.parts)};
      return {Tm::vslice(s.parts)};
    case StreamedOperand::columns:
      if (by_rows) return {Tm::broadcast(netlist::Dim::c, s.parts), Tm::hslice(s.parts)};
      return {Tm::hslice(s.parts)};
    case StreamedOperand::whole:
      return {};
    case StreamedOperand::rows_and_columns:
    case StreamedOperand::slices:
      break;
  }
  return {by_rows ? Tm::vslice(s.parts) : Tm::hslice(s.parts)};
}

}  // namespace

netlist::TileShape held_shape(const netlist::TileShape& logical, const HeldResult& held) {
  netlist::TileShape out = logical;
  const Stream& s = held.stream;
  if (held.slices > 1) return {s.parts, logical.t * logical.rt / s.parts, logical.ct};
  out.t *= s.parts;
  (s.direction == StreamDirection::c ? out.ct : out.rt) /= s.parts;
  return out;
}

std::variant<netlist::EdgeMaps, std::string> streamed_maps(const HeldResult& producer, const netlist::EdgeMaps& logical,
                                                           const Stream& consumer, StreamedOperand operand) {
  const Stream& held = producer.stream;
  netlist::EdgeMaps out;
  out.unpad = logical.unpad;
  out.pad = logical.pad;
  if (logical.unpad && (held.parts > 1 || producer.slices > 1)) return std::string("its producer streams a result that is cut off here");
  if (logical.pad && consumer.parts > 1) return std::string("it is padded here, and cannot be cut into parts");
  std::vector<Tm>& tms = out.tms;
  auto next = logical.tms.begin();
  if (producer.slices > 1) {
    tms.push_back(Tm::vslice(producer.slices));
    const bool stacked = next != logical.tms.end() && next->kind == TmKind::hstack && next->factor == producer.slices;
    if (operand == StreamedOperand::slices && logical.tms.empty() && held == consumer) return out;
    if (held.parts > 1) {
      if (!stacked) return std::string("its producer streams parts that hold all slices, which are taken slice by slice here");
      tms.push_back(*next++);
      tms.push_back(stack(held));
    }
  } else if (held.parts > 1) {
    tms.push_back(stack(held));
  }
  for (; next != logical.tms.end(); ++next) append(tms, *next);
  if (operand == StreamedOperand::slices && consumer.parts > 1)
    return std::string("what is reduced along z streams only where its producer is a sparse matmul that streams alike");
  for (const Tm& tm : slices_for(consumer, operand)) append(tms, tm);
  return out;
}

}  // namespace buda::balance
