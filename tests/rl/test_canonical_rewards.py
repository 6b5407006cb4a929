"""What separates the steps of a completion, and thinking that its prompt has opened, earn nothing."""

import math
import re
from itertools import pairwise

import pytest
from toy_policy import character_tokenizer, random_llama

from labeling.records import Problem
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.verifiers.answers import AnswersVerifier
from labeling.verifiers.registry import load_panel
from rl.sources import PRMSource, VerifierSource
from rl.spans import CachedDecoder, separator_tokens, step_of_tokens
from rl.step_source import JudgedCompletion, without_opening
from rl.trainers.step_grpo import StepGRPOConfig, StepGRPOTrainer, problems_dataset

PROBLEM = Problem(id="p", text="9 eggs a day at $2 each for 7 days?", answer="126")
STEPS = (
    "Each day she earns 9 * 2 = 18 dollars for the eggs.",
    "Good.",
    "In 7 days that is 18 * 7 = 127 dollars of money.",
    "The answer is \\boxed{126}.",
)
LAYOUTS = {
    "lines": "\n".join(STEPS),
    "blank lines": "\n\n".join(STEPS),
    "labels": "\n".join(f"Step {k}: {step}" for k, step in enumerate(STEPS, 1)),
    "bold labels": "\n\n".join(f"**Step {k}:** {step}" for k, step in enumerate(STEPS, 1)),
    "one paragraph": " ".join(STEPS),
}


class Recorder:
    """Scores a step by its length; remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def score_or_reason(self, prompts, steps, *, is_calibrated):
        self.asked += steps
        return [[1 / (1 + len(text)) for text in texts] for texts in steps]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_verdicts_do_not_depend_on_the_layout(layout):
    with AnswersVerifier() as answers:
        source = VerifierSource(load_panel("arithmetic"), grade=answers.grade, segment_mode="canonical")
        (judged,) = source.judge([PROBLEM], [LAYOUTS[layout]])
    assert (judged.scores[0], judged.scores[1], math.isnan(judged.scores[2])) == (1.0, 0.0, True)
    assert (len(judged.spans), judged.outcome, judged.pays_separators) == (3, 1.0, False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_prm_reads_the_same_texts_whatever_the_layout(layout):
    scorer = Recorder()
    (judged,) = PRMSource(scorer, lambda p, t: True, segment_mode="canonical").judge(
        [PROBLEM], [LAYOUTS[layout]]
    )
    assert scorer.asked == [[STEPS[0], f"{STEPS[1]} {STEPS[2]}", STEPS[3]]]
    assert not judged.pays_separators
    (by_line,) = PRMSource(scorer, lambda p, t: True, segment_mode="line").judge([PROBLEM], ["a\n b"])
    assert (scorer.asked[-1], by_line.pays_separators) == (["a", "b"], True)


def test_spans_behind_an_opening_are_moved_to_the_completion():
    judged = JudgedCompletion(spans=((8, 9), (11, 14)), scores=(1.0, 0.0), outcome=1.0)
    assert without_opening(judged, 8).spans == ((0, 1), (3, 6))
    assert without_opening(judged, 10).spans == ((0, 0), (1, 4))
    assert without_opening(judged, 8).scores == judged.scores


class LengthSource:
    """A word is a step, right when its length is odd; separators earn what it is told."""

    name = "lengths"

    def __init__(self, *, pays_separators):
        self.pays_separators = pays_separators
        self.seen = []

    def judge(self, problems, completions):
        self.seen += completions
        judged = []
        for k, text in enumerate(completions):
            words = list(re.finditer(r"[a-z]+", text.removeprefix("<think>\n")))
            shift = len(text) - len(text.removeprefix("<think>\n"))
            judged.append(
                JudgedCompletion(
                    spans=tuple((w.start() + shift, w.end() + shift) for w in words),
                    scores=tuple(float(len(w[0]) % 2) for w in words),
                    outcome=float(k % 2),
                    pays_separators=self.pays_separators,
                )
            )
        return judged


def batch_of(folder, source, *, template=None, is_sampling_ours=True):
    model, tokenizer = random_llama(0), character_tokenizer()
    tokenizer.chat_template = template
    problems = [Problem(id=f"p{i}", text=f"what is {i}+{i}?", answer=str(2 * i)) for i in range(8)]
    trainer = StepGRPOTrainer(
        model,
        source,
        StepGRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=8,
            num_generations=4,
            method="step_hazard",
            max_completion_length=40,
            max_steps=1,
            report_to="none",
            save_strategy="no",
            use_cpu=True,
        ),
        problems_dataset(problems),
        processing_class=tokenizer,
        sampler=TransformersSampler(model, tokenizer) if is_sampling_ours else None,
    )
    rows = [row for row in trainer.train_dataset.select(range(2)) for _ in range(4)]
    trainer.model.train()
    return trainer, trainer._generate_and_score_completions(rows)["advantages"].numpy()


def test_what_separates_steps_gets_the_outcome_s_part_alone(tmp_path):
    paid_trainer, paid = batch_of(tmp_path / "a", LengthSource(pays_separators=True))
    trainer, unpaid = batch_of(tmp_path / "b", LengthSource(pays_separators=False))
    assert trainer._sampled == paid_trainer._sampled
    decode = CachedDecoder(character_tokenizer())
    n_separators = n_moved = 0
    for row, ((text, ids), judged) in enumerate(zip(trainer._sampled, trainer._judged, strict=True)):
        is_separator = separator_tokens(ids, text, judged.spans, decode)
        steps = step_of_tokens(ids, text, judged.spans, decode)
        for token, is_between in enumerate(is_separator):
            n_separators += is_between
            n_moved += bool(unpaid[row, token] != paid[row, token])
            assert is_between or unpaid[row, token] == paid[row, token]
        between = {float(unpaid[row, t]) for t, is_between in enumerate(is_separator) if is_between}
        assert len(between) <= 1
        # Within a step every other token has the step's advantage.
        kept = [(steps[t], unpaid[row, t]) for t in range(len(ids)) if not is_separator[t]]
        assert all(a[1] == b[1] for a, b in pairwise(kept) if a[0] == b[0])
    assert n_separators > 5
    assert n_moved > 5


OPENS = "{% for m in messages %}{{ m['content'] }}{% endfor %}{{ '<think>\n' }}"


def test_a_source_sees_that_the_prompt_has_opened_the_thinking(tmp_path):
    source = LengthSource(pays_separators=True)
    trainer, table = batch_of(tmp_path / "a", source, template=OPENS)
    assert len(source.seen) == 8
    for seen, (text, ids), judged in zip(source.seen, trainer._sampled, trainer._judged, strict=True):
        assert seen == "<think>\n" + text
        assert judged.spans == tuple(word.span() for word in re.finditer("[a-z]+", text))
        assert len(ids) <= table.shape[1]


@pytest.mark.parametrize("template", [None, OPENS])
def test_a_plain_prompt_that_trl_does_not_render_opens_nothing(tmp_path, template):
    source = LengthSource(pays_separators=True)
    trainer, _ = batch_of(tmp_path / "a", source, template=template, is_sampling_ours=False)
    assert source.seen == [text for text, _ in trainer._sampled]
    messages = [{"role": "user", "content": "a"}]
    opening = trainer._opening(messages, Problem(id="a", text="a"))
    assert opening == ("<think>\n" if template else "")
    continued = [*messages, {"role": "assistant", "content": "<think>"}]
    assert trainer._opening(continued, Problem(id="a", text="<think>")) == "<think>"
