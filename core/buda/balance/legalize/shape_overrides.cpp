// SPDX-License-Identifier: Apache-2.0
// The texts of single keys.
#include <buda/balance/legalize/shape_overrides.hpp>

#include <buda/base/text.hpp>

namespace buda::balance {

std::string pair_override(std::int64_t first, std::int64_t second) { return cat('[', first, ',', second, ']'); }

OverrideTexts shape_overrides(const OpModel& model) {
  const Stream& stream = model.stream;
  OverrideTexts out = {
      {"grid", pair_override(model.grid.rows, model.grid.cols)},
      {"mblock", pair_override(model.block.mblock_m, model.block.mblock_n)},
      {"ublock", pair_override(model.block.ublock_rt, model.block.ublock_ct)},
      {"t-stream", cuts_rows(stream.direction) ? pair_override(stream.parts, 1) : pair_override(1, stream.parts)},
  };
  if (model.u_kt > 0) out["u_kt"] = cat(model.u_kt);
  if (stream.parts > 1) out["t-stream-dir"] = direction_name(stream.direction);
  return out;
}

}  // namespace buda::balance
