import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.errors import ConfigError, NotGradedError, RecordError
from labeling.randomness import generator
from labeling.records import VALUE, Problem, RolloutCounts, Solution, labelled_from_row
from labeling.rollouts.monte_carlo import estimate_steps, prefix_text
from labeling.rollouts.sampler import Prefix, Rollout

PROBLEM = Problem(id="p", text="What is 6 x 3?", answer="18")


@dataclass
class ScriptedSampler:
    """Gives out the rollouts that a script lists for each prefix text, in order."""

    script: dict[str, list[Rollout]]
    asked: list[str] = field(default_factory=list)

    def extend(self, prefixes, n, *, max_tokens, keys):
        found = []
        for prefix in prefixes:
            self.asked.append(prefix.text)
            found.append([self.script[prefix.text].pop(0) for _ in range(n)])
        return found


class CoinSampler:
    """A policy that answers right, wrong, with nothing, or too long, each by its key's own luck."""

    ends = ("answer 18", "answer 7", "I give up", "and on")

    def extend(self, prefixes, n, *, max_tokens, keys):
        return [
            [self.one(prefix, generator(0, key, i), max_tokens) for i in range(n)]
            for prefix, key in zip(prefixes, keys, strict=True)
        ]

    def one(self, prefix: Prefix, rng, max_tokens):
        # The longer the prefix, the smaller the chance of the right answer.
        hope = 0.6 / (1 + prefix.text.count("\n"))
        which = int(rng.choice(4, p=[hope, 0.8 - hope, 0.1, 0.1]))
        return Rollout(text=self.ends[which], tokens=3 + which, is_cut=which == 3)


def grade(problem, text):
    _, found, answer = text.rpartition("answer ")
    if not found:
        return None
    return float(answer.removeprefix("\\boxed{").removesuffix("}")) == float(problem.answer)


def solution(*steps, id="s"):
    return Solution.from_steps(steps, id=id, problem=PROBLEM)


def rollouts_of(items):
    return [
        Rollout(
            text="" if item["answer"] is None else f"answer {item['answer']}",
            tokens=5,
            is_cut=item["end"] == "length",
        )
        for item in items
    ]


def run(solutions, sampler, **options):
    settings_ = {"n": 8, "max_tokens": 64, "seed": 0} | options
    return estimate_steps(solutions, sampler, grade, **settings_)


def test_mc_01_a_finished_rollout_without_an_answer_is_wrong_and_a_cut_one_is_unknown(golden):
    case = golden("monte_carlo.json")["mc-01"]
    script = {
        "six\n": rollouts_of(case["input"]["rollouts_after_step"]),
        "six\ntimes\n": rollouts_of(case["input"]["second_step_rollouts"] * 2),
    }
    result = run([solution("six", "times")], ScriptedSampler(script))
    first, second = result.labelled[0].labels

    expected = case["expected"]["step_1"]
    assert first.counts.k == expected["n_correct"]
    assert first.counts.n - first.counts.cut - first.counts.k == expected["n_wrong"]
    assert first.counts.cut == expected["n_cut"]
    assert first.counts.unparsable == 1
    assert first.soft == expected["soft"] != case["expected"]["step_1_if_cut_counts_as_wrong"]
    assert first.value == expected["hard_any_correct"]

    expected = case["expected"]["step_2"]
    assert second.counts.cut == 2 * expected["n_cut"]
    assert second.soft is expected["soft"]
    assert second.value == expected["label"]
    assert str(second.verdict.outcome) == "UNDECIDED"

    row = result.labelled[0].to_row()
    assert (row["n"], row["k"], row["cut"], row["unparsable"]) == ([8, 8], [3, 0], [2, 8], [1, 0])
    assert (result.rollouts, result.cut, result.unparsable, result.tokens) == (16, 10, 1, 80)


def test_a_last_step_that_reaches_an_answer_is_graded_without_rollouts():
    for answer, label in (("18", 1), ("17", 0)):
        script = {"six\n": rollouts_of([{"answer": "18", "end": "eos"}] * 8)}
        sampler = ScriptedSampler(script)
        result = run([solution("six", f"answer {answer}")], sampler)
        assert set(sampler.asked) == {"six\n"}
        assert [step.value for step in result.labelled[0].labels] == [1, label]
        assert result.labelled[0].labels[1].counts == RolloutCounts(n=1, k=label)
        assert result.rollouts == 8
        assert result.labelled[0].first_error == (-1 if label else 1)


def test_what_nobody_can_grade_is_neither_right_nor_wrong():
    def grade_or_raise(problem, text):
        if "unclear" in text:
            raise NotGradedError("the comparison ended")
        return grade(problem, text)

    ends = ["answer 18", "unclear", "answer 7", "unclear"]
    script = {
        "a\n": [Rollout(text=end, tokens=5, is_cut=False) for end in ends],
        "a\nb\n": [Rollout(text="unclear", tokens=5, is_cut=False)] * 4,
    }
    result = estimate_steps(
        [solution("a", "b", id="s")], ScriptedSampler(script), grade_or_raise, n=4, max_tokens=64, seed=0
    )
    first, last = result.labelled[0].labels
    assert first.counts == RolloutCounts(n=4, k=1, undecided=2)
    assert (first.value, first.soft) == (1, 0.5)
    assert (last.value, last.soft) == (-100, None)
    assert "none of 4 rollouts could be graded" in last.verdict.reason
    assert (result.rollouts, result.undecided, result.unparsable) == (8, 6, 0)
    row = json.loads(json.dumps(result.labelled[0].to_row()))
    assert (row["n"], row["undecided"]) == ([4, 4], [2, 4])
    assert labelled_from_row(row).labels == result.labelled[0].labels
    del row["undecided"]
    row["k"] = [2, 0]
    assert labelled_from_row(row).labels[0].counts == RolloutCounts(n=4, k=2)


def test_a_whole_solution_that_nobody_can_grade_takes_no_rollouts():
    def never(problem, text):
        raise NotGradedError("the comparison ended")

    result = estimate_steps([solution("answer 18")], ScriptedSampler({}), never, n=4, max_tokens=64, seed=0)
    (label,) = result.labelled[0].labels
    assert (label.value, label.soft, label.counts) == (-100, None, RolloutCounts(n=1, k=0, undecided=1))
    assert result.rollouts == 0


def test_labels_say_that_they_are_values_and_survive_a_row():
    labelled = run([solution("a", "b", "answer 18")], CoinSampler()).labelled[0]
    assert (labelled.semantics, labelled.origin) == (VALUE, "monte_carlo")
    again = labelled_from_row(json.loads(json.dumps(labelled.to_row())))
    assert [(s.value, s.soft, s.counts) for s in again.labels] == [
        (s.value, s.soft, s.counts) for s in labelled.labels
    ]


def test_a_prefix_ends_where_the_next_step_starts_whatever_stands_between():
    text = "one\n\n  two"
    found = Solution.from_steps(["one", "two"], id="s", problem=PROBLEM, separator="\n\n  ")
    assert found.text == text
    assert prefix_text(found, 0) == "one\n\n  "
    assert prefix_text(found, 1) == "one\n\n  two\n"
    assert prefix_text(solution("one\n"), 0) == "one\n"


def test_order_and_company_change_no_label():
    solutions = [solution("a", "b", "c", id=f"s{i}") for i in range(6)]
    together = run(solutions, CoinSampler()).labelled
    backwards = run(solutions[::-1], CoinSampler()).labelled[::-1]
    alone = [run([one], CoinSampler()).labelled[0] for one in solutions]
    assert together == backwards == alone


def test_the_counts_are_those_of_sampling_each_prefix_by_hand():
    one = solution("a", "b", id="s7")
    label = run([one], CoinSampler(), n=12, seed=3).labelled[0].labels[1]
    ends = [
        CoinSampler().extend(
            [Prefix(PROBLEM.text, "a\nb\n")], 1, max_tokens=9, keys=[f"monte_carlo/3/s7/1/{i}"]
        )
        for i in range(12)
    ]
    texts = [found[0][0].text for found in ends]
    assert label.counts == RolloutCounts(
        n=12,
        k=texts.count("answer 18"),
        cut=texts.count("and on"),
        unparsable=texts.count("I give up"),
    )


def test_stopping_at_the_first_success_keeps_every_hard_label_and_costs_less():
    solutions = [solution("a", "b", "c", "d", id=f"s{i}") for i in range(40)]
    full = run(solutions, CoinSampler(), n=16)
    stopped = run(solutions, CoinSampler(), n=16, stop_at_first_success=True)

    def hard(result):
        return [[step.value for step in labelled.labels] for labelled in result.labelled]

    assert hard(stopped) == hard(full)
    assert {0, 1} <= {value for row in hard(full) for value in row}
    assert stopped.tokens < 0.7 * full.tokens
    for ours, theirs in zip(stopped.labelled, full.labelled, strict=True):
        for mine, whole in zip(ours.labels, theirs.labels, strict=True):
            assert mine.counts.n in (1, 2, 4, 8, 16)
            assert mine.counts.n == 16 or mine.counts.k > 0
            assert mine.counts.k <= whole.counts.k


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["right", "wrong", "none", "cut"]), min_size=5, max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_counts_add_up_for_any_rollouts(ends_by_step):
    item_of = {
        "right": {"answer": "18", "end": "eos"},
        "wrong": {"answer": "3", "end": "eos"},
        "none": {"answer": None, "end": "eos"},
        "cut": {"answer": None, "end": "length"},
    }
    steps = [f"step {i}" for i in range(len(ends_by_step))]
    script = {
        "\n".join(steps[: i + 1]) + "\n": rollouts_of([item_of[end] for end in ends])
        for i, ends in enumerate(ends_by_step)
    }
    result = run([solution(*steps)], ScriptedSampler(script), n=5)
    for label, ends in zip(result.labelled[0].labels, ends_by_step, strict=True):
        right, cut = ends.count("right"), ends.count("cut")
        assert (label.counts.n, label.counts.k, label.counts.cut) == (5, right, cut)
        assert label.counts.unparsable == ends.count("none")
        assert label.counts.k + label.counts.unparsable <= 5 - cut
        if cut == 5:
            assert (label.value, label.soft) == (-100, None)
        else:
            assert (label.value, label.soft) == (int(right > 0), right / (5 - cut))
    assert result.rollouts == 5 * len(steps)


def test_a_solution_without_steps_comes_back_unlabelled_and_unknown():
    empty = Solution(id="e", problem=PROBLEM, text="", steps=())
    result = run([empty, solution("a")], CoinSampler())
    assert result.labelled[0].labels == ()
    assert result.labelled[0].first_error is None
    assert len(result.labelled[1].labels) == 1
    assert run([], CoinSampler()).labelled == []


def test_two_solutions_with_one_id_are_refused_by_name():
    with pytest.raises(RecordError, match="record s"):
        run([solution("a"), solution("b")], CoinSampler())


@pytest.mark.parametrize("bad", [{"n": 0}, {"max_tokens": 0}])
def test_limits_below_one_are_refused(bad):
    with pytest.raises(ConfigError, match="at least 1"):
        run([solution("a")], CoinSampler(), **bad)
