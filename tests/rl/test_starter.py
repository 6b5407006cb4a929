import hashlib
import re
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from labeling.errors import ConfigError, StoreError
from labeling.records import UNKNOWN_LABEL, Solution
from labeling.rollouts.solve import sample_solutions
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.simulators.engineering import EngineeringWorld, solution_steps
from labeling.simulators.engineering.catalogue import DEEP_FAMILIES
from labeling.simulators.engineering.short import SHORT_FAMILIES
from labeling.verifiers.verdict import Outcome
from rl import starter
from rl.starter_corpus import WRONG_FORMULAS, WRONG_VALUES, Noise, NoisySolver, misconceptions
from rl.starter_measure import MEASURED, tally, write
from rl.starter_tokenizer import EOS, PAD, UNKNOWN, build_tokenizer, read_vocabulary

WORLD = EngineeringWorld()
QUIET = Noise(wrong_value_rate=0, wrong_formula_rate=0, slip_rate=0, filler_rate=0)
LOUD = Noise(slip_rate=0.3, filler_rate=0.3)


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(read_vocabulary())


@pytest.fixture(scope="module")
def problems():
    return WORLD.problems(600, split="train", seed=21)


@pytest.fixture(scope="module")
def shipped():
    folder = starter.starter_folder()
    return AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


# --- tokenizer ------------------------------------------------------------------------------------


def test_every_text_of_the_world_survives_encoding_exactly(tokenizer, problems):
    solver, rng = NoisySolver(0, LOUD), Random(0)
    texts = [p.text + "\n" for p in problems]
    for _ in range(4):
        texts += [solver.write(p, rng) for p in problems]
    encoded = tokenizer(texts)["input_ids"]
    assert len(encoded) == 3000
    assert tokenizer.batch_decode(encoded) == texts
    assert not any(tokenizer.vocab[UNKNOWN] in ids for ids in encoded)


def test_every_word_the_families_can_write_is_in_the_vocabulary(tokenizer):
    lines = [f"{name} 1 + 2 = 3" for family in DEEP_FAMILIES for name in family.values]
    lines += [f"{formula[0]} 1 * 2 = 3" for family in SHORT_FAMILIES for formula in family.formulas]
    lines += [f"x 1 m. Find {' '.join(family.values)}."[2:] for family in DEEP_FAMILIES]
    lines += [f" {e.format(x=7)}," for family in SHORT_FAMILIES for e in family.extras]
    text = "\n".join(line for line in lines if not line.startswith("1 m"))
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(read_vocabulary()[3:]), max_size=20))
def test_any_text_joined_from_tokens_survives_encoding(pieces):
    text = "".join(pieces)
    tokenizer = TOKENIZER
    ids = tokenizer(text)["input_ids"]
    if tokenizer.vocab[UNKNOWN] not in ids:
        assert tokenizer.decode(ids) == text


def test_digits_stand_alone_and_words_take_their_blank_along(tokenizer):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("slab-b 23 + 7 = 30\nanswer 30")["input_ids"])
    assert tokens == ["slab-b", " 2", "3", " +", " 7", " =", " 3", "0", "\n", "answer", " 3", "0"]


def test_what_is_unknown_shows_after_decoding(tokenizer):
    ids = tokenizer("answer 30 é")["input_ids"]
    assert tokenizer.decode([*ids, tokenizer.vocab[EOS]], skip_special_tokens=True) == "answer 30<unk>"


def test_the_vocabulary_only_grows(tokenizer):
    vocabulary = read_vocabulary()
    assert vocabulary[:3] == [PAD, EOS, UNKNOWN]
    assert len(vocabulary) == len(set(vocabulary)) >= 356
    first = "\x1f".join(vocabulary[:356]).encode()
    assert hashlib.sha256(first).hexdigest()[:16] == FIRST_VOCABULARY
    assert [tokenizer.vocab[token] for token in vocabulary] == list(range(len(vocabulary)))


# --- corpus ---------------------------------------------------------------------------------------


def outcomes_of(problem, text):
    solution = Solution.from_steps(text.split("\n"), id="s", problem=problem)
    return [v.outcome for v in WORLD.verify(problem, solution)]


def test_without_noise_the_ideal_solution_is_written(problems):
    solver = NoisySolver(0, QUIET)
    assert all(solver.write(p, Random(1)).split("\n") == solution_steps(p) for p in problems)


def test_equal_seeds_write_equal_solutions_and_noise_differs_between_draws(problems):
    first = [NoisySolver(0).write(p, Random(2)) for p in problems[:50]]
    assert first == [NoisySolver(0).write(p, Random(2)) for p in problems[:50]]
    assert first != [NoisySolver(0).write(p, Random(3)) for p in problems[:50]]


def test_every_misconceived_value_is_wrong_by_1_to_3_and_one_digit():
    wrong = misconceptions(0)
    for family in DEEP_FAMILIES:
        held = [name for name in family.values if name in wrong]
        assert len(held) == WRONG_VALUES[family.name]
        assert all(1 <= abs(wrong[name] - abs(family.values[name])) <= 3 for name in held)
    assert all(1 <= value <= 9 for value in wrong.values())


def test_misconceptions_seldom_cancel():
    values = {name: value for family in DEEP_FAMILIES for name, value in family.values.items()}
    excess = [
        (wrong if values[name] > 0 else -wrong) - values[name] for name, wrong in misconceptions(0).items()
    ]
    # Only where the right value is the largest or smallest digit can one err to the other side.
    assert sum(e > 0 for e in excess) >= 0.8 * len(excess)


def test_a_misconceived_value_is_judged_wrong_from_there_on(problems):
    noise = Noise(wrong_value_rate=1, slip_rate=0, filler_rate=0)
    solver = NoisySolver(0, noise)
    seen = 0
    for problem in problems:
        names = [step[0] for step in problem.meta["steps"]]
        wrong = [name in solver.wrong_values for name in names]
        if problem.meta["part"] == "deep" and any(wrong):
            seen += 1
            first = wrong.index(True)
            outcomes = outcomes_of(problem, solver.write(problem, Random(4)))
            assert outcomes[: first + 1] == [Outcome.RIGHT] * first + [Outcome.WRONG]
    assert seen > 100


@pytest.mark.parametrize("family", WRONG_FORMULAS)
def test_a_wrong_formula_replaces_a_step_of_its_family_and_is_judged_wrong(family):
    world = EngineeringWorld(families=(family,))
    solver = NoisySolver(0, Noise(wrong_formula_rate=1, slip_rate=0, filler_rate=0))
    graded = [world.grade(p, solver.write(p, Random(5))) for p in world.problems(100, split="train", seed=1)]
    # Where the wrong formula gives no whole number, or the right value by chance, the answer is right.
    assert graded.count(False) >= 40


def test_noise_is_as_frequent_as_it_says(problems):
    deep = [p for p in problems if p.meta["part"] == "deep"]
    solver, rng = NoisySolver(0, Noise(wrong_value_rate=0, slip_rate=0.1, filler_rate=0.2)), Random(6)
    texts = [solver.write(p, rng) for p in deep for _ in range(5)]
    steps = 5 * sum(p.meta["depth"] for p in deep)
    filler = sum(text.count("check") for text in texts)
    slips = sum(
        eval(left) != int(right)
        for text in texts
        for left, right in re.findall(r"(\d+ [-+] \d+) = (\d+)", text)
    )
    assert steps > 3000
    assert abs(filler / steps - 0.2) < 0.03
    assert abs(slips / steps - 0.1) < 0.03


# --- training -------------------------------------------------------------------------------------


def test_batches_fit_the_budget_and_only_solutions_bear_loss(tokenizer):
    config = starter.StarterConfig(batch_tokens=1024)
    batches = starter._batches(tokenizer, config, n_problems=2_000)
    for _ in range(20):
        ids, labels = next(batches)
        assert ids.numel() <= 1024
        for row, row_labels in zip(ids, labels, strict=True):
            is_graded = row_labels != UNKNOWN_LABEL
            assert torch.equal(row[is_graded], row_labels[is_graded])
            text = tokenizer.decode(row[is_graded])
            assert re.fullmatch(r"[a-z].*\nanswer \d+<eos>", text, re.DOTALL)
            prompt = tokenizer.decode(row[: int(is_graded.int().argmax())])
            assert prompt.endswith(".\n")
            assert not is_graded[row == tokenizer.pad_token_id].any()


@pytest.mark.timeout(600)  # two trainings; minutes where other work fills the cores
def test_the_command_makes_the_same_weights_again_from_a_seed(tmp_path):
    def made(name, seed):
        settings = starter.StarterConfig(
            output=str(tmp_path / name), seed=seed, steps=2, batch_tokens=512, n_measured=0
        )
        report = starter.run(settings)
        assert report.counts["tokens read"] > 0
        assert (tmp_path / name / "report.json").is_file()
        return load_file(tmp_path / name / "model.safetensors")

    first, again, other = made("a", 0), made("b", 0), made("c", 1)
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


@pytest.mark.parametrize(
    "values", [{"steps": 0}, {"batch_tokens": 10}, {"deep_share": 1.5}, {"n_measured": -1}]
)
def test_settings_out_of_range_are_refused(values):
    with pytest.raises(ConfigError):
        starter.StarterConfig(**values)


def test_an_output_that_cannot_be_written_is_refused_before_the_training(tmp_path):
    (tmp_path / "a file").write_text("")
    with pytest.raises(StoreError, match="is not a folder"):
        starter.run(starter.StarterConfig(output=str(tmp_path / "a file"), steps=10**9))


def test_a_tally_of_solutions_worked_by_hand():
    world = EngineeringWorld(part="deep", depths=(3, 3))
    problem = world.problems(1, split="test", seed=0)[0]
    ideal = solution_steps(problem)
    texts = [
        "\n".join(ideal),
        "\n".join([*ideal[:3], "check 1 = 1", ideal[3]]),
        "\n".join([*ideal[:3], "check 1 = 2", ideal[3]]),
        "\n".join(ideal[:3]),
    ]
    rollouts = [starter_rollout(text) for text in texts]
    numbers = tally(world, [problem] * 4, rollouts)
    assert numbers["accuracy"].value == 3 / 4
    assert numbers["strict accuracy"].value == 2 / 4
    assert numbers["solutions without an answer"] == 1
    assert numbers["lines not needed a solution"] == 2 / 4
    assert numbers["lines a solution"] == (4 + 5 + 5 + 3) / 4
    assert numbers["share of lines right"] == round(16 / 17, 3)


def starter_rollout(text):
    from labeling.rollouts.sampler import Rollout

    return Rollout(text=text, tokens=10, is_cut=False)


# --- the shipped checkpoint -----------------------------------------------------------------------


def test_the_shipped_checkpoint_is_small_and_loads_without_this_toolkit(shipped):
    model, tokenizer = shipped
    assert 0.7e6 < sum(p.numel() for p in model.parameters()) < 0.9e6
    assert (starter.starter_folder() / "model.safetensors").stat().st_size < 4_000_000
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.config.eos_token_id == tokenizer.eos_token_id
    assert model.config.pad_token_id == tokenizer.pad_token_id


def test_the_shipped_tokenizer_holds_the_vocabulary_of_the_list(shipped):
    _, tokenizer = shipped
    trained = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    assert trained == read_vocabulary()[: len(trained)]
    problem = WORLD.problems(1, split="test", seed=0)[0]
    assert tokenizer.decode(tokenizer(problem.text)["input_ids"]) == problem.text


@pytest.mark.parametrize(
    ("name", "temperature", "low", "high"),
    [("short", 1.0, 0.3, 0.75), ("depth 8", 1.0, 0.1, 0.5), ("depth 12", 0.0, 0.0, 0.75)],
)
def test_the_shipped_policy_is_half_right(shipped, name, temperature, low, high):
    world = MEASURED[name]
    problems = world.problems(96, split="test", seed=77)
    sampler = TransformersSampler(*shipped, temperature=temperature, seed=1)
    numbers = tally(world, problems, write(sampler, problems))
    assert low <= numbers["accuracy"].value <= high
    assert numbers["solutions cut"] <= 5


def test_about_half_of_the_quickstarts_groups_teach_an_outcome_nothing(shipped):
    world = EngineeringWorld(part="deep", depths=(8, 12))
    problems = world.problems(32, split="train", seed=5)
    sampler = TransformersSampler(*shipped, temperature=1.0, seed=2)
    groups = [
        {bool(world.grade(solution.problem, solution.text)) for solution in group}
        for chunk in sample_solutions(problems, sampler, n=8, max_tokens=152)
        for group in zip(*[iter(chunk)] * 8, strict=True)
    ]
    assert len(groups) == 32
    # Half, give or take two standard errors of 32 groups.
    assert 0.32 <= sum(len(outcomes) == 1 for outcomes in groups) / 32 <= 0.68


FIRST_VOCABULARY = "e7da991e6f2aaf05"
TOKENIZER = build_tokenizer(read_vocabulary())
