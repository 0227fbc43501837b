#!/usr/bin/python3
"""Train the digits perceptron and write everything the example needs.

    train.py [OUT_DIR]        default: the folder of this script

Data: the 1,797 handwritten digits of 8x8 pixels that come with scikit-learn; every fifth is held out for testing. Written:
    digits.onnx             the model: input "image" [64, 64] (a batch of 64 images of 64 pixels), output "probabilities" [64, 10]
    digits.images.npz       "image": the held-out images, float32 [360, 64], pixels from 0 to 1
    digits.labels.npz       "label": what they show, int64 [360]
    digits.expected.npz     "probabilities": PyTorch's outputs for them, float32 [360, 10]
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

BATCH = 64


def data():
    digits = load_digits()
    images = (digits.data / 16.0).astype(np.float32)
    held_out = np.arange(len(images)) % 5 == 0
    return images[~held_out], digits.target[~held_out], images[held_out], digits.target[held_out]


def train(images, labels):
    torch.manual_seed(1)
    model = nn.Sequential(OrderedDict(hidden1=nn.Linear(64, 128), relu1=nn.ReLU(), hidden2=nn.Linear(128, 64), relu2=nn.ReLU(),
                                      logits=nn.Linear(64, 10), probabilities=nn.Softmax(-1)))
    logits = model[:-1]
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    for _ in range(60):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.eval()


def save(model, images, labels, out):
    with torch.no_grad():
        expected = model(torch.from_numpy(images)).numpy()
    torch.onnx.export(model, torch.zeros(BATCH, 64), str(out / "digits.onnx"), opset_version=13,
                      input_names=["image"], output_names=["probabilities"])
    onnx.checker.check_model(str(out / "digits.onnx"))
    np.savez_compressed(out / "digits.images.npz", image=images)
    np.savez_compressed(out / "digits.labels.npz", label=labels.astype(np.int64))
    np.savez_compressed(out / "digits.expected.npz", probabilities=expected)
    accuracy = (expected.argmax(1) == labels).mean()
    print(f"{len(images)} held-out images, accuracy {accuracy:.2%}")


if __name__ == "__main__":
    out_dir = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    train_images, train_labels, test_images, test_labels = data()
    save(train(train_images, train_labels), test_images, test_labels, out_dir)
