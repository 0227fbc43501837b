// SPDX-License-Identifier: Apache-2.0
// Runs a model with an implementation that is not ours: node reference.js PACKAGES MODEL FOLDER [describe]
//
// PACKAGES is the node_modules folder that holds the implementations. FOLDER holds inputs.json, a list of {name, type, shape, file}, and the files that it names: the elements, row by row, in the machine's order of bytes.
// What the model gives is written beside them, listed in outputs.json in the same way. With `describe`, the model's inputs and outputs are printed instead.
'use strict';
const fs = require('fs');
const path = require('path');

const arrays = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, bool: Uint8Array,
};

function readTensors(folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'inputs.json'), 'utf8')).map((tensor) => {
    const bytes = fs.readFileSync(path.join(folder, tensor.file));
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    return { ...tensor, data: new arrays[tensor.type](buffer) };
  });
}

function writeTensors(folder, tensors) {
  const list = tensors.map(({ name, type, shape, data }, index) => {
    const file = `output${index}.bin`;
    fs.writeFileSync(path.join(folder, file), Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return { name, type, shape, file };
  });
  fs.writeFileSync(path.join(folder, 'outputs.json'), JSON.stringify(list));
}

const describeOnnx = (values) => values.map(({ name, type, shape }) => ({ name, type, shape }));

async function openOnnx(packages, model) {
  const ort = require(path.join(packages, 'onnxruntime-node'));
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3, intraOpNumThreads: 1, interOpNumThreads: 1 });
  return {
    inputs: describeOnnx(session.inputMetadata),
    outputs: describeOnnx(session.outputMetadata),
    async run(tensors) {
      const feeds = Object.fromEntries(tensors.map((t) => [t.name, new ort.Tensor(t.type, t.data, t.shape)]));
      const results = await session.run(feeds);
      return session.outputNames.map((name) => ({ name, type: results[name].type, shape: Array.from(results[name].dims), data: results[name].data }));
    },
  };
}

// A list of embind holds its elements by number.
const elements = (list) => Array.from({ length: list.size() }, (_, index) => list.get(index));

const describeTflite = (values) => values.map(({ name, dataType, shape }) => ({ name, type: dataType, shape: shape === '' ? [] : shape.split(',').map(Number) }));

async function openTflite(packages, model) {
  const folder = path.join(packages, '@tensorflow', 'tfjs-tflite', 'wasm');
  const create = require(path.join(folder, 'tflite_web_api_cc_simd.js'));
  const module = await create({ wasmBinary: fs.readFileSync(path.join(folder, 'tflite_web_api_cc_simd.wasm')), print() {}, printErr() {} });
  const bytes = fs.readFileSync(model);
  const address = module._malloc(bytes.length);
  module.HEAPU8.set(bytes, address);
  const made = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(address, bytes.length, { numThreads: -1, enableProfiling: false, maxProfilingBufferEntries: 1 });
  if (!made.ok()) throw new Error(made.errorMessage());
  const runner = made.value();
  return {
    inputs: describeTflite(elements(runner.GetInputs())),
    outputs: describeTflite(elements(runner.GetOutputs())),
    async run(tensors) {
      for (const input of elements(runner.GetInputs())) {
        const tensor = tensors.find((t) => t.name === input.name);
        if (!tensor) throw new Error(`no value for input '${input.name}'`);
        if (tensor.data.length !== input.data().length) throw new Error(`input '${input.name}' has shape ${input.shape}`);
        input.data().set(tensor.data);
      }
      if (!runner.Infer()) throw new Error('TensorFlow Lite could not run the model');
      const values = elements(runner.GetOutputs());
      return describeTflite(values).map((output, index) => ({ ...output, data: values[index].data().slice() }));
    },
  };
}

function readTfjs(model) {
  const read = JSON.parse(fs.readFileSync(model, 'utf8'));
  const bytes = Buffer.concat(read.weightsManifest.flatMap((group) => group.paths.map((file) => fs.readFileSync(path.join(path.dirname(model), file)))));
  const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return { modelTopology: read.modelTopology, signature: read.signature, weightSpecs: read.weightsManifest.flatMap((group) => group.weights), weightData };
}

const describeTfjs = (values) => values.map(({ name, dtype, shape }) => ({ name, type: dtype, shape }));

async function openTfjs(packages, model) {
  const load = (name) => require(path.join(packages, '@tensorflow', name));
  console.warn = () => {}; // it advertises faster implementations
  const tf = load('tfjs-core');
  load('tfjs-backend-cpu');
  const graph = await load('tfjs-converter').loadGraphModel({ load: async () => readTfjs(model) });
  return {
    inputs: describeTfjs(graph.inputs),
    outputs: describeTfjs(graph.outputs),
    async run(tensors) {
      const feeds = Object.fromEntries(tensors.map((t) => [t.name, tf.tensor(t.data, t.shape, t.type)]));
      const names = graph.outputs.map((output) => output.name);
      const results = graph.execute(feeds, names);
      return [results].flat().map((result, index) => ({ name: names[index], type: result.dtype, shape: result.shape, data: result.dataSync() }));
    },
  };
}

async function main([packages, model, folder, command]) {
  const open = { '.tflite': openTflite, '.json': openTfjs }[path.extname(model)] || openOnnx;
  const opened = await open(path.resolve(packages), path.resolve(model));
  if (command === 'describe') {
    console.log(JSON.stringify({ inputs: opened.inputs, outputs: opened.outputs }));
    return;
  }
  writeTensors(folder, await opened.run(readTensors(folder)));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
