"""torch, its loaders with each way to start workers, and our module go together."""

import os

import pytest
import torch

import dolium


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, number):
        return torch.full((4,), number), dolium.__name__, os.getpid()


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_import_the_module(method):
    loader = torch.utils.data.DataLoader(
        Numbers(), batch_size=10, num_workers=2, multiprocessing_context=method
    )
    batches = list(loader)
    assert torch.cat([batch[0][:, 0] for batch in batches]).tolist() == list(range(40))
    assert os.getpid() not in {int(pid) for batch in batches for pid in batch[2]}
