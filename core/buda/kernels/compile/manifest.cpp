// SPDX-License-Identifier: Apache-2.0
// The folder of kernels.
#include <buda/kernels/text/kernel_set.hpp>

#include <buda/base/text.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/io/json.hpp>
#include <buda/kernels/compile/manifest.hpp>
#include <buda/kernels/text/source.hpp>

#include <kernels/arguments.h>

#include <algorithm>

namespace buda::kernels {
namespace {

constexpr std::size_t kIdDigits = 16;  // of names of folders

const std::string kManifest = "manifest.json";

std::string folder_of(const std::string& folder, const std::string& id) { return cat(folder, '/', id); }

}  // namespace

const schema::Record<KernelRecord>& describe(const KernelRecord*) {
  static const auto record =
      schema::Record<KernelRecord>("a kernel: unpack.elf, math.elf and pack.elf in the folder that has its name")
          .required("id", &KernelRecord::id, "digest of its sources, headers, compiler and options; the folder's name")
          .required("family", &KernelRecord::family, "header in share/kernels/families")
          .required("constants", &KernelRecord::constants, "what is compiled in, by name");
  return record;
}

const schema::Record<Manifest>& describe(const Manifest*) {
  static const auto record = schema::Record<Manifest>("the kernels of a netlist", {"buda.kernels", 1})
                                 .required("arch", &Manifest::arch, "architecture of the netlist")
                                 .required("compiler", &Manifest::compiler, "with which they were compiled, and its version")
                                 .optional("arguments", &Manifest::arguments,
                                           "version of what kernels are told when they start; absent: 1, of those that do one input only")
                                 .required("kernels", &Manifest::kernels, "each once, by id")
                                 .required("ops", &Manifest::ops, "id of the kernel of each op");
  return record;
}

Result<void> write_kernels(const KernelSet& set, const std::string& folder, Host& host) {
  BUDA_ASSIGN(auto out, io::FolderProduct::begin(host.fs(), folder, {.entry = kManifest, .adds = false, .mode = host.write_mode}));
  Manifest manifest{set.arch, set.compiler, tt::kArgumentsVersion, {}, {}};
  for (const CompiledKernel& k : set.kernels) {
    KernelRecord record{k.id.substr(0, kIdDigits), k.kernel.family, {}};
    for (const Constant& c : k.kernel.constants) record.constants[c.name] = c.value;
    for (std::size_t i = 0; i < k.kernel.steps.size(); ++i)
      for (const Constant& c : k.kernel.steps[i]) record.constants[cat("step", i, '.', c.name)] = c.value;
    for (std::size_t t = 0; t < kThreads; ++t) {
      BUDA_TRY(out->write(cat(record.id, '/', kThreadNames[t], ".elf"), k.executables[t].view()));
      BUDA_TRY(out->write(cat(record.id, '/', kThreadNames[t], ".cpp"), k.sources[t].view()));
    }
    manifest.kernels.push_back(std::move(record));
  }
  for (const auto& [op, kernel] : set.kernel_of_op) manifest.ops[op] = manifest.kernels[kernel].id;
  BUDA_TRY(out->write(kManifest, io::json_pretty(schema::write(manifest))));
  return out->commit();
}

namespace {

// `read`: from a path in the folder to its bytes.
template <class Read>
Result<KernelSet> read_set(const std::string& folder, Read read) {
  const std::string file = folder_of(folder, kManifest);
  BUDA_ASSIGN(const auto bytes, read(kManifest));
  BUDA_ASSIGN(const auto node, io::parse_json(bytes.view(), file));
  BUDA_ASSIGN(const auto manifest, schema::read<Manifest>(node));
  if (const std::int64_t version = manifest.arguments.value_or(1); version != tt::kArgumentsVersion) {
    Diagnostic d = input_error("KC014", {file},
                               cat("its kernels take arguments of version ", version, ", and this program gives those of version ",
                                   int{tt::kArgumentsVersion}, version < tt::kArgumentsVersion ? ": they are older than it" : ""));
    d.hint = "compile the model, or its kernels, again";
    return d;
  }
  KernelSet set{manifest.arch, manifest.compiler, {}, {}};
  std::map<std::string, std::size_t> by_id;
  for (const KernelRecord& record : manifest.kernels) {
    if (record.id.empty() || record.id.find_first_not_of("0123456789abcdef") != std::string::npos)
      return input_error("KC011", {file}, cat("'", record.id, "' is not the id of a kernel"));
    by_id[record.id] = set.kernels.size();
    CompiledKernel kernel{record.id, {record.family, {}, {}}, {}, {}};
    for (const auto& [name, value] : record.constants) kernel.kernel.constants.push_back({{}, name, value});
    for (std::size_t t = 0; t < kThreads; ++t) {
      BUDA_ASSIGN(kernel.executables[t], read(cat(record.id, '/', kThreadNames[t], ".elf")));
    }
    set.kernels.push_back(std::move(kernel));
  }
  for (const auto& [op, id] : manifest.ops) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) return input_error("KC011", {file}, cat("op '", op, "' has the kernel '", id, "', which is not listed"));
    set.kernel_of_op[op] = found->second;
  }
  return set;
}

}  // namespace

Result<KernelSet> read_kernels(const std::string& folder, Host& host) {
  BUDA_TRY(io::require_whole(host.fs(), folder));
  return read_set(folder, [&](const std::string& name) { return host.fs().read(folder_of(folder, name)); });
}

Result<KernelSet> read_kernels(const std::map<std::string, io::Bytes>& files, const std::string& where) {
  return read_set(where, [&](const std::string& name) -> Result<io::Bytes> {
    const auto found = files.find(name);
    if (found == files.end()) return input_error("KC011", {where}, cat("it has no file '", name, "'"));
    return found->second;
  });
}

}  // namespace buda::kernels
