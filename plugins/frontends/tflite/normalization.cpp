// SPDX-License-Identifier: Apache-2.0
// Softmax, and normalisations of neighbouring channels.
#include "node_import.hpp"

#include <buda/base/text.hpp>

#include <limits>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;

Result<void> import_softmax(NodeImport& n) {
  double beta = parse_double(to_text(n.options<format::SoftmaxOptions>().beta())).value_or(0);
  Ref x = n.number(0);
  if (beta != 1) {
    Ref factor = n.step("beta").constant(static_cast<float>(beta));
    x = n.step("scaled").multiply(x, factor);
  }
  n.output_number(n.result().softmax(x, -1));
  return success();
}

Result<void> import_log_softmax(NodeImport& n) {
  Ref x = n.number(0);
  n.output_number(n.result().log_softmax(x, -1));
  return success();
}

// x / sqrt(sum of squares along the last axis), the root being at least 1e-6.
Result<void> import_l2_normalization(NodeImport& n) {
  Ref x = n.number(0);
  auto activation = n.options<format::L2NormOptions>().activation();
  Ref squares = n.step("squares").square(x);
  Ref sum = n.step("sum").reduce_sum(squares, {-1});
  Ref root = n.step("root").sqrt(sum);
  Ref norm = n.step("norm").clip(root, 1e-6, std::numeric_limits<double>::infinity());
  BUDA_ASSIGN(Ref y, n.activated(n.before(activation).divide(x, norm), activation));
  n.output_number(y);
  return success();
}

// The neighbourhood has `radius` channels on both sides, and alpha is not divided by their number.
Result<void> import_lrn(NodeImport& n) {
  const auto& o = n.options<format::LocalResponseNormalizationOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  if (x.rank() != 4 || o.radius() < 0 || o.radius() > (1 << 20))
    return n.refuse(cat("its input is ", x.text(), " and its radius ", o.radius()));
  std::int64_t size = 2 * std::int64_t{o.radius()} + 1;
  Ref value = n.channels_first(n.number(0));
  Ref y = n.result().op("lrn", {value},
                        {{"size", size},
                         {"alpha", static_cast<double>(o.alpha()) * static_cast<double>(size)},
                         {"beta", static_cast<double>(o.beta())},
                         {"bias", static_cast<double>(o.bias())}});
  n.output_number(n.channels_last(y));
  return success();
}

constexpr OpImporter kNormalizationOps[] = {
    {Code::L2_NORMALIZATION, import_l2_normalization},
    {Code::LOCAL_RESPONSE_NORMALIZATION, import_lrn},
    {Code::LOG_SOFTMAX, import_log_softmax},
    {Code::SOFTMAX, import_softmax},
};

}  // namespace

std::span<const OpImporter> normalization_ops() { return kNormalizationOps; }

}  // namespace buda::tflite_frontend
