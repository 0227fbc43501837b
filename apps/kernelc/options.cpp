// SPDX-License-Identifier: Apache-2.0
// Declaration of kernelc's options.
#include "apps/kernelc/options.hpp"

#include "apps/kernelc/run.hpp"

namespace buda::kernelc {

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "kernelc";
  spec.summary = "compile the kernels of a netlist";
  spec.description =
      "Compiles, for each op, the programs of the three compute threads of a core (unpack, math, pack) with a stock RISC-V compiler, from "
      "templates in share/buda/kernels. Ops of the same kind share a kernel. An op that has no kernel yet is an error that names it. With "
      "--disassemble it prints the "
      "instructions of one such program.";
  spec.example = "kernelc net.yaml -o kernels/\nkernelc --disassemble kernels/0123456789abcdef/math.elf";
  spec.reads = "the netlist (- for standard input) and the templates in share/buda/kernels.";
  spec.writes =
      "a folder: manifest.json (buda.kernels/1), and of each kernel an ELF file and its source for each thread; with --disassemble text on "
      "standard output.";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("NETLIST", o.input, "the netlist, or with --disassemble a program; - for standard input");
    set.path("output", o.output, "DIR", "folder of the kernels; default: kernels in the current folder").also("-o");
    set.choice("cxx", o.cxx, {"any", "gcc", "clang"}, "the compiler; any: gcc, or clang where there is no gcc");
    set.path("compiler", o.compiler, "FILE",
             "the compiler's C++ driver, of the kind that --cxx says; default: that in /usr/bin or /usr/local/bin");
    set.integer("compile-timeout", o.compile_timeout, "SECONDS", "a compiler that takes longer for one thread of a kernel is ended")
        .range(1, 86400);
    set.path("cache", o.cache, "DIR", "keep compiled kernels in this store, and take them from there");
    set.flag("disassemble", o.disassemble, "print the instructions of a compiled program (.elf), with lines and symbols");
    set.flag("dprint", o.dprint, "compile DPRINT in kernels, whose lines targets print; without it nothing is left of them");
    set.flag("zones", o.zones, "compile ZONE in kernels, whose times are in the device log of target tensix");
    set.texts("kernel-path", o.kernel_path, "DIR", "folder with a kernel.yaml: a kernel that replaces those of some ops");
  };
  spec.inputs = [&o] {
    return o.disassemble ? std::vector<cli::InputFile>{} : std::vector<cli::InputFile>{{o.input, {cli::FileKind::netlist}}};
  };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] { return o.products; };
  spec.folders = [&o] { return std::vector<std::string>{o.disassemble ? "" : folder_of(o)}; };
  return spec;
}

}  // namespace buda::kernelc
