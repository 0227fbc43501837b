// SPDX-License-Identifier: Apache-2.0
// Stream programs on their way into a device.
#include "fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/runtime/streams.hpp>
#include "unit/pipes/interchip/two_chips.hpp"

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFirst = "temporal_epoch_0/overlay/blob.json";

class Streams : public testing::Test {
 protected:
  Streams() { program_.netlist = parsed(pipes::two_chips()); }

  Result<void> complete(const Products& products, Needs needs = {.streams = true}) {
    return complete_program(program_, needs, products, device_, pipes::source_host());
  }
  // What is made when there are no products.
  Products made() {
    EXPECT_TRUE(complete({}));
    Products out{"m.tti", {}};
    if (!program_.epochs.empty()) out.files.emplace(kFirst, io::Bytes(overlay::blob_text(*program_.epochs[0].blob)));
    program_.epochs.clear();
    return out;
  }

  const device::DeviceDescriptor& device_ = pipes::shipped("n300");
  Program program_;
};

TEST_F(Streams, AreMadeFromTheNetlistWhereThereAreNone) {
  auto done = complete({});
  ASSERT_TRUE(done) << error_of(done);
  ASSERT_EQ(program_.epochs.size(), 1u);
  EXPECT_EQ(program_.epochs[0].number, 0);
  EXPECT_EQ(program_.epochs[0].graphs, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(program_.epochs[0].blob->graphs, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(program_.epochs[0].blob->cores.empty());
}

TEST_F(Streams, AreMadeForTheLinksOfTheImage) {
  // The netlist names channels 8 and 9 of n300; an image's own cluster is looked at instead of the device's.
  const auto fails = [&](const std::string& text) {
    auto done = complete({"m.tti", {{kClusterProduct, io::Bytes(text)}}});
    return done ? std::string() : cat(done.failure().diagnostics().front().loc.file, ": ", error_of(done));
  };
  auto own = device::load_cluster(pipes::source_host(), device_);
  ASSERT_TRUE(own);
  ASSERT_TRUE(complete({"m.tti", {{kClusterProduct, io::Bytes(device::cluster_text(*own))}}}));
  ASSERT_FALSE(program_.epochs.empty());
  const std::string same = overlay::blob_text(*program_.epochs[0].blob);
  program_.epochs.clear();
  EXPECT_EQ(made().files.at(kFirst).view(), same) << "what the image holds is the device's";
  own->links.front().channel = 99;
  EXPECT_THAT(fails(device::cluster_text(*own)), HasSubstr("m.tti:cluster_desc.yaml: DV030"));
  EXPECT_THAT(fails("schema: buda.cluster/1\nbase: wormhole_b0\n"), HasSubstr("DV003"));
}

TEST_F(Streams, AreReadFromProducts) {
  const Products products = made();
  auto done = complete(products);
  ASSERT_TRUE(done) << error_of(done);
  ASSERT_EQ(program_.epochs.size(), 1u);
  EXPECT_EQ(overlay::blob_text(*program_.epochs[0].blob), products.files.at(kFirst).view());
  // What is there is not looked for again.
  const auto* blob = program_.epochs[0].blob.get();
  ASSERT_TRUE(complete({"elsewhere", {{kFirst, io::Bytes(std::string("{"))}}}));
  EXPECT_EQ(program_.epochs[0].blob.get(), blob);
}

TEST_F(Streams, AreLeftAloneWhenTheTargetNeedsNone) {
  ASSERT_TRUE(complete({"m.tti", {{kFirst, io::Bytes(std::string("no JSON"))}}}, {}));
  EXPECT_THAT(program_.epochs, IsEmpty());
}

TEST_F(Streams, BadOnesAreReportedWithFileAndLine) {
  Products products = made();
  std::string text(products.files.at(kFirst).view());
  const auto at = text.find("\"kind\"");
  ASSERT_NE(at, std::string::npos);
  products.files[kFirst] = io::Bytes(text.replace(at, 6, "\"kynd\""));
  auto failed = complete(products);
  ASSERT_FALSE(failed);
  const Diagnostic& d = failed.failure().diagnostics().front();
  EXPECT_EQ(d.loc.file, "m.tti:temporal_epoch_0/overlay/blob.json");
  EXPECT_EQ(d.loc.line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  EXPECT_THAT(program_.epochs, IsEmpty());
}

TEST_F(Streams, OfAnotherNetlistAreRefused) {
  Products products = made();
  products.files.emplace("temporal_epoch_7/overlay/blob.json", products.files.at(kFirst));
  EXPECT_THAT(error_of(complete(products)), HasSubstr("RT041: the netlist has 1 temporal epoch, and this is of none"));
  products = {"m.tti", {{"temporal_epoch_1/overlay/blob.json", io::Bytes()}}};
  EXPECT_THAT(error_of(complete(products)), HasSubstr("RT041"));
  products = made();
  // Another netlist with as many epochs.
  std::string other = pipes::two_chips();
  other.replace(other.find("  a:\n") + 2, 1, "first");
  other.replace(other.find("graph_name: a,") + 12, 1, "first");
  program_.netlist = parsed(other);
  EXPECT_THAT(error_of(complete(products)), HasSubstr("RT041: it is of graphs a, b; temporal epoch 0 of the netlist has first, b"));
}

TEST_F(Streams, OfAnotherPlacementAreRefused) {
  const Products products = made();
  for (const auto& [what, with, says] :
       {std::tuple("grid_loc: [0, 0]", "grid_loc: [3, 4]", "on core [0, 0] of chip 0, where the netlist does not have it"),
        std::tuple("[0, 4], grid_size: [1, 1]", "[0, 4], grid_size: [2, 1]", "op 'h' on 1 core, and the netlist on 2"),
        std::tuple("536870912", "545259520", "where the netlist has none")}) {
    std::string other = pipes::two_chips();
    const auto at = other.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    program_.netlist = parsed(other.replace(at, std::string(what).size(), with));
    program_.epochs.clear();
    EXPECT_THAT(error_of(complete(products)), HasSubstr(says)) << what;
  }
}

TEST(ProductsOfFolder, AreStreamProgramsByEpoch) {
  TestHost host;
  host.files.put("p/temporal_epoch_0/overlay/blob.json", "0");
  host.files.put("p/temporal_epoch_12/overlay/blob.json", "12");
  host.files.put("p/temporal_epoch_1/overlay/pipes.json", "no stream program");
  host.files.put("p/padding_table.yaml", "");
  auto products = read_products(host.files, "p");
  ASSERT_TRUE(products) << error_of(products);
  EXPECT_EQ(products->where, "p");
  EXPECT_EQ(products->files.size(), 2u);
  EXPECT_EQ(products->files.at("temporal_epoch_12/overlay/blob.json").view(), "12");
  host.files.put("q/padding_table.yaml", "");
  EXPECT_THAT(error_of(read_products(host.files, "q")), HasSubstr("RT040: the folder has no stream programs"));
}

class StreamTarget final : public Target {
 public:
  Result<std::unique_ptr<Device>> open(const Program& program, const device::DeviceDescriptor& device, Host& host) override {
    epochs = program.epochs.size();
    return inner.open(program, device, host);
  }
  Needs needs() const override { return {.streams = true}; }
  FakeTarget inner;
  std::size_t epochs = 0;
};

TEST(ProgramOfSession, HasWhatTheTargetNeeds) {
  StreamTarget target;
  auto session = Session::open(model(), target, pipes::shipped("n150"), pipes::source_host());
  ASSERT_TRUE(session) << error_of(session);
  EXPECT_EQ(target.epochs, 1u);
  Model broken = model();
  broken.products = {"m.tti", {{kFirst, io::Bytes(std::string("{"))}}};
  auto failed = Session::open(std::move(broken), target, pipes::shipped("n150"), pipes::source_host());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure().diagnostics().front().loc.file, "m.tti:temporal_epoch_0/overlay/blob.json");
}

}  // namespace
}  // namespace buda::runtime::test
