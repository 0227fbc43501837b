// SPDX-License-Identifier: Apache-2.0
// The command line of every stage, from the driver's options.
#pragma once

#include "apps/buda/options.hpp"

#include <string>
#include <vector>

namespace buda::driver {

struct StageCommand {
  std::string stage;
  std::vector<std::string> argv;
  std::string product;  // what it writes: a file or a folder
  std::string depfile;
  std::string product_or = {};  // a file that it may write instead
};

// Names of the intermediate files in the build folder.
struct BuildFiles {
  BuildFiles(const std::string& folder, const std::string& model);
  std::string graph;    // importer's
  std::string step;     // autograd's
  std::string image;    // tti-pack's, of a training step
  std::string device;   // optimizer's
  std::string netlist;  // balancer's
  std::string plan;
  std::string report;
  std::string pipes;    // folder of netlist2pipe's and pipegen's
  std::string kernels;  // kernelc's, in that folder
  std::string optimizer_settings, balancer_settings;
  std::string misfits;  // balancer's, in place of the netlist
  std::string rules;    // optimizer's, of --accuracy
};

StageCommand importer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
StageCommand autograd_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
StageCommand optimizer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
StageCommand balancer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
StageCommand netlist2pipe_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
// Of all epochs.
StageCommand pipegen_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
StageCommand kernelc_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);
StageCommand pack_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files, const std::string& image);

// Runs the image, or on the host the graph.
StageCommand trainer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);

// The same on the graph of the step, before it is compiled: are the samples those that it takes?
StageCommand samples_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files);

// All that a compilation or training runs, in order.
std::vector<StageCommand> stage_commands(const Options& o, const cli::ToolHost& host, const BuildFiles& files, const std::string& image);

}  // namespace buda::driver
