import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rl.muon import Muon, orthogonalised


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 12), columns=st.integers(1, 12))
def test_singular_values_come_near_one_and_singular_vectors_stay(seed, rows, columns):
    matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    moved = left.T @ orthogonalised(matrix[None])[0] @ right.T
    well_conditioned = values / torch.linalg.matrix_norm(matrix) > 0.05
    assert ((moved.diagonal() > 0.6) & (moved.diagonal() < 1.3))[well_conditioned].all()
    assert (moved - torch.diag(moved.diagonal())).abs().max() < 1e-2


def test_matrices_of_one_shape_do_not_mix():
    first, second = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0))
    together = orthogonalised(torch.stack([first, second]))
    torch.testing.assert_close(together[0], orthogonalised(first[None])[0])
    torch.testing.assert_close(together[1], orthogonalised(second[None])[0])


def test_a_first_step_worked_by_hand():
    # A 1 x 1 gradient of any positive size becomes x5 of x <- 3.4445 x - 4.775 x^3 + 2.0315 x^5, x0 = 1.
    x = 1.0
    for _ in range(5):
        x = 3.4445 * x - 4.7750 * x**3 + 2.0315 * x**5
    parameter = torch.nn.Parameter(torch.tensor([[3.0]]))
    parameter.grad = torch.tensor([[7.0]])
    Muon([parameter], 0.1, weight_decay=0.5).step()
    torch.testing.assert_close(parameter.data, torch.tensor([[3.0 * 0.95 - 0.1 * 0.2 * x]]))


def test_a_second_step_worked_by_hand():
    # Gradients (1, 0), then (0, 1). Their momentum b is 0.05 (1, 0), then 0.95 * 0.05 (1, 0) + 0.05 (0, 1);
    # what is made orthogonal is 0.05 g + 0.95 b: in the second step along (0.95^2, 1 + 0.95).
    x = 1.0
    for _ in range(5):
        x = 3.4445 * x - 4.7750 * x**3 + 2.0315 * x**5
    parameter = torch.nn.Parameter(torch.zeros(1, 2))
    optimizer = Muon([parameter], 0.1)
    for gradient in ([[1.0, 0.0]], [[0.0, 1.0]]):
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
    second = torch.tensor([[0.95**2, 1.95]])
    moved = torch.tensor([[1.0, 0.0]]) + second / second.norm()
    expected = -0.1 * 0.2 * math.sqrt(2) * x * moved
    torch.testing.assert_close(parameter.data, expected, atol=1e-5, rtol=1e-4)


def test_a_least_squares_problem_is_solved():
    generator = torch.Generator().manual_seed(1)
    inputs, target = torch.randn(64, 5, generator=generator), torch.randn(3, 5, generator=generator)
    weight = torch.nn.Parameter(torch.zeros(3, 5))
    optimizer = Muon([weight], 0.1)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=300)
    for _ in range(300):
        optimizer.zero_grad()
        ((weight - target) @ inputs.T).square().mean().backward()
        optimizer.step()
        schedule.step()
    assert (weight - target).abs().max() < 0.02
