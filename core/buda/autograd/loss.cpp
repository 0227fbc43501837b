// The built-in losses.
#include <buda/autograd/loss.hpp>

#include <buda/autograd/spec.hpp>
#include <buda/autograd/term.hpp>
#include <buda/base/text.hpp>

namespace buda::autograd {
namespace {

constexpr std::string_view kLossOption = "option --loss";

Term cross_entropy(const Term& logits, const Term& target, double smoothing) {
  const auto axis = static_cast<std::int64_t>(logits.shape().rank()) - 1;
  const double share = smoothing / static_cast<double>(logits.shape()[static_cast<std::size_t>(axis)]);
  const Term wanted = smoothing == 0 ? target : target * (1 - smoothing) + share;
  const Term likely = logits.op("log_softmax", {{"dim", axis}});
  const Term weighted = wanted * likely;
  return -weighted.sum({axis});
}

Term squared_error(const Term& prediction, const Term& target) {
  const Term difference = prediction - target;
  return difference * difference;
}

}  // namespace

Result<Loss> parse_loss(std::string_view text) {
  Loss out;
  const std::string_view name = spec_name(text);
  if (name == "mse") {
    out.kind = LossKind::mse;
    BUDA_TRY(read_numbers(text, kLossOption, {}));
    return out;
  }
  if (name != "cross_entropy") return unknown_name(text, kLossOption, {"cross_entropy", "mse"});
  BUDA_TRY(read_numbers(text, kLossOption, {{"label_smoothing", &out.label_smoothing, 0, 1}}));
  return out;
}

Result<graph::Graph> loss_graph(const Loss& loss, const graph::ValueType& prediction) {
  ops::Builder b("loss");
  const Term x(b, b.input("prediction", prediction.shape, prediction.dtype)),
      target(b, b.input("target", prediction.shape, prediction.dtype));
  if (loss.kind == LossKind::cross_entropy && prediction.shape.rank() == 0)
    return input_error("AG013", {}, "a cross entropy needs a prediction with an axis of classes, and this is a single number");
  const Term y = loss.kind == LossKind::mse ? squared_error(x, target) : cross_entropy(x, target, loss.label_smoothing);
  b.output("loss", y.value());
  return b.finish();
}

}  // namespace buda::autograd
