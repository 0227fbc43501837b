// The table of attributes that a node may carry.
#include <buda/balance/problem/op_attributes.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>

namespace buda::balance {
namespace {

using graph::Attr;
using netlist::OpAttributes;

// What is wrong with a value; empty if nothing.
using Setter = std::function<std::string(const Attr&, OpAttributes&)>;

std::string wanted(const char* what, const Attr& found) { return cat("expected ", what, ", found ", graph::attr_text(found)); }

template <class Owner>
Setter boolean(Owner OpAttributes::*owner, bool Owner::*member) {
  return [=](const Attr& v, OpAttributes& a) -> std::string {
    const bool* value = std::get_if<bool>(&v);
    if (value == nullptr) return wanted("true or false", v);
    a.*owner.*member = *value;
    return "";
  };
}

Setter boolean(bool OpAttributes::*member) {
  return [=](const Attr& v, OpAttributes& a) -> std::string {
    const bool* value = std::get_if<bool>(&v);
    if (value == nullptr) return wanted("true or false", v);
    a.*member = *value;
    return "";
  };
}

Setter integer(std::int32_t OpAttributes::*member, std::int64_t least) {
  return [=](const Attr& v, OpAttributes& a) -> std::string {
    const auto* value = std::get_if<std::int64_t>(&v);
    if (value == nullptr || *value < least || *value > std::numeric_limits<std::int32_t>::max())
      return wanted(least > 0 ? "a positive integer" : "an integer of 32 bits", v);
    a.*member = static_cast<std::int32_t>(*value);
    return "";
  };
}

std::optional<double> number(const Attr& v) {
  if (const auto* value = std::get_if<double>(&v)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&v)) return static_cast<double>(*value);
  return std::nullopt;
}

Setter real(double OpAttributes::*member) {
  return [=](const Attr& v, OpAttributes& a) -> std::string {
    auto value = number(v);
    if (!value) return wanted("a number", v);
    a.*member = *value;
    return "";
  };
}

template <class E>
Setter word(E OpAttributes::*member) {
  return [=](const Attr& v, OpAttributes& a) -> std::string {
    const auto* value = std::get_if<std::string>(&v);
    auto known = value != nullptr ? netlist::from_name<E>(*value) : std::nullopt;
    if (!known) return wanted(cat("one of ", join(netlist::names_of<E>(), ", ")).c_str(), v);
    a.*member = *known;
    return "";
  };
}

Setter relu_threshold() {
  return [](const Attr& v, OpAttributes& a) -> std::string {
    auto value = number(v);
    if (!value || *value < 0) return wanted("a number that is not negative", v);
    a.relu.threshold = *value;
    return "";
  };
}

Setter relu_mode() {
  return [](const Attr& v, OpAttributes& a) -> std::string {
    const auto* value = std::get_if<std::string>(&v);
    auto known = value != nullptr ? netlist::from_name<netlist::ReluMode>(*value) : std::nullopt;
    if (!known) return wanted("one of none, min, max", v);
    a.relu.mode = *known;
    return "";
  };
}

Setter only(std::string text) {
  return [text](const Attr& v, OpAttributes&) -> std::string {
    const auto* value = std::get_if<std::string>(&v);
    return value != nullptr && *value == text ? "" : wanted(cat("'", text, "'").c_str(), v);
  };
}

Setter text(std::string OpAttributes::*member) {
  return [=](const Attr& v, OpAttributes& a) -> std::string {
    const auto* value = std::get_if<std::string>(&v);
    if (value == nullptr) return wanted("a text", v);
    a.*member = *value;
    return "";
  };
}

const std::map<std::string, Setter, std::less<>>& setters() {
  static const std::map<std::string, Setter, std::less<>> table = {
      {"bias", boolean(&OpAttributes::bias)},
      {"accumulate", boolean(&OpAttributes::accumulate)},
      {"z", integer(&OpAttributes::z, 1)},
      {"l1_acc", boolean(&OpAttributes::l1_acc)},
      {"sfpu_op", text(&OpAttributes::sfpu_op)},
      {"relu_en", boolean(&OpAttributes::relu, &netlist::Relu::enabled)},
      {"relu_threshold", relu_threshold()},
      {"relu_mode", relu_mode()},
      {"requant", boolean(&OpAttributes::requant)},
      {"dequant", boolean(&OpAttributes::dequant)},
      {"zero_point", real(&OpAttributes::zero_point)},
      {"vector", word(&OpAttributes::vector)},
      {"approximate_mode", boolean(&OpAttributes::approximate_mode)},
      {"sfpu_execution_thread", word(&OpAttributes::sfpu_thread)},
      {"dim", word(&OpAttributes::reduce_dim)},
      {"type", only("max")},
      {"p", real(&OpAttributes::p)},
      {"seed", integer(&OpAttributes::seed, std::numeric_limits<std::int32_t>::min())},
      {"slope", real(&OpAttributes::slope)},
      {"exp", integer(&OpAttributes::exp, std::numeric_limits<std::int32_t>::min())},
      {"stoch_rnd_mode", word(&OpAttributes::stochastic_rounding)},
  };
  return table;
}

constexpr std::array<std::string_view, 6> kBlocking = {
    "m_k", "u_kt", "min_buffer_input", "kernel_broadcast", "kernel_broadcast_per_t", "single_tile"};

}  // namespace

Result<OpAttributes> netlist_attributes(const graph::Node& node) {
  auto out = netlist_attributes(node.attrs, node.name(), node.op());
  if (!out)
    for (Diagnostic& d : out.failure().diagnostics()) d.loc = node.loc;
  return out;
}

Result<OpAttributes> netlist_attributes(const graph::AttrMap& attrs, const std::string& name_of_op, const std::string& type) {
  OpAttributes out;
  Failure failure;
  auto report = [&](std::string message, std::string hint = "") {
    Diagnostic d = input_error("BL003", {}, cat("op '", name_of_op, "' (", type, "): ", message));
    d.node = name_of_op;
    d.hint = std::move(hint);
    failure.add(std::move(d));
  };
  for (const auto& [name, value] : attrs) {
    if (std::find(kBlocking.begin(), kBlocking.end(), name) != kBlocking.end()) {
      report(cat("attribute '", name, "' is the balancer's to choose"),
             cat("leave it out; --set op.", name_of_op, ".u_kt=N and others override the choice"));
      continue;
    }
    auto setter = setters().find(name);
    if (setter == setters().end()) {
      std::vector<std::string> known;
      for (const auto& [key, unused] : setters()) known.push_back(key);
      auto near = nearest_word(name, known);
      report(cat("attribute '", name, "' is none that a netlist op has"), near ? cat("did you mean '", *near, "'?") : "");
      continue;
    }
    if (std::string problem = setter->second(value, out); !problem.empty()) report(cat("attribute '", name, "': ", problem));
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::balance
