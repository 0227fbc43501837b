// SPDX-License-Identifier: Apache-2.0
// The models of a merged image at work on one device.
//
//   BUDA_ASSIGN(auto image, image::read_image(bytes, "merged_model.tti"));
//   BUDA_ASSIGN(auto models, runtime::load_models("merged_model.tti", std::move(image)));
//   BUDA_ASSIGN(auto session, runtime::MergedSession::open(std::move(models), target, descriptor, host));
//   BUDA_ASSIGN(auto outputs, session->run("bert", {{"ids", ids}}));
#pragma once

#include <buda/runtime/session.hpp>

#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

class MergedSession {
 public:
  // Loads the whole netlist into one device, and the parameters of all models. Target and host must outlive the session.
  static Result<std::unique_ptr<MergedSession>> open(MergedModel models, Target& target, const device::DeviceDescriptor& descriptor,
                                                     Host& host);

  // In the order of the image.
  std::vector<std::string> models() const;
  // The session of one model, whose runs may come between those of the others in any order; RT003 for a name that is not there.
  Result<Session*> session(const std::string& model);
  Result<NamedTensors> run(const std::string& model, const NamedTensors& inputs);

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<Session> session;
  };
  std::vector<Entry> entries_;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
