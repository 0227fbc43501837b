// SPDX-License-Identifier: Apache-2.0
// Reading, processing, writing, showing.
#include "apps/profiler/run.hpp"

#include "apps/profiler/device_stats.hpp"
#include "apps/profiler/page.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/signals.hpp>
#include <buda/image/archive.hpp>
#include <buda/io/folder_files.hpp>
#include <buda/io/folder_product.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace buda::profiler {
namespace {

constexpr const char* kDeviceLog = "profile_log_device.csv";
constexpr const char* kZones = "profile_zones.csv";
constexpr const char* kOpsReport = "ops_perf_results";

// "2026_01_31_12_30_00_device_stats_more.txt", in a folder of its own.
class Products {
 public:
  Products(const Options& o, const Outside& outside, std::string folder, Host& host)
      : folder_(cat(o.output, '/', folder)),
        prefix_(o.date ? outside.date() + "_" : ""),
        suffix_(o.name.empty() ? "" : "_" + o.name),
        host_(host) {}

  // Products of earlier calls stay.
  Result<void> begin() {
    BUDA_ASSIGN(files_, io::FolderProduct::begin(host_.fs(), folder_, {.entry = "", .adds = true, .mode = host_.write_mode}));
    return success();
  }
  Result<void> commit() {
    BUDA_TRY(files_->commit());
    for (const std::string& path : paths_) host_.log(1, path);
    return success();
  }

  std::string name(std::string_view stem, std::string_view extension) const { return cat(prefix_, stem, suffix_, extension); }

  Result<void> write(const std::string& name, std::string content) {
    BUDA_TRY(files_->write(name, content));
    paths_.push_back(cat(folder_, '/', name));
    members_[name] = io::Bytes(std::move(content));
    return success();
  }
  void forget_members() { members_.clear(); }
  // A member of the tarball that is no product of its own.
  void add_member(const std::string& name, io::Bytes bytes) { members_[name] = std::move(bytes); }

  Result<std::string> write_archive(const std::string& name) {
    BUDA_ASSIGN(auto file, files_->create(name));
    BUDA_TRY(image::write_archive(*file, members_));
    BUDA_TRY(file->commit());
    return paths_.emplace_back(cat(folder_, '/', name));
  }

 private:
  std::string folder_, prefix_, suffix_;
  Host& host_;
  std::unique_ptr<io::FolderProduct> files_;
  std::vector<std::string> paths_;
  image::Members members_;
};

// A name is part of a path.
Result<void> check_name(const Options& o) {
  if (o.name.empty() || image::is_safe_name(cat("x", o.name))) {
    if (o.name.find('/') == std::string::npos) return success();
  }
  return usage_error("PF006", cat("option --name-append: '", o.name, "' cannot be a part of a file's name"));
}

struct Dashboard {
  io::Node data;
  std::string tarball;  // path; empty: there is none to download
};

Result<void> show(Dashboard dashboard, const Options& o, const Outside& outside, Host& host) {
  BUDA_ASSIGN(PageCode code, read_page_code(host));
  std::map<std::string, std::string> files;
  for (auto& [name, content] : code) files['/' + name] = std::move(content);
  files["/"] = files["/device_perf.html"];
  std::string download;
  if (!dashboard.tarball.empty()) {
    const std::string name = std::filesystem::path(dashboard.tarball).filename().string();
    BUDA_ASSIGN(const auto bytes, host.fs().read(dashboard.tarball));
    files['/' + name] = bytes.view();
    download = name;
  }
  files["/data.js"] = served_data(std::move(dashboard.data), download);
  serve::Service service;
  service.address = o.address;
  service.port = static_cast<int>(o.port);
  service.answer = [&files](const std::string& path) -> serve::Answer {
    const auto found = files.find(path);
    if (found == files.end()) return {.status = 404, .body = "there is no such file in the profile\n"};
    return {.type = serve::content_type(path == "/" ? ".html" : path), .body = found->second};
  };
  service.ready = [&](int port) {
    cli::end_well_when_interrupted();
    host.log(0, cat("http://", o.address, ':', port, "/ shows the dashboard; Ctrl-C ends it"));
  };
  return outside.serve(service);
}

// All files of a folder and the folders in it, by their paths in it, but for what lies in `out`: results of earlier calls.
Result<void> add_folder(const std::string& folder, const std::string& inside, const std::string& out, Products& products, Host& host) {
  if (host.fs().canonical(folder) == out) return success();
  BUDA_ASSIGN(const auto names, host.fs().list(folder));
  for (const std::string& name : names) {
    if (name == io::kFileList) continue;
    const std::string path = cat(folder, '/', name), member = inside.empty() ? name : cat(inside, '/', name);
    if (host.fs().is_directory(path)) {
      BUDA_TRY(add_folder(path, member, out, products, host));
    } else if (image::is_safe_name(member)) {
      BUDA_ASSIGN(auto bytes, host.fs().read(path));
      products.add_member(member, std::move(bytes));
    }
  }
  return success();
}

// Names of zones, which lie beside a log whose kernels have any.
Result<std::optional<io::Bytes>> read_zones(const std::string& log, Host& host) {
  const std::string path = (std::filesystem::path(log).parent_path() / kZones).string();
  if (!host.fs().exists(path)) return std::optional<io::Bytes>();
  BUDA_ASSIGN(auto bytes, host.fs().read(path));
  return std::optional(std::move(bytes));
}

}  // namespace

Result<void> profile_device(const Options& o, const Outside& outside, Host& host) {
  BUDA_TRY(check_name(o));
  // A file that is named may be whatever its user wants, such as a FIFO.
  const bool is_folder = host.fs().is_directory(o.input);
  io::FolderHost in_folder(host, o.input);
  Host& reader = is_folder ? in_folder : host;
  const std::string path = is_folder ? cat(o.input, '/', kDeviceLog) : o.input;
  if (is_folder) BUDA_TRY(io::require_whole(reader.fs(), o.input));
  host.progress("reading the log", 0, 0);
  BUDA_ASSIGN(const auto bytes, reader.fs().read(path));
  BUDA_ASSIGN(const DeviceLog log, parse_device_log(bytes.view(), path));
  host.progress("computing figures", 0, 0);
  BUDA_ASSIGN(const auto zones_file, read_zones(path, reader));
  ZoneNames zones;
  if (zones_file) {
    BUDA_ASSIGN(zones, parse_zone_names(zones_file->view(), kZones));
  }
  const std::vector<Analysis> all = analyses_of(log, zones);
  const std::string stats = stats_text(log, zones, all);
  host.progress("writing", 0, 1);
  Products products(o, outside, "device", host);
  BUDA_TRY(products.begin());
  BUDA_TRY(products.write(products.name("device_stats", ".txt"), stats));
  BUDA_TRY(products.write(products.name("device_rearranged_timestamps", ".csv"), timestamps_csv(log)));
  io::Node data;
  if (!o.no_plots || !o.no_webapp) data = device_page(log, zones, all);
  if (!o.no_plots) {
    BUDA_ASSIGN(const PageCode code, read_page_code(host));
    BUDA_TRY(products.write(products.name("device_perf", ".html"), whole_page(code, data)));
  }
  std::string tarball;
  if (!o.no_artifacts) {
    products.add_member(kDeviceLog, bytes);
    if (zones_file) products.add_member(kZones, *zones_file);
    BUDA_ASSIGN(tarball, products.write_archive(products.name("device_perf_results", ".tar")));
  }
  BUDA_TRY(products.commit());
  host.progress("writing", 1, 1);
  if (!o.no_print_stats) BUDA_TRY(host.fs().write(std::string(io::kStdStream), stats));
  return o.no_webapp ? success() : show({std::move(data), tarball}, o, outside, host);
}

Result<void> profile_ops(const Options& o, const Outside& outside, Host& host) {
  BUDA_TRY(check_name(o));
  const std::string path = cat(o.input, '/', kOpsReport, ".csv");
  io::FolderHost in_folder(host, o.input);
  BUDA_TRY(io::require_whole(in_folder.fs(), o.input));
  BUDA_ASSIGN(const auto bytes, in_folder.fs().read(path));
  BUDA_ASSIGN(const OpsReport report, parse_ops_report(bytes.view(), path));
  Products products(o, outside, "ops", host);
  BUDA_TRY(products.begin());
  BUDA_TRY(products.write(products.name(kOpsReport, ".csv"), std::string(bytes.view())));
  // The archive is that of the run.
  products.forget_members();
  BUDA_TRY(add_folder(o.input, "", host.fs().canonical(o.output), products, in_folder));
  BUDA_ASSIGN(const std::string tarball, products.write_archive(products.name(kOpsReport, ".tar")));
  BUDA_TRY(products.commit());
  return o.webapp ? show({ops_page(report), tarball}, o, outside, host) : success();
}

}  // namespace buda::profiler
