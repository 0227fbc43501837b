// SPDX-License-Identifier: Apache-2.0
// Rules for ops that move integers: those that are too large for a product with a selection matrix are moved digit by digit.
#include <buda/passes/integers/room.hpp>
#include <buda/passes/integers/step.hpp>

#include <cmath>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::ValueRef;

// The op on one digit of each of its operands.
ValueRef moved(ops::Builder& b, const IntegerStep& s, const std::vector<Edge>& digits, graph::AttrMap attrs) {
  return b.op(s.node().op(), digits, std::move(attrs));
}

// `pads`: a border of one number (attribute value), whose digits the borders of the digits are.
Exactness movement(IntegerStep& s, std::size_t first, std::size_t count, const IntegerRange& range, bool pads) {
  bool small = true, split = true;
  for (std::size_t i = first; i < first + count; ++i) {
    small = small && s.is_moved(i);
    split = split && s.can_split(i);
  }
  const bool fits = !pads || range.within(s.limits().moved());
  if (small && fits) return s.stays(range);
  if (!split || !range.within(s.limits().whole())) return s.host(range);
  const graph::AttrMap attrs = s.node().attrs;
  const std::vector<Edge> inputs = s.node().inputs();
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder&) {
    std::vector<Edge> high = inputs, low = inputs;
    for (std::size_t i = first; i < first + count; ++i) {
      const Digits d = s.split(i, b);
      high[i] = d.high;
      low[i] = d.low;
    }
    graph::AttrMap of_high = attrs, of_low = attrs;
    if (pads) {
      const auto border = static_cast<std::int64_t>(s.attrs().real("value"));
      const std::int64_t rest = border & (s.limits().base - 1);
      of_low["value"] = static_cast<double>(rest);
      of_high["value"] = static_cast<double>((border - rest) / s.limits().base);
    }
    const ValueRef top = moved(b, s, high, std::move(of_high));
    return Digits{top, moved(b, s, low, std::move(of_low))};
  });
}

IntegerRange range_of_all(const IntegerStep& s) {
  IntegerRange range = s.range(0);
  for (std::size_t i = 1; i < s.count(); ++i) range = hull(range, s.range(i));
  return range;
}

Exactness all_operands(IntegerStep& s) { return s.is_whole(0) ? movement(s, 0, s.count(), range_of_all(s), false) : Exactness::stays; }

Exactness with_zeros(IntegerStep& s) {
  return s.is_whole(0) ? movement(s, 0, s.count(), hull(s.range(0), {0, 0}), false) : Exactness::stays;
}

// A row that is repeated does not begin where a tile does.
Exactness repeated(IntegerStep& s) {
  const Shape& shape = s.result().shape;
  if (s.is_whole(0) && shape.rank() > 0 && shape[shape.rank() - 1] != s.type(0).shape[s.type(0).shape.rank() - 1] &&
      !has_room_for_row(shape[shape.rank() - 1]))
    return s.host(s.range(0), kNoRoomForRow);
  return all_operands(s);
}

Exactness padded(IntegerStep& s) {
  if (!s.is_whole(0)) return Exactness::stays;
  const auto border = static_cast<std::int64_t>(s.attrs().real("value"));
  return movement(s, 0, 1, hull(s.range(0), {border, border}), true);
}

// Nothing moves, so that no product drops a bit; but what reads the copy sees a value of the device.
Exactness copied(IntegerStep& s) {
  if (!s.is_whole(0)) return Exactness::stays;
  if (s.is_held(0)) return s.stays(s.range(0));
  return movement(s, 0, 1, s.range(0), false);
}

}  // namespace

const std::vector<NamedIntegerRule>& movement_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"reshape", all_operands},
      {"squeeze", all_operands},
      {"unsqueeze", all_operands},
      {"transpose", all_operands},
      {"broadcast", all_operands},
      {"slice", all_operands},
      {"tile", repeated},
      {"concatenate", all_operands},
      {"index", all_operands},
      {"select", all_operands},
      {"pad_continued", all_operands},
      {"hslice", all_operands},
      {"hstack", all_operands},
      {"vslice", all_operands},
      {"vstack", all_operands},
      {"binary_stack", all_operands},
      {"pad", padded},
      {"triangle", with_zeros},
      {"nop", copied},
      {"buffer", copied},
  };
  return rules;
}

}  // namespace buda::passes
