"""Exercise 7: its numbers are PyTorch's, its statistical checks are fair, its answer is true."""

import pytest
import torch

from course.feedback import ex07_objectives as check
from course.feedback.checks import CheckFailed
from course.feedback.ex06_bert_encoder import numbers

CHANCE = ("choose_tokens", "replace_chosen")


def test_the_way_of_a_hundred_steps_is_that_of_torchs_adam():
    gradients = numbers(100, 3, seed=5, dtype=torch.float64)
    gradients = gradients * torch.logspace(-3, 1, 100, dtype=torch.float64)[:, None]
    weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=0.01)
    seen = set()
    for step, gradient in enumerate(gradients, start=1):
        weight.grad = gradient.clone()
        optimizer.step()
        if step in check.WAY:
            assert weight.tolist() == pytest.approx(check.WAY[step], abs=1e-6)
            seen.add(step)
    assert seen == set(check.WAY)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANCE)
def test_a_right_solution_passes_with_any_draws(solution, name):
    """Another right solution draws in another order: here it discards some numbers first."""
    right = solution[name]
    for wasted in range(1, 16):

        def wasteful(*arguments, wasted=wasted):
            torch.rand(wasted, generator=arguments[-1])
            return right(*arguments)

        assert "passes" in repr(getattr(check, name)(wasteful))


@pytest.mark.parametrize("name", CHANCE)
def test_a_statistical_check_does_not_change_the_students_generator(solution, name):
    before = torch.get_rng_state()
    getattr(check, name)(solution[name])
    assert torch.equal(before, torch.get_rng_state())


def test_five_standard_deviations_are_the_limit():
    # 10,000 tosses of a coin: 5,000 heads, with a standard deviation of 50.
    heads = torch.arange(10_000)
    assert not check.off(heads < 5_249, 0.5)
    assert check.off(heads < 5_252, 0.5)
    assert check.off(heads < 4_748, 0.5)
    assert check.off(heads < 1, 0.0)


def test_an_optimizer_of_torch_is_rejected_before_it_loads_anything():
    def by_torch(parameter, gradient, moments, step, learning_rate, parts, betas, eps):
        return torch.optim.Adam([parameter.requires_grad_()]), moments

    with pytest.raises(CheckFailed, match="ready-made function of PyTorch"):
        check.adam_step(by_torch)


@pytest.mark.slow
def test_the_graders_answer_states_the_numbers_that_the_page_shows(is_told, cells):
    assert "1,123" in is_told("masking", "11.8%", "1.5%", "1.6%", "85.1%", "1,138")
    assert f"{1_138 + 1_123:,}" in cells["explain"].source
    is_told("pairs")
    is_told("training", "-0.62 + 1.91 * shared")
    is_told("tested", "71.9%", "50.0%", "0.564", "1.095")
    is_told("measure", "3.162")
