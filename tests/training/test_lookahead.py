import torch
from torch import nn

from leanset.training.lookahead import Lookahead


def walked(steps, *, decay, interrupted_after=None):
    """Move a small network at random, with lookahead, and return its weights after each step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    moves = torch.randn(steps, 6, generator=torch.Generator().manual_seed(1))
    lookahead, path = Lookahead(model, decay), [model[0].weight.detach().clone()]
    for step in range(1, steps + 1):
        model[0].weight.data += moves[step - 1].view(3, 2)
        lookahead.after_step(step, steps)
        path.append(model[0].weight.detach().clone())
        if step == interrupted_after:
            state = lookahead.state_dict()
            lookahead = Lookahead(model, decay)
            lookahead.load_state_dict(state)
    return path, moves


def test_weights_are_those_of_the_slow_twin():
    steps, decay = 23, 0.9
    path, moves = walked(steps, decay=decay)
    fast, mean, last = path[0].double(), None, 0
    for step in range(1, steps + 1):
        fast = fast + moves[step - 1].view(3, 2).double()
        if step % 5 == 0 or step == steps:
            left = decay ** (step - last) * (last / steps) ** 3
            mean = fast if mean is None else left * mean + (1 - left) * fast
            fast, last = mean, step
        torch.testing.assert_close(path[step].double(), fast, rtol=1e-4, atol=1e-5)


def test_a_restored_mean_goes_on_as_if_nothing_had_happened():
    whole, _ = walked(23, decay=0.9)
    for step in (3, 10, 12):
        resumed, _ = walked(23, decay=0.9, interrupted_after=step)
        assert torch.equal(whole[-1], resumed[-1])


def test_the_shortest_training_keeps_what_it_learnt():
    path, moves = walked(2, decay=0.95)
    torch.testing.assert_close(path[-1], path[0] + moves.sum(dim=0).view(3, 2))


def test_statistics_are_averaged_and_counters_left_alone():
    norm = nn.BatchNorm1d(1)
    lookahead = Lookahead(norm, 0.5)
    for step, mean in ((5, 1.0), (10, 3.0)):
        norm.running_mean.fill_(mean)
        norm.num_batches_tracked.fill_(step)
        lookahead.after_step(step, 10)
    left = 0.5**5 * 0.5**3
    torch.testing.assert_close(norm.running_mean, torch.tensor([left * 1.0 + (1 - left) * 3.0]))
    assert norm.num_batches_tracked == 10
