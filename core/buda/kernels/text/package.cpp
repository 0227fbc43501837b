// SPDX-License-Identifier: Apache-2.0
// Reading packages, and finding that of an op.
#include <buda/kernels/text/package.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/sfpu/functions.hpp>

#include <kernels/arguments.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace buda::kernels {
namespace {

constexpr std::string_view kFile = "/kernel.yaml";

bool is_identifier(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

// Reads the package of one folder.
class Reading {
 public:
  Reading(std::string folder, Host& host) : host_(host), folder_(std::move(folder)), file_(cat(folder_, kFile)) {}

  // `fused_op`: the one that has named it, and that it then replaces; otherwise empty.
  Result<Package> run(const std::string& fused_op) {
    BUDA_ASSIGN(const auto bytes, host_.fs().read(file_));
    BUDA_ASSIGN(const auto node, io::parse_yaml(bytes.view(), file_));
    BUDA_ASSIGN(PackageFile content, schema::read<PackageFile>(node));
    if (!fused_op.empty()) content.replaces = {{}, {}, fused_op};
    BUDA_TRY(check(content));
    Package package{folder_, content.name, content.replaces, std::nullopt, content.header};
    if (!content.function.empty()) {
      BUDA_ASSIGN(package.function, compile_function(content));
    }
    return package;
  }

 private:
  Diagnostic wrong(std::string what) const { return input_error("KC006", {file_}, std::move(what)); }

  Result<void> check(const PackageFile& content) const {
    if (content.abi != tt::kAbi)
      return wrong(cat("it is made for version ", content.abi, " of the interface of kernels; this is version ", int{tt::kAbi}));
    if (!is_identifier(content.name))
      return wrong(cat("'", content.name, "' is no name for a kernel: a lower-case letter, then lower-case letters, digits and _"));
    const Replaced& r = content.replaces;
    if ((r.type.empty() ? 0 : 1) + (r.ops.empty() ? 0 : 1) + (r.fused_op.empty() ? 0 : 1) != 1)
      return wrong("`replaces` has one of `type`, `ops` and `fused_op`");
    if (!r.type.empty() && !netlist::op_type_from_name(r.type)) return wrong(cat("there is no op type '", r.type, "'"));
    if (content.function.empty() && content.header.empty()) return wrong("it has neither a function nor a header");
    for (const std::string& name : {content.function, content.header}) {
      if (name.find('/') != std::string::npos) return wrong(cat("'", name, "' is not in its folder"));
      if (!name.empty() && !host_.fs().exists(cat(folder_, '/', name))) return wrong(cat("its folder has no file '", name, "'"));
    }
    return success();
  }

  Result<sfpu::Program> compile_function(const PackageFile& content) const {
    const std::string path = cat(folder_, '/', content.function);
    BUDA_ASSIGN(const auto text, host_.fs().read(path));
    BUDA_ASSIGN(auto parsed, sfpu::parse(text.view(), path));
    const auto own = std::find_if(parsed.begin(), parsed.end(), [&](const sfpu::Function& f) { return f.name == content.name; });
    if (own == parsed.end()) return wrong(cat(content.function, " has no function '", content.name, "'"));
    const auto operands = std::count_if(own->parameters.begin(), own->parameters.end(), [](const auto& p) { return !p.is_constant; });
    if (operands != 1) return wrong(cat("function '", content.name, "' is of ", operands, " numbers; kernels apply functions of one"));
    for (const auto& [name, value] : content.constants)
      if (std::none_of(own->parameters.begin(), own->parameters.end(),
                       [&, &wanted = name](const auto& p) { return p.is_constant && p.name == wanted; }))
        return wrong(cat("function '", content.name, "' has no constant '", name, "'"));
    sfpu::Constants constants;
    for (const auto& [name, value] : content.constants) constants[name] = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    sfpu::Library library = sfpu::functions();
    BUDA_TRY(sfpu::add(library, std::move(parsed)));
    return sfpu::compile(library, content.name, constants);
  }

  Host& host_;
  std::string folder_, file_;
};

bool replaces(const Package& package, const netlist::Op& op) {
  const Replaced& r = package.replaces;
  if (!r.type.empty()) return netlist::op_type_name(op.type) == r.type;
  if (!r.fused_op.empty()) return ops::is_fused(op.type) && op.attributes.fused_op_id == r.fused_op;
  return std::find(r.ops.begin(), r.ops.end(), op.name) != r.ops.end();
}

std::string quoted_list(const std::set<std::string>& words) {
  constexpr std::size_t kMaxListed = 12;
  std::vector<std::string> out;
  for (const std::string& word : words)
    if (out.size() < kMaxListed) out.push_back(cat('\'', word, '\''));
  return cat(join(out, ", "), words.size() > kMaxListed ? cat(" and ", words.size() - kMaxListed, " more") : "");
}

// Which ops the package is for, and what of that kind the netlist has.
Diagnostic unused_package(const Package& package, const netlist::Netlist& netlist) {
  const Replaced& r = package.replaces;
  std::set<std::string> there;
  for (const auto& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops) {
      if (!r.ops.empty()) there.insert(op.name);
      if (!r.type.empty()) there.insert(std::string(netlist::op_type_name(op.type)));
      if (!r.fused_op.empty() && ops::is_fused(op.type)) there.insert(op.attributes.fused_op_id);
    }
  const std::set<std::string> named(r.ops.begin(), r.ops.end());
  const std::string wanted = !r.type.empty()  ? cat("ops of type '", r.type, '\'')
                             : !r.ops.empty() ? cat(named.size() == 1 ? "op " : "ops ", quoted_list(named))
                                              : cat("fused op '", r.fused_op, '\'');
  Diagnostic d = warning("KC008", {cat(package.folder, kFile)}, cat("no op has the kernel '", package.name, "': it is for ", wanted));
  d.notes.push_back({{},
                     there.empty() ? cat("the netlist has no ", r.fused_op.empty() ? "ops" : "fused ops")
                                   : cat("the netlist has ",
                                         !r.type.empty()  ? "ops of type "
                                         : !r.ops.empty() ? "ops "
                                                          : "fused ops ",
                                         quoted_list(there))});
  std::string word = !r.type.empty() ? r.type : !r.ops.empty() ? r.ops.front() : r.fused_op;
  if (auto near = nearest_word(word, {there.begin(), there.end()})) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

// Functions take one operand; some op has each package.
Result<void> check_uses(const netlist::Netlist& netlist, const Packages& packages, Host& host) {
  Failure failure;
  std::vector<bool> used(packages.size());
  for (const auto& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops) {
      const Package* package = package_of(packages, op);
      if (package == nullptr) continue;
      used[static_cast<std::size_t>(package - packages.data())] = true;
      if (!package->function || ops::is_copy_of_tiles(op.type) || ops::is_function_of_one(op.type)) continue;
      Diagnostic d = input_error("KC007", netlist.loc(op.places.self),
                                 cat("op '", op.name, "': kernel '", package->name, "' is a function of one number, and ",
                                     netlist::op_type_name(op.type), " ops are not"));
      d.node = op.name;
      failure.add(std::move(d));
    }
  for (std::size_t i = 0; i < packages.size(); ++i)
    if (!used[i]) host.report(unused_package(packages[i], netlist));
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace

const schema::Record<Replaced>& describe(const Replaced*) {
  static const auto record = schema::Record<Replaced>("the ops whose kernels it replaces: one of the three")
                                 .optional("type", &Replaced::type, "all of this type")
                                 .optional("ops", &Replaced::ops, "those with these names")
                                 .optional("fused_op", &Replaced::fused_op, "those of this id of a fused op");
  return record;
}

const schema::Record<PackageFile>& describe(const PackageFile*) {
  static const auto record =
      schema::Record<PackageFile>("a kernel that replaces those of some ops", {"buda.kernel", 1})
          .required("abi", &PackageFile::abi, "version of the interface of share/buda/kernels for which it is written")
          .required("name", &PackageFile::name, "what it is called, and its function, and, with a capital and Kernel after it, its struct")
          .optional("replaces", &PackageFile::replaces, "ops; of a package that a fused op names, that fused op's")
          .optional("function", &PackageFile::function, "file of the folder: a function for the vector unit, which its ops compute")
          .optional("header", &PackageFile::header, "file of the folder: its struct, in place of that of the ops' family")
          .optional("constants", &PackageFile::constants, "floats for the constants of the function");
  return record;
}

Result<Packages> read_packages(const netlist::Netlist& netlist, const std::vector<std::string>& folders, Host& host) {
  Packages packages;
  for (const std::string& folder : folders) {
    BUDA_ASSIGN(Package package, Reading(folder, host).run({}));
    packages.push_back(std::move(package));
  }
  for (const netlist::FusedOp& fused : netlist.fused_ops) {
    if (fused.custom_kernel_path.empty()) continue;
    const auto folder = std::filesystem::path(netlist.file).parent_path() / fused.custom_kernel_path;
    BUDA_ASSIGN(Package package, Reading(folder.string(), host).run(fused.id));
    packages.push_back(std::move(package));
  }
  for (std::size_t i = 0; i < packages.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (packages[i].name == packages[k].name && packages[i].folder != packages[k].folder)
        return input_error("KC006", {cat(packages[i].folder, kFile)}, cat("'", packages[k].folder, "' has a kernel with the same name"));
  BUDA_TRY(check_uses(netlist, packages, host));
  return packages;
}

const Package* package_of(const Packages& packages, const netlist::Op& op) {
  const auto found = std::find_if(packages.begin(), packages.end(), [&](const Package& p) { return replaces(p, op); });
  return found == packages.end() ? nullptr : &*found;
}

}  // namespace buda::kernels
