// SPDX-License-Identifier: Apache-2.0
// From a netlist to compiled kernels.
//
// A kernel's id is a digest of its source, of the headers, of the compiler and of its options: what has the same id has the same
// executables. Those that a store has are taken from it; the others are compiled in parallel, in a temporary folder.
#include <buda/kernels/text/kernel_set.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/cache/store.hpp>
#include <buda/io/sha256.hpp>
#include <buda/io/temporary_directory.hpp>
#include <buda/kernels/compile/compiler.hpp>
#include <buda/kernels/programs/check.hpp>
#include <buda/kernels/text/package.hpp>
#include <buda/kernels/text/source.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

namespace buda::kernels {
namespace {

struct Wanted {
  std::vector<Kernel> kernels;  // each once, in order
  std::map<std::string, std::size_t> of_op;
};

Diagnostic refused(const netlist::Netlist& netlist, const netlist::Op& op, const NoKernel& no) {
  Diagnostic d = input_error("KC001", op.places.self.line == 0 ? SourceLoc{netlist.file} : netlist.loc(op.places.self),
                             cat("op '", op.name, "': ", no.reason));
  d.node = op.name;
  d.hint = no.hint;
  return d;
}

// Ethernet cores copy without kernels.
bool has_kernel(const netlist::Op& op) { return !ops::runs_on_ethernet(op.type); }

const netlist::FusedOp* fused_op_of(const netlist::Netlist& netlist, const netlist::Op& op) {
  for (const netlist::FusedOp& fused : netlist.fused_ops)
    if (fused.id == op.attributes.fused_op_id) return &fused;
  return nullptr;
}

Result<Wanted> wanted_of(const netlist::Netlist& netlist, const Packages& packages) {
  Failure failure;
  std::set<Kernel> kernels;
  std::map<std::string, Kernel> by_op;
  for (const auto& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops) {
      if (!has_kernel(op)) continue;
      auto choice = kernel_of(op, fused_op_of(netlist, op), package_of(packages, op));
      if (const auto* no = std::get_if<NoKernel>(&choice)) {
        failure.add(refused(netlist, op, *no));
        continue;
      }
      kernels.insert(std::get<Kernel>(choice));
      by_op.emplace(op.name, std::move(std::get<Kernel>(choice)));
    }
  if (!failure.empty()) return failure;
  Wanted out{{kernels.begin(), kernels.end()}, {}};
  for (const auto& [op, kernel] : by_op)
    out.of_op[op] = static_cast<std::size_t>(std::lower_bound(out.kernels.begin(), out.kernels.end(), kernel) - out.kernels.begin());
  return out;
}

std::string executable_name(std::size_t thread) { return cat(kThreadNames[thread], ".elf"); }

class Build {
 public:
  Build(const BuildOptions& options, Host& host, std::string scratch) : options_(options), host_(host), scratch_(std::move(scratch)) {}

  Result<KernelSet> run(const netlist::Netlist& netlist) {
    BUDA_ASSIGN(const Packages packages, read_packages(netlist, options_.packages, host_));
    BUDA_ASSIGN(Wanted wanted, wanted_of(netlist, packages));
    BUDA_ASSIGN(toolchain_, find_toolchain(options_, scratch_, *files_));
    BUDA_TRY(prepare());
    KernelSet set{netlist.arch, toolchain_.version, {}, std::move(wanted.of_op)};
    for (const Package& package : packages)
      if (!package.header.empty()) BUDA_TRY(take_headers(package));
    for (Kernel& kernel : wanted.kernels) set.kernels.push_back(described(std::move(kernel)));
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < set.kernels.size(); ++i)
      if (!take_from_store(set.kernels[i])) missing.push_back(i);
    BUDA_TRY(compile_all(set, missing));
    sort_by_id(set);
    host_.log(
        1, cat(set.kernel_of_op.size(), " ops, ", set.kernels.size(), " kernels, ", missing.size(), " compiled by ", toolchain_.version));
    return set;
  }

 private:
  std::string headers() const { return host_.share_dir + "/kernels"; }

  Result<void> digest_folder(const std::string& folder) {
    BUDA_ASSIGN(const auto names, host_.fs().list(folder));
    for (const std::string& name : names) {
      const std::string path = cat(folder, '/', name);
      if (host_.fs().is_directory(path)) {
        BUDA_TRY(digest_folder(path));
        continue;
      }
      BUDA_ASSIGN(const auto bytes, host_.fs().read(path));
      common_ += cat(name, ' ', io::sha256_hex(bytes.view()), '\n');
      inputs_.insert(host_.fs().canonical(path));
    }
    return success();
  }

  // The headers of a package are compiled where no product says from which folder they are; messages name them by the package.
  Result<void> take_headers(const Package& package) {
    if (digests_.count(package.name) != 0) return success();
    const std::string folder = own_folder(package.name);
    folders_[package.name] = package.folder;
    BUDA_TRY(files_->make_directories(folder));
    BUDA_ASSIGN(const auto names, host_.fs().list(package.folder));
    for (const std::string& name : names) {
      if (!name.ends_with(".h")) continue;
      const std::string path = cat(package.folder, '/', name);
      BUDA_ASSIGN(const auto bytes, host_.fs().read(path));
      BUDA_TRY(files_->write(cat(folder, '/', name), cat("#line 1 \"", package.name, '/', name, "\"\n", bytes.view())));
      digests_[package.name] += cat(name, ' ', io::sha256_hex(bytes.view()), '\n');
      inputs_.insert(host_.fs().canonical(path));
    }
    return success();
  }

  // What all kernels are made from.
  Result<void> prepare() {
    begun_ = std::filesystem::file_time_type::clock::now();
    const std::string isa = instruction_header();
    BUDA_TRY(files_->write(scratch_ + "/isa.h", isa));
    for (std::size_t t = 0; t < kThreads; ++t) BUDA_TRY(files_->write(script(t), linker_script(t)));
    common_ = cat(io::sha256_hex(isa), '\n', toolchain_.version, '\n');
    const std::string nowhere = "x";
    CompileJob job{0, nowhere, nowhere, nowhere, {}, {}, options_.prints, options_.zones};
    auto command = command_of(toolchain_, job);
    for (auto it = command.begin() + 1; it != command.end(); ++it) common_ += cat(*it, '\n');
    for (std::size_t t = 0; t < kThreads; ++t) common_ += linker_script(t);
    if (!options_.store.empty()) BUDA_TRY(cache::make(options_.store));
    return digest_folder(headers());
  }

  CompiledKernel described(Kernel kernel) const {
    CompiledKernel out;
    std::string text = common_;
    if (!kernel.header.empty()) text += digests_.at(kernel.family);
    for (std::size_t t = 0; t < kThreads; ++t) {
      out.sources[t] = io::Bytes(kernel_source(kernel, t));
      text += out.sources[t].view();
    }
    out.id = io::sha256_hex(text);
    out.kernel = std::move(kernel);
    return out;
  }

  bool take_from_store(CompiledKernel& kernel) const {
    if (options_.store.empty()) return false;
    auto found = cache::find(options_.store, kernel.id);
    if (!found) return false;
    for (std::size_t t = 0; t < kThreads; ++t) {
      const auto it = found->find(executable_name(t));
      if (it == found->end()) return false;
      kernel.executables[t] = it->second;
    }
    return true;
  }

  std::string script(std::size_t thread) const { return cat(scratch_, '/', kThreadNames[thread], ".ld"); }
  std::string file(const CompiledKernel& kernel, std::size_t thread, const char* ending) const {
    return cat(scratch_, '/', kernel.id.substr(0, 16), '-', kThreadNames[thread], ending);
  }

  std::vector<std::string> include_of(const Kernel& kernel) const {
    std::vector<std::string> folders = {headers(), scratch_};
    if (!kernel.header.empty()) folders.push_back(own_folder(kernel.family));
    return folders;
  }
  std::string own_folder(const std::string& package) const { return cat(scratch_, '/', package); }

  Result<void> compile_thread(const CompiledKernel& kernel, std::size_t t) const {
    const std::string& family = kernel.kernel.family;
    auto done = compile(toolchain_,
                        {t,
                         file(kernel, t, ".cpp"),
                         script(t),
                         file(kernel, t, ".elf"),
                         include_of(kernel.kernel),
                         {{host_.fs().canonical("."), "."}, {headers(), "kernels"}, {scratch_, "generated"}},
                         options_.prints,
                         options_.zones},
                        cat("the ", kThreadNames[t], " thread of a kernel of the family ", family));
    if (const auto folder = folders_.find(family); !done && folder != folders_.end())
      done.failure().diagnostics().front().notes.push_back(
          {{}, cat("the compiler calls the headers of '", folder->second, "' ", family, "/…")});
    return done;
  }

  Result<void> compile_all(KernelSet& set, const std::vector<std::size_t>& missing) {
    for (std::size_t i : missing)
      for (std::size_t t = 0; t < kThreads; ++t) BUDA_TRY(files_->write(file(set.kernels[i], t, ".cpp"), set.kernels[i].sources[t].view()));
    std::vector<Result<void>> results(missing.size() * kThreads);
    const auto make = [&](std::size_t job) {
      results[job] = compile_thread(set.kernels[missing[job / kThreads]], job % kThreads);
      return results[job].ok();
    };
    parallel_for(host_.threads, results.size(), [&](std::size_t job) {
      if (set.kernels[missing[job / kThreads]].kernel.header.empty()) {
        make(job);
      } else if (job % kThreads == 0) {
        // A package has one header for all threads: what is wrong with it is told once.
        for (std::size_t t = 0; t < kThreads && make(job + t);) ++t;
      }
    });
    for (auto& result : results) BUDA_TRY(std::move(result));
    for (std::size_t i : missing) BUDA_TRY(keep(set.kernels[i]));
    return success();
  }

  Result<void> keep(CompiledKernel& kernel) {
    cache::Products products;
    for (std::size_t t = 0; t < kThreads; ++t) {
      BUDA_ASSIGN(const auto bytes, files_->read(file(kernel, t, ".elf")));
      // A copy: the file goes away.
      kernel.executables[t] = io::Bytes(std::string(bytes.view()));
      BUDA_TRY(check_executable(kernel.executables[t].view(), t, cat(kernel.kernel.family, '/', executable_name(t))));
      products[executable_name(t)] = kernel.executables[t];
    }
    if (options_.store.empty()) return success();
    return cache::keep(options_.store, kernel.id, inputs_, products, begun_);
  }

  static void sort_by_id(KernelSet& set) {
    std::map<std::string, std::size_t> place;
    for (const CompiledKernel& k : set.kernels) place[k.id] = 0;
    std::size_t next = 0;
    for (auto& [id, at] : place) at = next++;
    for (auto& [op, kernel] : set.kernel_of_op) kernel = place[set.kernels[kernel].id];
    std::sort(set.kernels.begin(), set.kernels.end(), [](const CompiledKernel& a, const CompiledKernel& b) { return a.id < b.id; });
  }

  const BuildOptions& options_;
  Host& host_;
  // For files of the temporary folder, on which no product depends: the host's notes what it reads.
  std::unique_ptr<io::FileSystem> files_ = io::make_real_file_system();
  std::string scratch_;
  Toolchain toolchain_;
  std::string common_;
  std::map<std::string, std::string> digests_;  // of packages, by name
  std::map<std::string, std::string> folders_;  // of packages whose headers are compiled, by name
  std::set<std::string> inputs_;
  std::filesystem::file_time_type begun_;
};

}  // namespace

Result<KernelSet> build_kernels(const netlist::Netlist& netlist, const BuildOptions& options, Host& host) {
  if (options.prints && options.zones)
    return input_error("KC012", {}, "DPRINT and zones cannot be compiled together: printing takes the time that zones tell");
  std::error_code ignored;  // then it is the current folder
  const std::string parent = std::filesystem::temp_directory_path(ignored).string();
  BUDA_ASSIGN(const auto scratch, io::TemporaryDirectory::make(parent, "openbuda-kernels-"));
  return Build(options, host, scratch.path()).run(netlist);
}

}  // namespace buda::kernels
