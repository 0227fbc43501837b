// SPDX-License-Identifier: Apache-2.0
// The texts, and what was compiled from them.
#include <buda/sfpu/functions.hpp>

#include <buda/base/text.hpp>
#include <buda/sfpu/texts.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace buda::sfpu {

namespace {

Library built_in() {
  Library library;
  for (const Text& t : texts()) {
    auto functions = parse(t.text, t.file);
    if (functions) (void)add(library, std::move(*functions)).ok();
  }
  return library;
}

// x^n by squaring; for a negative one the reciprocal.
std::string power_text(std::int32_t exponent) {
  std::string text = "function power(x) {\n  result = 1.0\n  base = x + 0.0\n";
  bool first = true;
  const auto n = static_cast<std::uint32_t>(exponent);
  for (std::uint32_t e = exponent < 0 ? 0u - n : n; e != 0; e >>= 1) {
    if ((e & 1) != 0) text += std::exchange(first, false) ? "  result = base * 1.0\n" : "  result = result * base\n";
    if (e > 1) text += "  base = base * base\n";
  }
  return cat(text, exponent < 0 ? "  return reciprocal(result)\n}\n" : "  return result\n}\n");
}

std::optional<Program> compiled(const FunctionCall& call) {
  if (call.name != "power") {
    auto program = compile(functions(), call.name, call.constants);
    return program ? std::optional(std::move(*program)) : std::nullopt;
  }
  Library library = functions();
  auto parsed = parse(power_text(call.exponent), "power.sfpu");
  if (!parsed || !add(library, std::move(*parsed))) return std::nullopt;
  auto program = compile(library, "power");
  return program ? std::optional(std::move(*program)) : std::nullopt;
}

}  // namespace

const Library& functions() {
  static const Library library = built_in();
  return library;
}

const Program* program_of(const FunctionCall& call) {
  static std::mutex mutex;
  static std::map<FunctionCall, std::optional<Program>> programs;
  const std::lock_guard lock(mutex);
  auto it = programs.find(call);
  if (it == programs.end()) it = programs.emplace(call, compiled(call)).first;
  return it->second ? &*it->second : nullptr;
}

}  // namespace buda::sfpu
