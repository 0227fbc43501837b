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
void sparse_models(Candidates& candidates) {
  const OpSpec& spec = candidates.spec();
  auto steps = candidates.inner_steps(spec.inner);
  // Grids of different columns divide the rows alike.
  std::map<std::array<std::int32_t, 6>, std::variant<SparseUse, std::string>> known;
  auto use_of = [&](const SparseBlocking& b) -> const std::variant<SparseUse, std::string>& {
    auto [found, is_new] = known.try_emplace({b.parts, b.grid_rows, b.mblock_m, b.ublock_rt, b.u_kt, b.bands});
    if (is_new) found->second = sparse_use(*spec.selection, b);
    return found->second;
  };
  const auto offer = [&](OpModel model) {
    std::vector<OpModel> by_passes;
    for (std::int64_t step : steps) {
      model.u_kt = static_cast<std::int32_t>(step);
      model.m_k = static_cast<std::int32_t>(spec.inner / step);
      if (!candidates.could_fit(model)) continue;
      model.sparse.passes = sparse_passes(*spec.selection, sparse_blocking(model));
      by_passes.push_back(model);
    }
    std::stable_sort(by_passes.begin(), by_passes.end(),
                     [](const OpModel& a, const OpModel& b) { return a.sparse.passes < b.sparse.passes; });
    // To encode one takes much longer than to count its passes.
    for (OpModel& m : by_passes) {
      const auto& use = use_of(sparse_blocking(m));
      if (const auto* found = std::get_if<SparseUse>(&use)) {
        m.sparse = *found;
        if (candidates.offer(m)) return true;
      } else {
        candidates.reject();
      }
    }
    return false;
  };
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
