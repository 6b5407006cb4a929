"""Thinking that the prompt has opened is told from the answer, by graders and segmentation alike."""

import json

import pytest
from toy_policy import byte_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from labeling.label import LabelConfig, _grading
from labeling.label import run as run_label
from labeling.records import Problem, Solution
from labeling.rollouts.monte_carlo import estimate_steps
from labeling.rollouts.prompting import prompt_ids, text_ids, thinking_opening
from labeling.rollouts.sampler import Prefix, Rollout
from labeling.rollouts.solve import sample_solutions
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.sources.jsonl import parse_labelled
from labeling.steps import segment
from labeling.verifiers.answers import AnswersVerifier, extract_answer
from labeling.verifiers.verdict import Outcome

TEMPLATE = "{% for m in messages %}[{{ m['content'] }}]{% endfor %}"
OPENS = TEMPLATE + "{{ '<think>\n' }}"
OPENS_AND_CLOSES = TEMPLATE + "{{ '<think>\n\n</think>\n\n' }}"
OPENS_WHEN_TOLD = TEMPLATE + "{% if thinking %}<think>{% endif %}"
PROBLEM = Problem(id="p", text="8 * 9?", answer="72")
CUT = "Try 9: 9 * 8 = 72.\n\nSo maybe \\boxed{72}"
WHOLE = "Maybe \\boxed{48}? No.\n</think>\n\nIt is \\boxed{72}"


def tokenizer_with(template):
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = template
    return tokenizer


@pytest.mark.parametrize(
    ("template", "problem", "opening"),
    [
        (OPENS, "a", "<think>\n"),
        (OPENS_AND_CLOSES, "a", ""),
        (TEMPLATE, "a", ""),
        (TEMPLATE, "a <think>", ""),
        (OPENS_WHEN_TOLD, "a", ""),
        (None, "a", ""),
        (None, "a <think>", "<think>\n"),
        (None, "Use <think> tags", ""),
    ],
)
def test_a_prompt_opens_thinking_where_its_template_or_its_own_end_does(template, problem, opening):
    tokenizer = tokenizer_with(template)
    assert thinking_opening(tokenizer, problem) == opening
    rendered = tokenizer.decode(prompt_ids(tokenizer, problem), skip_special_tokens=True)
    assert rendered.endswith(opening)


def test_settings_of_the_template_decide_too():
    assert thinking_opening(tokenizer_with(OPENS_WHEN_TOLD), "a", thinking=True) == "<think>"


def test_where_decoding_drops_the_closing_tag_its_absence_says_nothing():
    tokenizer = tokenizer_with(OPENS)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<think>", "</think>"]})
    assert thinking_opening(tokenizer, "a") == ""


@pytest.mark.parametrize("text", ["<think>\nb", "<think>b"])
def test_the_tag_stands_in_the_prompt_once(text):
    tokenizer = tokenizer_with(OPENS)
    assert prompt_ids(tokenizer, "a", text) == prompt_ids(tokenizer, "a") + text_ids(tokenizer, "b")
    plain = tokenizer_with(TEMPLATE)
    assert prompt_ids(plain, "a", text) == prompt_ids(plain, "a") + text_ids(plain, text)
    closing = "</think>b"
    assert prompt_ids(tokenizer, "a", closing) == prompt_ids(tokenizer, "a") + text_ids(tokenizer, closing)


def test_a_sampled_text_is_led_by_the_tag_of_its_prompt_and_continues_it():
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(byte_tokenizer()), **shape, eos_token_id=1))
    sampler = TransformersSampler(model, tokenizer_with(OPENS), seed=0)
    bare = TransformersSampler(model, tokenizer_with(TEMPLATE), seed=0)
    prefixes = [Prefix("a"), Prefix("a", "<think>\nb\n"), Prefix("a", "b\n")]
    keys = ["x", "y", "z"]
    (first,), (behind_tag,), (behind_text,) = sampler.extend(prefixes, 1, max_tokens=8, keys=keys)
    assert first.text.startswith("<think>\n")
    assert first.tokens <= 8
    assert not behind_tag.text.startswith("<think>")
    assert not behind_text.text.startswith("<think>")
    assert not bare.extend(prefixes[:1], 1, max_tokens=8, keys=keys[:1])[0][0].text.startswith("<think>")


class ThinkingSampler:
    """Samples behind a prompt that has opened the thinking, as `TransformersSampler` does."""

    def __init__(self, text, is_cut=False):
        self.text = text
        self.is_cut = is_cut

    def extend(self, prefixes, n, *, max_tokens, keys):
        return [
            [Rollout(text=("" if p.text else "<think>\n") + self.text, tokens=3, is_cut=self.is_cut)] * n
            for p in prefixes
        ]


def test_a_box_written_while_thinking_is_no_answer_of_a_sampled_solution(tmp_path, monkeypatch):
    problems = tmp_path / "problems.jsonl"
    problems.write_text(json.dumps({"id": "p", "problem": "8 * 9?", "answer": "72"}) + "\n")

    def labels(text, name):
        monkeypatch.setattr("labeling.label._sampler", lambda config: ThinkingSampler(text))
        output = tmp_path / f"{name}.jsonl"
        run_label(
            LabelConfig(
                input=str(problems),
                output=str(output),
                verifier="answers",
                samples=1,
                policy=str(tmp_path),
                processes=1,
            )
        )
        return json.loads(output.read_text().splitlines()[0])

    cut, whole = labels(CUT, "cut"), labels(WHOLE, "whole")
    assert cut["completions"] == CUT.split("\n\n")
    assert "RIGHT" not in cut["verdicts"]
    assert (whole["completions"][-1], whole["verdicts"][-1]) == ("It is \\boxed{72}", "RIGHT")


def test_rollouts_that_end_while_thinking_are_without_an_answer():
    (solution,) = next(iter(sample_solutions([PROBLEM], ThinkingSampler(CUT), n=1, max_tokens=9)))
    assert solution.text == "<think>\n" + CUT
    grade, _ = _grading(LabelConfig(output="x"))
    result = estimate_steps([solution], ThinkingSampler("and \\boxed{72}"), grade, n=2, max_tokens=9, seed=0)
    counts = [label.counts for label in result.labelled[0].labels]
    assert [(count.k, count.unparsable) for count in counts] == [(0, 2), (0, 2)]
    closed = estimate_steps([solution], ThinkingSampler(WHOLE), grade, n=2, max_tokens=9, seed=0)
    assert [label.counts.k for label in closed.labelled[0].labels] == [2, 2]


@pytest.mark.parametrize(
    ("prompt", "text", "outcome"),
    [
        ("8 * 9?", "<think>\n" + CUT, Outcome.UNDECIDED),
        ("8 * 9?\n<think>\n", CUT, Outcome.UNDECIDED),
        ("8 * 9?\n<think>\n", "<think>\n" + CUT, Outcome.UNDECIDED),
        ("8 * 9?\n<think>\n", WHOLE, Outcome.RIGHT),
        ("8 * 9?", CUT, Outcome.RIGHT),
        ("8 * 9? Use <think>.", CUT, Outcome.RIGHT),
    ],
)
def test_a_row_of_raw_text_keeps_its_thinking_apart(prompt, text, outcome):
    solution = parse_labelled({"id": "a", "prompt": prompt, "completion": text, "answer": "72"}).solution
    assert solution.text.endswith(text)
    for step in solution.steps:
        assert solution.text[step.start : step.end] == step.text
    with AnswersVerifier() as verifier:
        verdicts = verifier.verify(solution.problem, solution)
    decided = [v.outcome for v in verdicts if v.outcome is not Outcome.UNDECIDED]
    assert (decided[-1] if Outcome.RIGHT in decided else Outcome.UNDECIDED) == outcome


def test_steps_that_a_row_gives_are_not_cut_again():
    solution = parse_labelled({"id": "a", "prompt": "p", "steps": ["a\n\nb", "c"]}).solution
    assert (solution.step_texts, solution.segment_mode) == (["a\n\nb", "c"], "")


def test_how_a_row_of_raw_text_was_cut_is_kept():
    solution = parse_labelled({"id": "a", "prompt": "p", "completion": "1. a\n2. b"}).solution
    assert isinstance(solution, Solution)
    assert (solution.text, solution.segment_mode) == ("1. a\n2. b", "numbered")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think>\n\nb \\boxed{1}\n\n<think>\nc \\boxed{2}", None),
        ("It is \\boxed{5}. <think>", None),
        ("<think>a</think>\n\nb \\boxed{1}\n\n<think>\nc</think>", "1"),
        ("a</think> \\boxed{3}", "3"),
    ],
)
def test_thinking_that_is_open_at_the_end_gives_no_answer_as_segmentation_says(text, answer):
    assert extract_answer(text) == answer
    assert segment(text, "line").is_think_closed is (answer is not None)
