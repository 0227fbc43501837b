// SPDX-License-Identifier: Apache-2.0
// Models of sparse matmuls.
#include <buda/balance/models/candidates.hpp>

#include <algorithm>
#include <array>
#include <buda/balance/models/sparse.hpp>
#include <map>
#include <variant>
#include <vector>

namespace buda::balance {

// In bands of rows, a core has all slices of its rows, and readers that put them side by side take each row from one core instead of all of
// them by turns. Cores then need different strips at a time, so that their buffers must hold all of these; where L1 has no room for that,
// rows are divided slice by slice, and every core needs strips from top to bottom.
//
// A larger u_kt means fewer strips and a larger buffer of activations, and leaves fewer bits of an index for the number of a sparse tile.
// Where the activations are sent several times for one u_kt and once for another, the latter is worth a smaller step: only models of the
// fewest passes of a blocking are kept.
//
// To encode a blocking takes much longer than to find its passes and strips, and most blockings of a large result do not fit: what L1
// cannot hold whatever the encoding takes is not encoded.
namespace {

class SparseModels {
 public:
  explicit SparseModels(Candidates& candidates)
      : candidates_(candidates), matrix_(*candidates.spec().selection), steps_(candidates.inner_steps(candidates.spec().inner)) {}

  // Whether a model of this grid, stream and ublock fits, with the best step.
  bool offer(OpModel model) {
    std::vector<OpModel> by_passes;
    const ActRanges& acts = acts_of(sparse_blocking(model));
    for (std::int64_t step : steps_) {
      model.u_kt = static_cast<std::int32_t>(step);
      model.m_k = static_cast<std::int32_t>(candidates_.spec().inner / step);
      const SparsePasses passes = sparse_passes(acts, model.u_kt, matrix_.act_matrices * matrix_.act_rows);
      model.sparse = {.passes = passes.passes, .tiles = 1, .index_tiles = 1, .reach = passes.reach};
      if (candidates_.could_fit(model)) by_passes.push_back(model);
    }
    std::stable_sort(by_passes.begin(), by_passes.end(),
                     [](const OpModel& a, const OpModel& b) { return a.sparse.passes < b.sparse.passes; });
    return std::any_of(by_passes.begin(), by_passes.end(), [this](OpModel& m) { return offer_encoded(m); });
  }

 private:
  bool offer_encoded(OpModel& model) {
    // The distinct tiles of a core are the same for all steps, and so are its products, each of which is a word of an index tile at least.
    const SparseBlocking b = sparse_blocking(model);
    SparseUse& least = least_[divided(b)];
    if (least.tiles > 0) {
      model.sparse.tiles = least.tiles;
      model.sparse.index_tiles = least.index_tiles;
      if (!candidates_.could_fit(model)) return false;
    }
    const auto& use = use_of(b);
    if (const auto* found = std::get_if<SparseUse>(&use)) {
      model.sparse = *found;
      least.tiles = found->tiles;
      least.index_tiles = min_index_tiles(*found);
      return candidates_.offer(model);
    }
    candidates_.reject();
    return false;
  }

  using Divided = std::array<std::int32_t, 3>;
  static Divided divided(const SparseBlocking& b) { return {b.parts, b.grid_rows, b.bands}; }

  const ActRanges& acts_of(const SparseBlocking& b) {
    auto [found, is_new] = acts_.try_emplace(divided(b));
    if (is_new) found->second = act_ranges(matrix_, b);
    return found->second;
  }

  // Grids of different columns divide the rows alike.
  const std::variant<SparseUse, std::string>& use_of(const SparseBlocking& b) {
    auto [found, is_new] = known_.try_emplace({b.parts, b.grid_rows, b.mblock_m, b.ublock_rt, b.u_kt, b.bands});
    if (is_new) found->second = sparse_use(matrix_, b);
    return found->second;
  }

  Candidates& candidates_;
  const SelectionMatrix& matrix_;
  std::vector<std::int64_t> steps_;
  std::map<std::array<std::int32_t, 6>, std::variant<SparseUse, std::string>> known_;
  std::map<Divided, ActRanges> acts_;
  std::map<Divided, SparseUse> least_;
};

}  // namespace

void sparse_models(Candidates& candidates) {
  const OpSpec& spec = candidates.spec();
  SparseModels models(candidates);
  const auto offer = [&](const OpModel& model) { return models.offer(model); };
  candidates.for_each_grid([&](OpModel model) {
    OpModel banded = model;
    banded.bands = model.grid.rows;
    const bool are_bands = spec.selection->rows / model.stream.parts % banded.bands == 0;
    // The host puts the slices of an output together as they lie without bands.
    const bool may_be = banded.bands > 1 && are_bands && spec.selection->slices > 1 && spec.outputs == 0;
    const bool is_banded = may_be && candidates.may_have_bands(banded.bands) && offer(banded);
    // A core that reads all of it from a queue reads a piece of each slice of each band.
    const std::int64_t pieces = std::int64_t{spec.selection->slices} * banded.bands * model.stream.parts;
    const std::int32_t most = candidates.device().streams.max_dram_reads_per_input;
    if (is_banded && (most <= 0 || pieces <= most)) return true;
    return (candidates.may_have_bands(1) && offer(model)) || is_banded;
  });
}

}  // namespace buda::balance
