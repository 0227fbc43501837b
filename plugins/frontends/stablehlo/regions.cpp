// SPDX-License-Identifier: Apache-2.0
// Bodies of reductions.
#include "regions.hpp"

#include <buda/tensor/tensor.hpp>

#include <limits>

namespace buda::stablehlo {

std::string combination(const Region& body, std::size_t count) {
  if (body.arguments.size() != 2 * count || body.operations.empty()) return {};
  const Operation& end = body.operations.back();
  if (end.operands.size() != count) return {};
  if (body.operations.size() == 1) {
    for (std::size_t i = 0; i < count; ++i)
      if (end.operands[i] != body.arguments[count + i]) return {};
    return "second";
  }
  const Operation& op = body.operations[0];
  if (count != 1 || body.operations.size() != 2 || op.results != end.operands || op.operands.size() != 2) return {};
  const bool in_order = op.operands == body.arguments;
  const bool turned = op.operands[0] == body.arguments[1] && op.operands[1] == body.arguments[0];
  if ((!in_order && !turned) || !op.name.starts_with("stablehlo.")) return {};
  const std::string name = op.name.substr(10);
  for (std::string_view commutative : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
    if (name == commutative) return name;
  return {};
}

std::string_view reduction_of(const std::string& name, bool boolean) {
  if (boolean) {
    if (name == "or" || name == "add" || name == "maximum") return "max";
    return name == "and" || name == "multiply" || name == "minimum" ? "min" : "";
  }
  if (name == "add") return "sum";
  if (name == "multiply") return "prod";
  if (name == "maximum") return "max";
  return name == "minimum" ? "min" : "";
}

bool is_neutral(OpCall& n, Ref value, std::string_view reduction) {
  const Tensor* known = n.find_known(value);
  if (known == nullptr || known->size() != 1) return false;
  const DType dtype = known->dtype();
  if (reduction == "sum" || reduction == "prod") return known->cast(DType::f64).as<double>()[0] == (reduction == "sum" ? 0 : 1);
  const bool most = reduction == "min";  // nothing is larger
  if (dtype == DType::boolean) return (known->as<Boolean>()[0].byte != 0) == most;
  const double infinity = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) return known->cast(DType::f64).as<double>()[0] == (most ? infinity : -infinity);
  // A cast saturates where the type ends.
  return *known == Tensor::scalar(most ? infinity : -infinity).cast(dtype);
}

Result<std::vector<Value>> combined(OpCall& n, std::size_t region, std::vector<Value> a, const std::vector<Value>& b) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const Ref x = n.ref(a[i].real), y = n.ref(b[i].real);
    const auto shape = broadcast(n.shape_of(x), n.shape_of(y));
    if (!x.valid() || !y.valid() || !shape) return n.refuse("its body cannot be applied to its operands");
    shapes.push_back(*shape);
  }
  a.insert(a.end(), b.begin(), b.end());
  BUDA_ASSIGN(std::vector<Value> out, n.run(region, std::move(a), true));
  if (out.size() != b.size()) return n.refuse("its body returns another number of values than it takes");
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].is_tensor()) return n.refuse("its body returns no tensors");
    // A body may return what does not depend on the elements.
    out[i] = of_parts(n, out[i], [&](Ref x) { return n.broadcast_to(x, shapes[i]); });
    if (n.shape_of(n.ref(out[i].real)) != shapes[i]) return n.refuse("its body returns no value for each element");
  }
  return out;
}

}  // namespace buda::stablehlo
