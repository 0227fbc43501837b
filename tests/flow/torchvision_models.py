#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One network of each of torchvision's families, as TorchScript: imported, evaluated on target cpu, and compared with PyTorch.

    torchvision_models.py --build BUILD_DIR [NAME ...]

Images are as small as the networks take them. Weights are random, with normalisations that do something. Skipped (77) without torchvision.
"""
import argparse
import functools
import os
import pathlib
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import slices  # noqa: E402
import torchscript  # noqa: E402  beside this file; ends with 77 without PyTorch

try:
    import torch
    import torchvision
    from torch import nn
    from torchvision.models.video import mvit
except ImportError:
    print("skipped: no torchvision")
    sys.exit(77)

warnings.filterwarnings("ignore")
IMAGE, CLIP = (1, 3, 64, 64), (1, 3, 8, 64, 64)
SEGMENTATION = {"weights_backbone": None}
# Of each family one: the shape of its input, and options of its constructor.
MODELS = {
    "alexnet": (IMAGE, {}),
    "convnext_tiny": (IMAGE, {}),
    "densenet121": (IMAGE, {}),
    "efficientnet_b0": (IMAGE, {}),
    "efficientnet_v2_s": (IMAGE, {}),
    "googlenet": (IMAGE, {"init_weights": False}),
    "inception_v3": ((1, 3, 96, 96), {"init_weights": False}),
    "maxvit_t": ((1, 3, 224, 224), {}),
    "mnasnet0_5": (IMAGE, {}),
    "mobilenet_v2": (IMAGE, {}),
    "mobilenet_v3_small": (IMAGE, {}),
    "regnet_x_400mf": (IMAGE, {}),
    "regnet_y_400mf": (IMAGE, {}),
    "resnet18": (IMAGE, {}),
    "resnext50_32x4d": (IMAGE, {}),
    "shufflenet_v2_x0_5": (IMAGE, {}),
    "squeezenet1_1": (IMAGE, {}),
    "swin_t": (IMAGE, {}),
    "swin_v2_t": (IMAGE, {}),
    "vgg11_bn": (IMAGE, {"num_classes": 10}),
    "vit_b_32": (IMAGE, {"image_size": 64}),
    "wide_resnet50_2": (IMAGE, {}),
    "deeplabv3_mobilenet_v3_large": (IMAGE, SEGMENTATION),
    "fcn_resnet50": (IMAGE, SEGMENTATION),
    "lraspp_mobilenet_v3_large": (IMAGE, SEGMENTATION),
    "mc3_18": (CLIP, {}),
    "mvit_v1": (CLIP, {}),
    "mvit_v2": (CLIP, {}),
    "r2plus1d_18": (CLIP, {}),
    "r3d_18": (CLIP, {}),
    "s3d": ((1, 3, 16, 224, 224), {}),
}


def small_mvit(second):
    """Two blocks as in mvit_v1_b or mvit_v2_s, which take clips of one size only."""
    block = functools.partial(mvit.MSBlockConfig, kernel_q=(3, 3, 3), kernel_kv=(3, 3, 3))
    blocks = [
        block(num_heads=1, input_channels=32, output_channels=32, stride_q=(1, 1, 1), stride_kv=(1, 4, 4)),
        block(num_heads=2, input_channels=32, output_channels=64, stride_q=(1, 2, 2), stride_kv=(1, 2, 2)),
    ]
    return mvit.MViT(spatial_size=(64, 64), temporal_size=8, block_setting=blocks, residual_pool=second, residual_with_cls_embed=not second,
                     rel_pos_embed=second, proj_after_attn=second)


def made(name, options):
    model = small_mvit(name == "mvit_v2") if name.startswith("mvit") else torchvision.models.get_model(name, weights=None, **options)
    model.eval()
    for part in model.modules():
        if isinstance(part, (nn.BatchNorm2d, nn.BatchNorm3d)):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(part.weight, 0.4, 0.9)
            nn.init.normal_(part.bias, 0, 0.1)
        if isinstance(part, nn.Linear) and part.weight.abs().max() == 0:
            nn.init.normal_(part.weight, std=2.0 / part.in_features**0.5)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tools = os.path.abspath(os.path.join(arguments.build, "bin"))
    failed = 0
    names = arguments.names or slices.of_turn(MODELS)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name in names:
            shape, options = MODELS[name]
            torch.manual_seed(0)
            model, inputs = made(name, options), [torch.randn(*shape)]
            program = torch.jit.trace(model, tuple(inputs), strict=False, check_trace=False)
            reason = torchscript.compare(tools, program, inputs, model(*inputs))
            if reason:
                failed += 1
                print(f"{name}: {reason}", flush=True)
    print(f"{len(names)} networks, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
