// SPDX-License-Identifier: Apache-2.0
// One part of an override after the other is left away.
#include <buda/balance/legalize/nearest_legal.hpp>

#include <buda/balance/legalize/shape_overrides.hpp>
#include <buda/base/text.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace buda::balance {
namespace {

using BufferedInputs = std::vector<std::pair<std::size_t, std::int32_t>>;

std::int64_t distance(const OpModel& model, const OpOverride& overrides) {
  std::int64_t out = 0;
  if (overrides.grid) out += std::abs(model.grid.rows - overrides.grid->rows) + std::abs(model.grid.cols - overrides.grid->cols);
  if (overrides.ublock)
    out += std::abs(model.block.ublock_rt - (*overrides.ublock)[0]) + std::abs(model.block.ublock_ct - (*overrides.ublock)[1]);
  if (overrides.mblock)
    out += std::abs(model.block.mblock_m - (*overrides.mblock)[0]) + std::abs(model.block.mblock_n - (*overrides.mblock)[1]);
  if (overrides.u_kt) out += std::abs(model.u_kt - *overrides.u_kt);
  if (overrides.buf_size_mb) out += std::abs(model.buf_size_mb - *overrides.buf_size_mb);
  if (overrides.bands) out += std::abs(model.bands - *overrides.bands);
  if (overrides.stream)
    out += std::abs(model.stream.parts - overrides.stream->parts) +
           (cuts_rows(model.stream.direction) == cuts_rows(overrides.stream->direction) ? 0 : 1);
  return out;
}

// `op`: its name as the user gave it, of the model or of the netlist.
std::string options_text(const std::string& op, const OverrideTexts& texts) {
  std::vector<std::string> words;
  for (const auto& [key, value] : texts) {
    words.push_back("--set");
    words.push_back(cat("op.", op, '.', key, '=', value));
  }
  return io::shell_line(words);
}

// Its shape, and what the user asked for beside that.
std::string options_text(const OpModel& model, const OpOverride& overrides) {
  OverrideTexts texts = shape_overrides(model);
  if (model.stream.parts == 1 && !overrides.stream) texts.erase("t-stream");
  if (overrides.buf_size_mb) texts["buf_size_mb"] = cat(model.buf_size_mb);
  if (overrides.bands || model.bands > 1) texts["bands"] = cat(model.bands);
  return options_text(overrides.asked_as, texts);
}

std::string options_text(const std::string& op, const BufferedInputs& inputs) {
  std::vector<std::string> out;
  for (const auto& [operand, count] : inputs) out.push_back(cat(operand, ':', count));
  return options_text(op, {{"input-buffer-multiplier", join(out, ",")}});
}

std::vector<NearChoice> nearest_models(const std::vector<OpModel>& models, const OpOverride& overrides) {
  std::vector<const OpModel*> near;
  for (const OpModel& m : models) near.push_back(&m);
  std::stable_sort(near.begin(), near.end(),
                   [&](const OpModel* a, const OpModel* b) { return distance(*a, overrides) < distance(*b, overrides); });
  std::vector<NearChoice> out;
  std::map<std::string, std::size_t> known;
  for (const OpModel* m : near) {
    std::string text = options_text(*m, overrides);
    const auto [at, is_new] = known.emplace(text, out.size());
    if (is_new) {
      OpOverride kept;
      kept.place = overrides.place;
      kept.transposed = overrides.transposed;
      kept.epoch_break = overrides.epoch_break;
      kept.given = overrides.given;
      kept.asked_as = overrides.asked_as;
      out.push_back({std::move(text), std::move(kept), {}});
    }
    out[at->second].models.push_back(*m);
  }
  return out;
}

// Places at which some of the models have room, each with those models.
std::vector<NearChoice> nearest_places(const std::vector<OpModel>& models, const OpOverride& overrides, GridShape chip) {
  const GridCoord wanted = *overrides.place;
  std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> places;  // distance, row, column
  for (const OpModel& m : models)
    for (const bool turned : {false, true}) {
      const GridShape shape = turned ? GridShape{m.grid.cols, m.grid.rows} : m.grid;
      const GridCoord at{std::min(wanted.row, chip.rows - shape.rows), std::min(wanted.col, chip.cols - shape.cols)};
      if (at.row >= 0 && at.col >= 0) places.emplace(wanted.row - at.row + wanted.col - at.col, at.row, at.col);
    }
  std::vector<NearChoice> out;
  for (const auto& [far, row, col] : places) {
    NearChoice choice{options_text(overrides.asked_as, {{"place", pair_override(row, col)}}), overrides, {}};
    choice.overrides.place = GridCoord{row, col};
    const PlaceRule rule = choice.overrides.place_rule(false);
    std::copy_if(models.begin(), models.end(), std::back_inserter(choice.models),
                 [&](const OpModel& m) { return rule.fits(m.grid, chip); });
    if (!choice.models.empty()) out.push_back(std::move(choice));
  }
  return out;
}

BufferedInputs at_most(BufferedInputs inputs, std::int32_t most) {
  for (auto& [operand, count] : inputs) count = std::min(count, most);
  return inputs;
}

// The largest number below `most` with which there are models, and smaller ones. `with`: the choice with a number.
template <class With>
std::vector<NearChoice> smaller_numbers(std::int32_t most, With&& with) {
  std::int32_t fits = 0, too_large = most;
  while (too_large - fits > 1) {
    const std::int32_t middle = fits + (too_large - fits) / 2;
    (with(middle).models.empty() ? too_large : fits) = middle;
  }
  std::vector<NearChoice> out;
  for (; fits > 0; fits /= 2)
    if (NearChoice choice = with(fits); !choice.models.empty()) out.push_back(std::move(choice));
  return out;
}

std::vector<NearChoice> smaller_inputs(const OpSpec& spec, const OpOverride& overrides, const device::DeviceDescriptor& device,
                                       const ModelOptions& options) {
  std::int32_t largest = 1;
  for (const auto& [operand, count] : overrides.buffered_inputs) largest = std::max(largest, count);
  return smaller_numbers(largest, [&](std::int32_t most) {
    NearChoice out{"", overrides, {}};
    out.overrides.buffered_inputs = at_most(overrides.buffered_inputs, most);
    out.text = options_text(overrides.asked_as, out.overrides.buffered_inputs);
    out.models = legal_models(with_buffered_inputs(spec, out.overrides.buffered_inputs), device, options, &overrides).models;
    return out;
  });
}

std::vector<NearChoice> smaller_output(const OpSpec& spec, const OpOverride& overrides, const device::DeviceDescriptor& device,
                                       const ModelOptions& options) {
  const auto with = [&](std::int32_t size) {
    NearChoice out{options_text(overrides.asked_as, {{"buf_size_mb", cat(size)}}), overrides, {}};
    out.overrides.buf_size_mb = size;
    out.models = legal_models(spec, device, options, &out.overrides).models;
    return out;
  };
  // In halves, and then as one.
  std::vector<NearChoice> out = smaller_numbers((*overrides.buf_size_mb + 1) / 2, [&](std::int32_t half) { return with(2 * half); });
  if (NearChoice single = with(1); !single.models.empty()) out.push_back(std::move(single));
  return out;
}

}  // namespace

OpSpec with_buffered_inputs(OpSpec spec, const BufferedInputs& inputs) {
  for (Operand& operand : spec.operands) operand.buffered_inputs = 0;
  for (const auto& [operand, count] : inputs) spec.operands[operand].buffered_inputs = count;
  return spec;
}

std::vector<NearChoice> nearest_choices(const OpSpec& spec, const OpOverride& overrides, const device::DeviceDescriptor& device,
                                        const ModelOptions& options) {
  if (overrides.place) {
    OpOverride anywhere = overrides;
    anywhere.place.reset();
    if (const LegalModels legal = legal_models(spec, device, options, &anywhere); !legal.models.empty())
      return nearest_places(legal.models, overrides, device.grid());
  }
  if (!overrides.buffered_inputs.empty())
    if (auto smaller = smaller_inputs(spec, overrides, device, options); !smaller.empty()) return smaller;
  if (overrides.buf_size_mb)
    if (auto smaller = smaller_output(spec, overrides, device, options); !smaller.empty()) return smaller;
  return nearest_models(legal_models(with_buffered_inputs(spec, {}), device, options, nullptr).models, overrides);
}

}  // namespace buda::balance
