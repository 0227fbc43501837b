// SPDX-License-Identifier: Apache-2.0
// Convolutions by oneDNN.
//
// oneDNN's fast kernels want values in blocks of 8 or 16 channels, so that a call is: reorder the weights, reorder the input, convolve,
// reorder the output. The reorders cost a few percent of the convolutions of a ResNet; to keep values blocked between nodes would save
// them, and would make every other op know about blocks.
//
// Threads. The work is cut into pieces that depend on the shape alone, one sample and a quarter of the output channels at most, and each
// piece runs on one thread (one_openmp_thread.hpp says why).
//
// oneDNN keeps primitives (generated code) by their shape in a cache of its own, so that a network's repeated layers are generated once.
#include <buda/ops/dnnl/convolution.hpp>

#include <buda/base/parallel.hpp>
#include <buda/ops/dnnl/one_openmp_thread.hpp>

#include <dnnl.hpp>

#include <algorithm>
#include <new>
#include <unordered_map>
#include <vector>

namespace buda::ops {
namespace {

using dnnl::memory;
using Dims = memory::dims;

// Samples that keep two or more threads busy anyway; then channels stay together.
constexpr std::int64_t kManySamples = 4;
constexpr std::int64_t kMaxPieces = 4;
constexpr std::int64_t kMinChannels = 64;   // of a piece
constexpr std::int64_t kChannelBlock = 16;  // oneDNN's, with AVX-512

std::int64_t channel_pieces(const ConvShape& s) {
  if (s.groups != 1 || s.samples >= kManySamples) return 1;
  for (std::int64_t pieces = kMaxPieces; pieces > 1; --pieces)
    if (s.out_channels % (pieces * kChannelBlock) == 0 && s.out_channels / pieces >= kMinChannels) return pieces;
  return 1;
}

memory::format_tag row_major(std::size_t axes) {
  constexpr memory::format_tag kTags[] = {memory::format_tag::a,    memory::format_tag::ab,    memory::format_tag::abc,
                                          memory::format_tag::abcd, memory::format_tag::abcde, memory::format_tag::abcdef};
  return kTags[axes - 1];
}

memory::desc plain(const Dims& dims) { return {dims, memory::data_type::f32, row_major(dims.size())}; }
memory::desc open(const Dims& dims) { return {dims, memory::data_type::f32, memory::format_tag::any}; }

class Conv {
 public:
  Conv(const ConvShape& shape, const float* x, const float* weights, const float* bias, float* y)
      : shape_(shape), x_(x), weights_(weights), bias_(bias), y_(y), engine_(dnnl::engine::kind::cpu, 0), pieces_(channel_pieces(shape)) {
    set_dims();
    OneOpenMpThread one;
    descriptor_ = make_descriptor();
    primitive_ = dnnl::convolution_forward(descriptor_);
  }

  void run(unsigned threads) {
    std::vector<memory> inputs(static_cast<std::size_t>(shape_.samples)), weights(static_cast<std::size_t>(pieces_));
    parallel_for(threads, inputs.size() + weights.size(), [&](std::size_t i) {
      OneOpenMpThread one;
      dnnl::stream stream(engine_);
      if (i < weights.size()) {
        weights[i] = reordered(stream, plain(weights_dims_), descriptor_.weights_desc(), weights_ + i * volume(weights_dims_));
      } else {
        std::size_t n = i - weights.size();
        inputs[n] = reordered(stream, plain(in_dims_), descriptor_.src_desc(), x_ + n * volume(in_dims_));
      }
    });
    parallel_for(threads, inputs.size() * weights.size(),
                 [&](std::size_t i) { piece(inputs[i / weights.size()], weights[i % weights.size()], i, i % weights.size()); });
  }

 private:
  static std::size_t volume(const Dims& dims) {
    std::size_t v = 1;
    for (auto d : dims) v *= static_cast<std::size_t>(d);
    return v;
  }

  void set_dims() {
    channels_ = shape_.out_channels / pieces_;
    in_dims_ = {1, shape_.in_channels};
    out_dims_ = {1, channels_};
    if (shape_.groups == 1)
      weights_dims_ = {channels_, shape_.in_channels};
    else
      weights_dims_ = {shape_.groups, channels_ / shape_.groups, shape_.in_channels / shape_.groups};
    for (std::size_t i = kMaxSpatialAxes - shape_.rank; i < kMaxSpatialAxes; ++i) {
      const WindowAxis& a = shape_.window.axes[i];
      in_dims_.push_back(a.in);
      out_dims_.push_back(a.out);
      weights_dims_.push_back(a.kernel);
      strides_.push_back(a.stride);
      dilations_.push_back(a.dilation - 1);
      before_.push_back(a.before);
      after_.push_back(a.after);
    }
  }

  dnnl::convolution_forward::primitive_desc make_descriptor() const {
    using Forward = dnnl::convolution_forward;
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto how = dnnl::algorithm::convolution_direct;
    auto desc = bias_ == nullptr
                    ? Forward::desc(kind, how, open(in_dims_), open(weights_dims_), open(out_dims_), strides_, dilations_, before_, after_)
                    : Forward::desc(kind, how, open(in_dims_), open(weights_dims_), plain({channels_}), open(out_dims_), strides_,
                                    dilations_, before_, after_);
    // oneDNN's own scratch memory belongs to the thread that made the primitive; others than that one run it too.
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return {desc, attr, engine_};
  }

  // The memory at `data` in the wanted layout; not copied where it has it.
  memory reordered(dnnl::stream& stream, const memory::desc& have, const memory::desc& want, const float* data) const {
    memory from(have, engine_, const_cast<float*>(data));
    if (have == want) return from;
    memory to(want, engine_);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return to;
  }

  // Result `i` in the order of samples, then pieces of channels.
  void piece(memory& in, memory& weights, std::size_t i, std::size_t part) {
    OneOpenMpThread one;
    dnnl::stream stream(engine_);
    memory result(plain(out_dims_), engine_, y_ + i * volume(out_dims_));
    bool direct = descriptor_.dst_desc() == result.get_desc();
    memory out = direct ? result : memory(descriptor_.dst_desc(), engine_);
    std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, in},
                                              {DNNL_ARG_WEIGHTS, weights},
                                              {DNNL_ARG_DST, out},
                                              {DNNL_ARG_SCRATCHPAD, memory(descriptor_.scratchpad_desc(), engine_)}};
    if (bias_ != nullptr)
      arguments.emplace(DNNL_ARG_BIAS,
                        memory(plain({channels_}), engine_, const_cast<float*>(bias_ + part * static_cast<std::size_t>(channels_))));
    primitive_.execute(stream, arguments);
    if (!direct) dnnl::reorder(out, result).execute(stream, out, result);
    stream.wait();
  }

  const ConvShape& shape_;
  const float* x_;
  const float* weights_;
  const float* bias_;
  float* y_;
  dnnl::engine engine_;
  std::int64_t pieces_;    // of output channels
  std::int64_t channels_;  // of a piece
  Dims in_dims_, weights_dims_, out_dims_, strides_, dilations_, before_, after_;
  dnnl::convolution_forward::primitive_desc descriptor_;
  dnnl::convolution_forward primitive_;
};

}  // namespace

bool conv_by_dnnl(const ConvShape& shape, const float* x, const float* weights, const float* bias, float* y, unsigned threads) {
  try {
    Conv(shape, x, weights, bias, y).run(threads);
    return true;
  } catch (const dnnl::error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace buda::ops
