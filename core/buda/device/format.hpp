// SPDX-License-Identifier: Apache-2.0
// The field tables of buda.device/1 (docs/formats/device.md).
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/schema/record.hpp>

// Device files write formats as netlists do: "Float16_b".
template <>
struct buda::schema::Codec<buda::DataFormat> {
  static void read(const io::Node& node, DataFormat& out, Reader& reader);
  static io::Node write(DataFormat value);
  static io::Node json_schema();
};

// "x-y".
template <>
struct buda::schema::Codec<buda::device::NocCoord> {
  static void read(const io::Node& node, device::NocCoord& out, Reader& reader);
  static io::Node write(device::NocCoord value);
  static io::Node json_schema();
};

namespace buda::device {

const schema::Record<NocSize>& describe(const NocSize*);
const schema::Record<Workers>& describe(const Workers*);
const schema::Record<DramChannel>& describe(const DramChannel*);
const schema::Record<HostWindow>& describe(const HostWindow*);
const schema::Record<Dram>& describe(const Dram*);
const schema::Record<HostMemory>& describe(const HostMemory*);
const schema::Record<L1Map>& describe(const L1Map*);
const schema::Record<DestRegister>& describe(const DestRegister*);
const schema::Record<Features>& describe(const Features*);
const schema::Record<StreamLimits>& describe(const StreamLimits*);
const schema::Record<CostError>& describe(const CostError*);
const schema::Record<CostOrigin>& describe(const CostOrigin*);
const schema::Record<StageCost>& describe(const StageCost*);
const schema::Record<KernelCost>& describe(const KernelCost*);
const schema::Record<AccumulationCost>& describe(const AccumulationCost*);
const schema::Record<MatmulUnpackCost>& describe(const MatmulUnpackCost*);
const schema::Record<MatmulCost>& describe(const MatmulCost*);
const schema::Record<SparseUnpackCost>& describe(const SparseUnpackCost*);
const schema::Record<SparseCost>& describe(const SparseCost*);
const schema::Record<CostParameters>& describe(const CostParameters*);
const schema::Record<DeviceDescriptor>& describe(const DeviceDescriptor*);

}  // namespace buda::device
