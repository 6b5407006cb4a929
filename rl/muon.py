"""Muon in single precision, for the small matrices of the starter policy on a CPU."""

from collections import defaultdict
from collections.abc import Iterable

import torch


class Muon(torch.optim.Optimizer):
    """Momentum whose matrix is replaced by its nearest orthogonal matrix, scaled to AdamW's step size.

    `torch.optim.Muon` does the same in bfloat16, which is several times slower on a CPU; here matrices
    of one shape are also handled together.

    Args:
        params: Matrices, shape (rows, columns).
        lr: Step size, of the same meaning as AdamW's: an update has a root mean square of 0.2 lr.
        momentum: Share of the past that is kept, in [0, 1).
        weight_decay: Decoupled, as in AdamW.

    Source:
        Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; scale by 0.2
        sqrt(max(rows, columns)) from Liu et al. 2025, "Muon is scalable for LLM training", eq. 4.
    """

    def __init__(
        self,
        params: Iterable[torch.Tensor],
        lr: float,
        *,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[tuple[torch.Tensor, torch.Tensor]]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append((parameter, parameter.grad))
            for shape, pairs in by_shape.items():
                updates = torch.stack([self._update(p, gradient, group["momentum"]) for p, gradient in pairs])
                scale = 0.2 * max(shape) ** 0.5
                for (parameter, _), update in zip(pairs, orthogonalised(updates), strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.add_(update, alpha=-group["lr"] * scale)

    def _update(self, parameter: torch.Tensor, gradient: torch.Tensor, momentum: float) -> torch.Tensor:
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(gradient, 1 - momentum)
        return torch.lerp(gradient, state["momentum"], momentum)


def orthogonalised(matrices: torch.Tensor, *, n_iterations: int = 5) -> torch.Tensor:
    """Move all singular values of each matrix near 1 (about 0.7 to 1.2), keeping singular vectors.

    Newton-Schulz: X <- a X + (b X X' + c (X X')^2) X, on X scaled to a norm of at most 1.

    Args:
        matrices: Shape (matrix, row, column).
        n_iterations: Iterations.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if is_tall else matrices
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) + 1e-7)
    for _ in range(n_iterations):
        square = x @ x.transpose(1, 2)
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.transpose(1, 2) if is_tall else x
