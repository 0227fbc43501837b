#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Train the digits models, a perceptron and a convolutional one, and write everything the example needs.

    train.py [OUT_DIR]        default: the folder of this script

Data: the 1,797 handwritten digits of 8x8 pixels that come with scikit-learn; every fifth is held out for testing. Written:
    digits.onnx               the perceptron: input "image" [64, 64] (a batch of 64 images of 64 pixels), output "probabilities" [64, 10]
    digits.images.npz         "image": the held-out images, float32 [360, 64], pixels from 0 to 1
    digits.labels.npz         "label": what they show, int64 [360]
    digits.expected.npz       "probabilities": PyTorch's outputs for them, float32 [360, 10]
    digits.train.images.npz   "image": the images that are trained on, float32 [1437, 64], and
    digits.train.labels.npz   "label": what they show (docs/tutorial/training.md)
    digits-conv.onnx          the convolutional model: input "image" [8, 1, 8, 8], output "probabilities" [8, 10]
    digits-conv.images.npz    the held-out images once more, float32 [360, 1, 8, 8]
    digits-conv.expected.npz  "probabilities": PyTorch's outputs for them
Needs Debian's python3-torch, python3-sklearn and python3-onnx, and so Debian's own /usr/bin/python3. The seed is fixed.
"""
import pathlib
import sys
import warnings
from collections import OrderedDict

warnings.filterwarnings("ignore")

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from torch import nn


def data():
    digits = load_digits()
    images = (digits.data / 16.0).astype(np.float32)
    held_out = np.arange(len(images)) % 5 == 0
    return images[~held_out], digits.target[~held_out], images[held_out], digits.target[held_out]


def perceptron():
    return nn.Sequential(OrderedDict(hidden1=nn.Linear(64, 128), relu1=nn.ReLU(), hidden2=nn.Linear(128, 64), relu2=nn.ReLU(),
                                     logits=nn.Linear(64, 10), probabilities=nn.Softmax(-1)))


def convolutional():
    return nn.Sequential(OrderedDict(conv1=nn.Conv2d(1, 8, 3, padding=1), relu1=nn.ReLU(), pool1=nn.MaxPool2d(2),
                                     conv2=nn.Conv2d(8, 16, 3, padding=1), relu2=nn.ReLU(), pool2=nn.MaxPool2d(2), flatten=nn.Flatten(),
                                     logits=nn.Linear(64, 10), probabilities=nn.Softmax(-1)))


def train(make, images, labels):
    torch.manual_seed(1)
    model = make()
    logits = model[:-1]
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    for _ in range(60):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.eval()


def save(model, name, batch, images, labels, out):
    with torch.no_grad():
        expected = model(torch.from_numpy(images)).numpy()
    torch.onnx.export(model, torch.zeros(batch, *images.shape[1:]), str(out / f"{name}.onnx"), opset_version=13,
                      input_names=["image"], output_names=["probabilities"])
    onnx.checker.check_model(str(out / f"{name}.onnx"))
    np.savez_compressed(out / f"{name}.images.npz", image=images)
    np.savez_compressed(out / f"{name}.expected.npz", probabilities=expected)
    accuracy = (expected.argmax(1) == labels).mean()
    print(f"{name}: {len(images)} held-out images, accuracy {accuracy:.2%}")


def main(out):
    train_images, train_labels, test_images, test_labels = data()
    np.savez_compressed(out / "digits.labels.npz", label=test_labels.astype(np.int64))
    np.savez_compressed(out / "digits.train.images.npz", image=train_images)
    np.savez_compressed(out / "digits.train.labels.npz", label=train_labels.astype(np.int64))
    save(train(perceptron, train_images, train_labels), "digits", 64, test_images, test_labels, out)
    save(train(convolutional, train_images.reshape(-1, 1, 8, 8), train_labels), "digits-conv", 8, test_images.reshape(-1, 1, 8, 8), test_labels, out)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent)
