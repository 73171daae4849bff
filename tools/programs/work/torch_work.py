"""PyTorch on the processor: products, convolutions, a small training run, then a DataLoader whose workers are forked
after use."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.set_num_threads(2)  # its default is the number of physical cores
    torch.manual_seed(4)
    start = time.perf_counter()
    a = torch.rand(600, 600, dtype=torch.float64)
    for _ in range(10):
        c = a @ a
    image = torch.rand(8, 3, 64, 64)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(),
                        nn.Linear(16 * 256, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    target = torch.arange(8) % 10
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(image), target)
        loss.backward()
        optimizer.step()
    big = torch.rand(2000000)
    total = sum(float((big.sin() * big.exp()).sum(dtype=torch.float64)) for _ in range(10))
    data = TensorDataset(torch.arange(4000, dtype=torch.float32).reshape(1000, 4))
    seen = 0.0
    for workers in (0, 2):
        for (batch,) in DataLoader(data, 100, num_workers=workers,
                                   collate_fn=lambda rows: (torch.stack([r[0] for r in rows]).exp().log(),)):
            seen += float(torch.where(torch.isfinite(batch), batch, torch.zeros(())).sum())
    print("time", time.perf_counter() - start)
    print("result threads_more_than_one", int(torch.get_num_threads() > 1))
    print("result product", float(c.sum()))
    print("result loss", round(float(loss), 4))
    print("result total", total)
    print("result loader", round(seen, 1))


main()
