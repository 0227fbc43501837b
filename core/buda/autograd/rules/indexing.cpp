// Gradients of selections by indices: each is added where its element came from.
#include <buda/autograd/rules/rules.hpp>

namespace buda::autograd {
namespace {

// With the axis in front it is a scatter of slices: x [size, others…], g [indices…, others…].
void gather(Backward& b) {
  const Shape x = b.in(0).shape();
  const std::int64_t axis = b.axis("dim");
  const auto added = static_cast<std::int64_t>(b.in(1).shape().rank()), rank = static_cast<std::int64_t>(x.rank());
  Dims to_front, moved{x[static_cast<std::size_t>(axis)]}, back;
  for (std::int64_t i = 0; i < added; ++i) to_front.push_back(axis + i);
  for (std::int64_t i = 0; i < rank; ++i) {
    if (i == axis) continue;
    to_front.push_back(i < axis ? i : i + added - 1);
    moved.push_back(x[static_cast<std::size_t>(i)]);
  }
  for (std::int64_t i = 0; i < rank; ++i) back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  const Term updates = axis == 0 ? b.g() : b.g().transpose(to_front);
  const Term indices = b.in(1).op("unsqueeze", {{"dims", Dims{added}}});
  const Term zeros = b.g().number(0).broadcast(Shape(moved));
  const Term sums(b.builder(), b.builder().op("scatter_nd", {zeros.value(), indices.value(), updates.value()}, {{"reduction", "add"}}));
  b.give(0, axis == 0 ? sums : sums.transpose(back));
}

constexpr GradientRule kIndexingRules[] = {{"gather", gather}};

}  // namespace

std::span<const GradientRule> indexing_rules() { return kIndexingRules; }

}  // namespace buda::autograd
