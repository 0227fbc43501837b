// SPDX-License-Identifier: Apache-2.0
// TorchScript archives built in a test, without PyTorch: the zip file, its pickles and its code.
#pragma once

#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace buda::test {

//   TorchArchive m;
//   m.field("fc", m.object("__torch__.Linear", {{"weight", m.tensor(w)}}));
//   m.code("__torch__", "class M(Module):\n  fc : __torch__.Linear\n  def forward(self: …, x: Tensor) -> Tensor:\n …");
//   m.bytes();
// Fields are pieces of the pickle; the model's class is __torch__.M.
class TorchArchive {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  static std::string integer(std::int32_t value);
  static std::string text(const std::string& value);
  static std::string flag(bool value) { return value ? "\x88" : "\x89"; }
  static std::string object(const std::string& type, const Fields& fields);
  // Elements become a member of the archive.
  std::string tensor(const Tensor& tensor);
  // The same elements in another order: as views are saved.
  std::string tensor(const Tensor& storage, const std::vector<int>& sizes, const std::vector<int>& strides, int first = 0);

  TorchArchive& field(const std::string& name, std::string pickled);
  // The file of a module, "__torch__" or "__torch__.torch.nn".
  TorchArchive& code(const std::string& module, const std::string& text);
  // A method forward(self, <parameters>) of the model, whose body has lines of two spaces more.
  TorchArchive& forward(const std::string& parameters, const std::string& body, const std::string& fields = "");
  TorchArchive& member(const std::string& name, std::string content);
  std::map<std::string, std::string>& members() { return members_; }

  std::string pickle() const;
  // data.pkl is made of the fields unless it was given as a member.
  std::string bytes() const;

 private:
  std::map<std::string, std::string> members_;
  Fields fields_;
  int storages_ = 0;
};

}  // namespace buda::test
