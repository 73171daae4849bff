"""torchvision: pictures resized and turned, a network run forward and back, boxes sorted out."""

import time

import torch
import torchvision
from torchvision.transforms import functional

torch.set_num_threads(2)
torch.manual_seed(4)
start = time.perf_counter()
picture = torch.rand(4, 3, 160, 160)
changed = functional.rotate(functional.gaussian_blur(functional.resize(picture, [96, 96], antialias=True), 5), 17)
net = torchvision.models.resnet18(num_classes=10)
loss = torch.nn.functional.cross_entropy(net(changed), torch.arange(4))
loss.backward()
steps = sum(float(p.grad.abs().sum()) for p in net.parameters())
corner = torch.rand(4000, 2) * 200
kept = torchvision.ops.nms(torch.cat([corner, corner + 20], 1), torch.rand(4000), 0.4)
print("time", time.perf_counter() - start)
print("result threads_more_than_one", int(torch.get_num_threads() > 1))
print("result changed", float(changed.sum(dtype=torch.float64)))
print("result loss", round(float(loss), 4))
print("result steps", round(steps, 1))
print("result kept", len(kept))
