// SPDX-License-Identifier: Apache-2.0
// One device, a session for each model.
#include <buda/runtime/merged_session.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/image/device_match.hpp>
#include <buda/runtime/device/open_device.hpp>

#include <algorithm>
#include <utility>

namespace buda::runtime {

Result<std::unique_ptr<MergedSession>> MergedSession::open(MergedModel models, Target& target, const device::DeviceDescriptor& descriptor,
                                                           Host& host) {
  if (models.whole.device) BUDA_TRY(image::check_same_device(*models.whole.device, descriptor, models.whole.path));
  std::shared_ptr<Device> device;
  if (std::any_of(models.models.begin(), models.models.end(), [](const Model& m) { return m.uses_device(); })) {
    BUDA_ASSIGN(device, open_device(models.whole, target, descriptor, host));
  }
  auto out = std::make_unique<MergedSession>();
  for (Model& model : models.models) {
    Entry entry{model.plan.model, nullptr};
    BUDA_ASSIGN(entry.session, Session::open_on(std::move(model), device, host));
    out->entries_.push_back(std::move(entry));
  }
  return out;
}

std::vector<std::string> MergedSession::models() const {
  std::vector<std::string> out;
  for (const Entry& e : entries_) out.push_back(e.name);
  return out;
}

Result<Session*> MergedSession::session(const std::string& model) {
  for (Entry& e : entries_)
    if (e.name == model) return e.session.get();
  Diagnostic d = input_error("RT003", {}, cat("the image has no model '", model, "'; it holds ", join(models(), ", ")));
  if (auto near = nearest_word(model, models())) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<NamedTensors> MergedSession::run(const std::string& model, const NamedTensors& inputs) {
  BUDA_ASSIGN(Session * one, session(model));
  return one->run(inputs);
}

}  // namespace buda::runtime
