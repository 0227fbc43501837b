// The steps from pipes to stream programs.
#include <buda/overlay/builder.hpp>

namespace buda::overlay {

Result<Blob> Builder::run(bool sharing) {
  blob_.arch = device_.arch;
  blob_.device = device_.name;
  blob_.graphs = graph_.graphs;
  check_device_description();
  if (!failure_.empty()) return std::move(failure_);
  refuse_buffers();
  if (!failure_.empty()) return std::move(failure_);
  collect_cores();
  plan_pipes();
  if (!failure_.empty()) return std::move(failure_);
  make_kernel_streams();
  check_fed_inputs();
  if (!failure_.empty()) return std::move(failure_);
  if (sharing) share_reads();
  number_readers();
  find_flows();
  for (PipePlan& plan : plans_) connect(plan);
  if (!failure_.empty()) return std::move(failure_);
  check_taken_outputs();
  level_inputs();
  make_phases();
  assign_addresses();
  settle_writes();
  for (std::size_t i = 0; i < streams_.size(); ++i)
    for (auto& [number, s] : streams_[i]) blob_.cores[i].streams.push_back(std::move(s));
  check_limits();
  if (!failure_.empty()) return std::move(failure_);
  return std::move(blob_);
}

Result<Blob> build_blob(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, const device::Cluster& cluster) {
  Builder builder(graph, device, cluster);
  auto blob = builder.run(true);
  // What is shared takes room and streams of one core that would else be those of several.
  if (!blob && builder.shares_reads()) return Builder(graph, device, cluster).run(false);
  return blob;
}

}  // namespace buda::overlay
