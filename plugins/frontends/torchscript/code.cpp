// SPDX-License-Identifier: Apache-2.0
// All code of an archive.
#include "code.hpp"

#include "parser.hpp"

#include <buda/base/text.hpp>

namespace buda::torchscript {

// "code/__torch__/torch/nn/modules/conv.py" is the module "__torch__.torch.nn.modules.conv".
Result<Program> read_program(const Archive& archive) {
  constexpr std::string_view kFolder = "code/", kEnding = ".py";
  Program program;
  Failure failure;
  for (auto it = archive.members.lower_bound(std::string(kFolder)); it != archive.members.end() && it->first.starts_with(kFolder); ++it) {
    if (!it->first.ends_with(kEnding)) continue;
    std::string module = it->first.substr(kFolder.size(), it->first.size() - kFolder.size() - kEnding.size());
    for (char& c : module)
      if (c == '/') c = '.';
    if (auto parsed = parse_code(archive, it->first, module, program); !parsed) failure.add(std::move(parsed).failure());
  }
  if (!failure.empty()) return failure;
  return program;
}

std::string text_of(const Expr& e) {
  std::vector<std::string> parts;
  for (const Expr& child : e.children) parts.push_back(text_of(child));
  switch (e.kind) {
    case Expr::Kind::attribute:
      return cat(parts[0], '.', e.text);
    case Expr::Kind::subscript:
      return cat(parts[0], "[", parts[1], "]");
    case Expr::Kind::tuple:
      return join(parts, ", ");
    case Expr::Kind::list:
      return cat('[', join(parts, ", "), ']');
    case Expr::Kind::none:
      return "None";
    default:
      return e.text.empty() ? "an expression" : e.text;
  }
}

}  // namespace buda::torchscript
