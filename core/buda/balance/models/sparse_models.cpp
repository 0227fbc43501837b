// Models of sparse matmuls.
#include <buda/balance/models/candidates.hpp>

#include <algorithm>
#include <array>
#include <buda/balance/models/sparse.hpp>
#include <map>
#include <variant>
#include <vector>

namespace buda::balance {

// A larger u_kt means fewer strips and a larger buffer of activations, and leaves fewer bits of an index for the number of a sparse tile.
// Where the activations are sent several times for one u_kt and once for another, the latter is worth a smaller step: only models of the
// fewest passes of a blocking are kept.
void sparse_models(Candidates& candidates) {
  const OpSpec& spec = candidates.spec();
  auto steps = candidates.inner_steps(spec.inner);
  // Grids of different columns divide the rows alike.
  std::map<std::array<std::int32_t, 5>, std::variant<SparseUse, std::string>> known;
  auto use_of = [&](const SparseBlocking& b) -> const std::variant<SparseUse, std::string>& {
    auto [found, is_new] = known.try_emplace({b.parts, b.grid_rows, b.mblock_m, b.ublock_rt, b.u_kt});
    if (is_new) found->second = sparse_use(*spec.selection, b);
    return found->second;
  };
  candidates.for_each_grid([&](OpModel model) {
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
  });
}

}  // namespace buda::balance
