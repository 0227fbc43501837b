// SPDX-License-Identifier: Apache-2.0
// Einsum, as products of matrices.
//
// Each operand first loses axes that repeat (diagonals) and those that nobody else names (sums). Then operands are joined from the left,
// two at a time. Labels of a pair are of four kinds: of both and still needed (batch), of both and not needed any more (summed), and of one
// alone. With a summed label the pair is a product of matrices whose rows are the left ones' and whose columns the right ones' labels;
// without one it is an elementwise product. At the end axes are brought into the order of the result.
#include <buda/frontend/einsum.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace buda::frontend {
namespace {

using Dims = std::vector<std::int64_t>;
using Ref = graph::ValueRef;

// Letters are labels by their code; the axes of an ellipsis get numbers from kEllipsis on, the last one kEllipsis.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 1000;

struct Term {
  Ref value;
  Labels labels;
  Dims sizes;

  std::optional<std::size_t> find(Label label) const {
    auto it = std::find(labels.begin(), labels.end(), label);
    return it == labels.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - labels.begin()));
  }
  std::int64_t size(Label label) const {
    auto i = find(label);
    return i ? sizes[*i] : 1;
  }
  void erase(std::size_t axis) {
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(axis));
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  }
};

Dims without(const Dims& dims, std::initializer_list<std::size_t> axes) {
  Dims out;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(static_cast<std::int64_t>(i));
  return out;
}

std::int64_t product(const Dims& sizes) {
  std::int64_t out = 1;
  for (auto s : sizes) out *= s;
  return out;
}

class Einsum {
 public:
  Einsum(OpImport& op, std::string_view equation, const std::vector<EinsumOperand>& operands) : op_(op), operands_(operands) {
    for (char c : equation)
      if (c != ' ') equation_ += c;
  }

  Result<Ref> nodes() {
    BUDA_TRY(read_equation());
    for (Term& term : terms_) BUDA_TRY(take_diagonals(term));
    for (std::size_t i = 0; i < terms_.size(); ++i) sum_out(terms_[i], i);
    Term result = terms_[0];
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      BUDA_ASSIGN(result, joined(result, terms_[i], i));
    }
    return finished(result);
  }

 private:
  // ---- the equation

  Result<void> read_equation() {
    auto arrow = equation_.find("->");
    std::string left = equation_.substr(0, arrow);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (begin > left.size()) return wrong(cat("names fewer operands than the ", operands_.size(), " there are"));
      std::size_t end = std::min(left.find(',', begin), left.size());
      BUDA_TRY(add_term(left.substr(begin, end - begin), i));
      begin = end + 1;
    }
    if (begin <= left.size()) return wrong(cat("names more operands than the ", operands_.size(), " there are"));
    if (arrow == std::string::npos) return implicit_result();
    BUDA_ASSIGN(result_, labels(equation_.substr(arrow + 2), ellipsis_axes_));
    std::set<Label> seen;
    for (Label label : result_)
      if (!seen.insert(label).second ||
          std::none_of(terms_.begin(), terms_.end(), [label](const Term& t) { return t.find(label).has_value(); }))
        return wrong("has a label in its result that is there twice, or in no operand");
    return success();
  }

  Diagnostic wrong(std::string_view what) const { return op_.refuse(cat("its equation '", equation_, "' ", what)); }

  // `open` axes are those of the ellipsis.
  Result<Labels> labels(std::string_view text, std::size_t open) const {
    Labels out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (text.substr(i, 3) == "...") {
        for (std::size_t k = open; k-- > 0;) out.push_back(kEllipsis + static_cast<Label>(k));
        i += 2;
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        out.push_back(c);
      } else {
        return wrong(cat("has '", text.substr(i, 1), "', which is no label"));
      }
    }
    return out;
  }

  Result<void> add_term(std::string_view text, std::size_t i) {
    const Shape& shape = operands_[i].shape;
    bool has_ellipsis = text.find("...") != std::string_view::npos;
    std::size_t letters = text.size() - (has_ellipsis ? 3 : 0), rank = shape.rank();
    if (letters > rank || (!has_ellipsis && letters != rank))
      return wrong(cat("names ", letters, " axes of operand ", i, ", which is ", shape.text()));
    BUDA_ASSIGN(Labels axes, labels(text, rank - letters));
    if (axes.size() != rank) return wrong("has two ellipses in one operand");
    if (has_ellipsis) ellipsis_axes_ = std::max(ellipsis_axes_, rank - letters);
    terms_.push_back({operands_[i].value, std::move(axes), shape.dims()});
    return success();
  }

  // Without an arrow: the ellipsis, then the labels that are there just once, in the order of the alphabet.
  Result<void> implicit_result() {
    std::map<Label, int> count;
    for (const Term& term : terms_)
      for (Label label : term.labels) ++count[label];
    for (std::size_t k = ellipsis_axes_; k-- > 0;) result_.push_back(kEllipsis + static_cast<Label>(k));
    for (const auto& [label, times] : count)
      if (times == 1 && label < kEllipsis) result_.push_back(label);
    return success();
  }

  // ---- one operand

  // Two axes of the same label and size n: brought to the end and seen as one of n * n, they are every (n + 1)-th element of it.
  Result<void> take_diagonals(Term& term) {
    for (std::size_t j = 0; j < term.labels.size(); ++j) {
      std::size_t i = *term.find(term.labels[j]);
      if (i == j) continue;
      std::int64_t size = term.sizes[i];
      if (size != term.sizes[j]) return wrong(cat("has one label for axes of sizes ", size, " and ", term.sizes[j]));
      Dims order = without(term.sizes, {i, j});
      order.insert(order.end(), {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
      Label label = term.labels[j];
      term.erase(j);
      term.erase(i);
      term.value = step().transpose(term.value, std::move(order));
      Dims flat = term.sizes;
      flat.push_back(size * size);
      term.value = step().reshape(term.value, Shape(std::move(flat)));
      auto axis = static_cast<std::int64_t>(term.sizes.size());
      term.value = step().slice(term.value, axis, 0, size * size, size + 1);
      term.labels.push_back(label);
      term.sizes.push_back(size);
      j = static_cast<std::size_t>(-1);  // from the beginning
    }
    return success();
  }

  // Is the label in the result, or in an operand after `last`?
  bool is_needed(Label label, std::size_t last) const {
    if (std::find(result_.begin(), result_.end(), label) != result_.end()) return true;
    for (std::size_t i = last + 1; i < terms_.size(); ++i)
      if (terms_[i].find(label)) return true;
    return false;
  }

  // Sums over labels that this operand alone has.
  void sum_out(Term& term, std::size_t index) {
    Dims axes;
    for (std::size_t a = term.labels.size(); a-- > 0;) {
      Label label = term.labels[a];
      bool elsewhere = std::find(result_.begin(), result_.end(), label) != result_.end();
      for (std::size_t i = 0; i < terms_.size(); ++i) elsewhere = elsewhere || (i != index && terms_[i].find(label));
      if (elsewhere) continue;
      axes.push_back(static_cast<std::int64_t>(a));
      term.erase(a);
    }
    if (!axes.empty()) term.value = step().reduce_sum(term.value, std::move(axes), false);
  }

  // ---- two operands

  void sum_axis(Term& term, Label label) {
    auto axis = *term.find(label);
    term.value = step().reduce_sum(term.value, {static_cast<std::int64_t>(axis)}, false);
    term.erase(axis);
  }

  // The operand with its axes in the order of `labels`, seen in the given shape.
  Ref arranged(const Term& term, const Labels& labels, const Dims& shape) {
    Dims order;
    for (Label label : labels) order.push_back(static_cast<std::int64_t>(*term.find(label)));
    Ref value = term.value;
    if (!std::is_sorted(order.begin(), order.end())) value = step().transpose(value, std::move(order));
    Dims now;
    for (Label label : labels) now.push_back(term.size(label));
    return now == shape ? value : step().reshape(value, Shape(shape));
  }

  static Labels concatenated(Labels a, const Labels& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Dims sizes_of(const Term& term, const Labels& labels) {
    Dims out;
    for (Label label : labels) out.push_back(term.size(label));
    return out;
  }

  Result<Term> joined(Term a, Term b, std::size_t index) {
    Labels batch, summed, left, right;
    for (Label label : Labels(a.labels)) {
      if (!b.find(label)) {
        left.push_back(label);
        continue;
      }
      std::int64_t sa = a.size(label), sb = b.size(label);
      if (sa != sb && sa != 1 && sb != 1) return wrong(cat("has one label for axes of sizes ", sa, " and ", sb));
      if (is_needed(label, index)) {
        batch.push_back(label);
      } else if (sa == sb) {
        summed.push_back(label);
      } else {  // an axis of size 1 stretches: the sum is that of the other one
        sum_axis(a, label);
        sum_axis(b, label);
      }
    }
    for (Label label : b.labels)
      if (!a.find(label)) right.push_back(label);
    Term out;
    out.labels = concatenated(concatenated(batch, left), right);
    for (Label label : batch) out.sizes.push_back(a.size(label) == 1 ? b.size(label) : a.size(label));
    Dims left_sizes = sizes_of(a, left), right_sizes = sizes_of(b, right);
    out.sizes.insert(out.sizes.end(), left_sizes.begin(), left_sizes.end());
    out.sizes.insert(out.sizes.end(), right_sizes.begin(), right_sizes.end());
    if (!Shape(out.sizes).volume()) return wrong("makes a value that is too large");
    out.value = summed.empty() ? elementwise(a, b, batch, left, right) : matrices(a, b, batch, summed, left, right, out.sizes);
    return out;
  }

  Ref elementwise(const Term& a, const Term& b, const Labels& batch, const Labels& left, const Labels& right) {
    Dims shape_a = sizes_of(a, concatenated(batch, left)), shape_b = sizes_of(b, batch);
    shape_a.resize(shape_a.size() + right.size(), 1);
    shape_b.resize(shape_b.size() + left.size(), 1);
    Dims right_sizes = sizes_of(b, right);
    shape_b.insert(shape_b.end(), right_sizes.begin(), right_sizes.end());
    Ref x = arranged(a, concatenated(batch, left), shape_a);
    Ref y = arranged(b, concatenated(batch, right), shape_b);
    return step().multiply(x, y);
  }

  Ref matrices(const Term& a, const Term& b, const Labels& batch, const Labels& summed, const Labels& left, const Labels& right,
               const Dims& result) {
    Dims shape_a = sizes_of(a, batch), shape_b = sizes_of(b, batch), shape = result;
    std::int64_t rows = product(sizes_of(a, left)), inner = product(sizes_of(a, summed)), columns = product(sizes_of(b, right));
    shape.resize(batch.size());
    shape.insert(shape.end(), {rows, columns});
    shape_a.insert(shape_a.end(), {rows, inner});
    shape_b.insert(shape_b.end(), {inner, columns});
    Ref x = arranged(a, concatenated(concatenated(batch, left), summed), shape_a);
    Ref y = arranged(b, concatenated(concatenated(batch, summed), right), shape_b);
    Ref z = step().matmul(x, y);
    return shape == result ? z : step().reshape(z, Shape(result));
  }

  // ---- the result

  Ref finished(const Term& term) {
    Dims order;
    for (Label label : result_) order.push_back(static_cast<std::int64_t>(*term.find(label)));
    if (std::is_sorted(order.begin(), order.end())) return op_.result().identity(term.value);
    return op_.result().transpose(term.value, std::move(order));
  }

  ops::Builder& step() { return op_.step(cat(++steps_)); }

  OpImport& op_;
  const std::vector<EinsumOperand>& operands_;
  std::string equation_;
  std::vector<Term> terms_;
  Labels result_;
  std::size_t ellipsis_axes_ = 0;
  int steps_ = 0;
};

}  // namespace

Result<graph::ValueRef> einsum(OpImport& op, std::string_view equation, const std::vector<EinsumOperand>& operands) {
  return Einsum(op, equation, operands).nodes();
}

}  // namespace buda::frontend
