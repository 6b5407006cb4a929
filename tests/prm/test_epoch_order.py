import torch
from transformers.trainer_pt_utils import LengthGroupedSampler
from trl.trainer.utils import RepeatSampler

from prm.epoch_order import EpochOrder

LENGTHS = [5, 1, 9, 3, 7, 2, 8, 4, 6, 5, 5, 1]


def by_length():
    return LengthGroupedSampler(4, lengths=LENGTHS)


def orders(sampler, epochs):
    found = []
    for epoch in epochs:
        sampler.set_epoch(epoch)
        found.append(list(sampler))
    return found


def test_an_epochs_order_does_not_depend_on_the_epochs_before_it():
    straight = orders(EpochOrder(by_length(), 3), range(4))
    torch.randperm(100)  # other users of the global random state change nothing either
    assert orders(EpochOrder(by_length(), 3), [2, 3]) == straight[2:]
    assert all(sorted(order) == list(range(len(LENGTHS))) for order in straight)
    assert len({tuple(order) for order in straight}) == 4
    assert orders(EpochOrder(by_length(), 4), range(4)) != straight


def test_the_first_epoch_is_the_one_that_the_wrapped_sampler_draws_from_the_seed():
    def repeat():
        return RepeatSampler(range(8), mini_repeat_count=2, batch_size=4, shuffle=True, seed=11)

    wrapped = EpochOrder(repeat(), 11)
    assert list(wrapped) == list(repeat())
    assert len(wrapped) == len(repeat()) == 16
