// SPDX-License-Identifier: Apache-2.0
// Channels in shared memory; the test plays the process that runs the image. (tests/robustness/shared_io has real ones.)
#include "fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/runtime/shared/shared_channel.hpp>
#include <buda/runtime/shared_io.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>

namespace buda::runtime::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

NamedTensors batch(const std::string& name, float value) { return {{name, Tensor(Shape{2}, std::vector<float>{value, value + 1})}}; }

class SharedIoTest : public testing::Test {
 protected:
  void SetUp() override {
    auto channel = SharedChannel::create(name_, {{{{"x", DType::f32, Shape{2}}}, {{"y", DType::f32, Shape{2}}}}}, 2);
    ASSERT_TRUE(channel) << error_of(channel);
    runtime_ = std::move(*channel);
    runtime_->enter(Party::runtime);
  }
  std::unique_ptr<SharedIo> attached(IoRole role) {
    auto io = SharedIo::attach(name_, role, 1s);
    EXPECT_TRUE(io) << error_of(io);
    return std::move(*io);
  }

  const std::string name_ = cat("openbuda-unit-", getpid());
  std::unique_ptr<SharedChannel> runtime_;
};

TEST_F(SharedIoTest, BatchesPassInOrderAndPushesWaitForRoom) {
  auto pusher = attached(IoRole::push), popper = attached(IoRole::pop);
  EXPECT_EQ(pusher->inputs().front().name, "x");
  EXPECT_EQ(popper->outputs().front().shape, (Shape{2}));
  ASSERT_TRUE(pusher->push(batch("x", 1)));
  ASSERT_TRUE(pusher->push({{"x", batch("x", 2).at("x").cast(DType::f64)}}));
  EXPECT_THAT(error_of(pusher->push(batch("x", 3), 0ms)), HasSubstr("RT050: the shared memory has no room for a batch"));
  EXPECT_EQ(*runtime_->read(Way::in), batch("x", 1));
  ASSERT_TRUE(pusher->push(batch("x", 3), 0ms));
  EXPECT_EQ(*runtime_->read(Way::in), batch("x", 2));
  EXPECT_EQ(*runtime_->read(Way::in), batch("x", 3));
  EXPECT_THAT(error_of(popper->pop(0ms)), HasSubstr("RT051: no batch came in time"));
  runtime_->write(Way::out, batch("y", 7));
  runtime_->finish();
  EXPECT_EQ(**popper->pop(), batch("y", 7));
  auto end = popper->pop();
  ASSERT_TRUE(end) << error_of(end);
  EXPECT_FALSE(end->has_value());
  EXPECT_THAT(error_of(popper->push(batch("x", 1))), HasSubstr("RT080: this process does not push"));
  EXPECT_THAT(error_of(pusher->push(batch("z", 1))), HasSubstr("RT020: there is no input 'z'; there are 'x' F32 [2]"));
}

TEST_F(SharedIoTest, WhatWasCompleteComesBeforeTheFailure) {
  auto io = attached(IoRole::both);
  runtime_->write(Way::out, batch("y", 7));
  runtime_->fail("op 'mm' is sad");
  EXPECT_EQ(**io->pop(), batch("y", 7));
  EXPECT_THAT(error_of(io->pop()), HasSubstr("RT082: the process that runs the image has failed: op 'mm' is sad"));
  EXPECT_THAT(error_of(io->push(batch("x", 1))), HasSubstr("RT082"));
}

TEST_F(SharedIoTest, TheEndOfAProcessIsNoticed) {
  auto io = attached(IoRole::both);
  EXPECT_FALSE(runtime_->has_died(Party::pusher));
  io.reset();
  EXPECT_TRUE(runtime_->has_died(Party::pusher));
  EXPECT_TRUE(runtime_->has_died(Party::popper));
  runtime_.reset();
  SetUp();
  io = attached(IoRole::both);
  io->close();
  EXPECT_EQ(runtime_->presence(Party::pusher), Presence::closed);
  EXPECT_FALSE(runtime_->has_died(Party::pusher));
  runtime_.reset();
  EXPECT_THAT(error_of(SharedIo::attach(name_, IoRole::both, 0ms)), HasSubstr("RT080: no process serves '"));
}

TEST_F(SharedIoTest, AProcessThatDiesIsToldOfByTheOthers) {
  auto io = attached(IoRole::both);
  runtime_.reset();
  EXPECT_THAT(error_of(io->pop()), HasSubstr("RT081: the process that runs the image has ended"));
  EXPECT_THAT(error_of(io->push(batch("x", 1))), HasSubstr("RT081"));
}

TEST_F(SharedIoTest, NamesAndRolesAreTakenOnce) {
  EXPECT_THAT(error_of(SharedChannel::create(name_, {}, 1)), HasSubstr("is in use by another process"));
  EXPECT_THAT(error_of(SharedChannel::create("a/b", {}, 1)), HasSubstr("IO040: shared memory 'a/b' cannot be called so"));
  auto io = attached(IoRole::push);
  EXPECT_THAT(error_of(SharedIo::attach(name_, IoRole::push, 0ms)), HasSubstr("RT080: another process pushes to '"));
  EXPECT_TRUE(SharedIo::attach(name_, IoRole::pop, 0ms));
}

TEST_F(SharedIoTest, OtherMemoryIsRefused) {
  const std::string name = name_ + "-other";
  auto small = io::SharedMemory::create(name, 16);
  ASSERT_TRUE(small) << error_of(small);
  EXPECT_THAT(error_of(SharedIo::attach(name, IoRole::both, 0ms)), HasSubstr("is too small"));
  small->reset();
  auto other = io::SharedMemory::create(name, 1 << 20);
  std::fill_n((*other)->data(), 1 << 20, std::byte{0x5a});
  EXPECT_THAT(error_of(SharedIo::attach(name, IoRole::both, 0ms)), HasSubstr("is not of an image that is served"));
  // The magic number and nothing else.
  std::fill_n((*other)->data(), 1 << 20, std::byte{0});
  auto valid = io::SharedMemory::open(name_);
  std::copy_n((*valid)->data(), 64, (*other)->data());
  EXPECT_FALSE(SharedIo::attach(name, IoRole::both, 0ms));
}

TEST_F(SharedIoTest, MemoryOfOthersIsRefused) {
  const int fd = shm_open(("/" + name_).c_str(), O_RDWR, 0);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(fchmod(fd, 0660), 0);
  EXPECT_THAT(error_of(SharedIo::attach(name_, IoRole::push, 0ms)),
              HasSubstr("IO040: shared memory '" + name_ + "' is open to other users, and is not used"));
  ASSERT_EQ(fchmod(fd, 0600), 0);
  EXPECT_TRUE(SharedIo::attach(name_, IoRole::push, 0ms));
  if (geteuid() == 0) {
    ASSERT_EQ(fchown(fd, 1, 1), 0);
    EXPECT_THAT(error_of(SharedIo::attach(name_, IoRole::pop, 0ms)), HasSubstr("belongs to user 1, and is not used"));
  }
  ::close(fd);
}

}  // namespace
}  // namespace buda::runtime::test
