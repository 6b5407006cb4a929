import json

import numpy as np
import pytest

from labeling.errors import RecordError
from labeling.sources.jsonl import parse_labelled
from prm.benchmarks.scored import ScoredChain
from prm.train import TrainPRMConfig, run
from prm.training_rows import read_solutions, steps_to_learn


def row(k, **more):
    labels = [k % 2, 1]
    return {"id": f"r{k}", "prompt": f"{k} + 1?", "completions": ["a", "b"], "labels": labels} | more


def write(path, rows):
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return str(path)


def test_a_solution_that_two_files_hold_is_refused_with_both_places(tmp_path):
    one = write(tmp_path / "one.jsonl", [row(0), row(1)])
    other = write(tmp_path / "other.jsonl", [row(2), row(1, labels=[0, 0])])
    with pytest.raises(RecordError, match="already read from") as caught:
        read_solutions([one, other], "stop")
    assert (caught.value.file, caught.value.line, caught.value.record_id) == (other, 2, "r1")
    assert f"{one}:2" in caught.value.reason
    assert "--on-error skip" in caught.value.remedy


def test_a_repeated_solution_is_left_out_and_counted_when_errors_are_skipped(tmp_path):
    one = write(tmp_path / "one.jsonl", [row(0), row(1)])
    other = write(tmp_path / "other.jsonl", [row(1, labels=[0, 0]), row(2), {"id": "bad"}])
    solutions, counts = read_solutions([one, other], "skip")
    assert [s.solution.id for s in solutions] == ["r0", "r1", "r2"]
    assert [label.value for label in solutions[1].labels] == [1, 1]  # the first file's
    assert counts["rows repeated from another file"] == 1
    assert (counts["records read"], counts["lines rejected"]) == (4, 1)


@pytest.mark.parametrize("change", [{"id": "x"}, {"prompt": "else?"}, {"completions": ["a", "c"]}])
def test_solutions_that_share_less_than_id_prompt_and_steps_are_all_kept(tmp_path, change):
    one = write(tmp_path / "one.jsonl", [row(1)])
    other = write(tmp_path / "other.jsonl", [row(1, **change)])
    solutions, counts = read_solutions([one, other], "stop")
    assert len(solutions) == 2
    assert counts["rows repeated from another file"] == 0


def test_training_on_one_file_twice_is_refused_before_anything_is_written(base_folder, tmp_path):
    labels = write(tmp_path / "labels.jsonl", [row(k) for k in range(4)])
    config = TrainPRMConfig(model=str(base_folder), labels=[labels, labels], output=str(tmp_path / "prm"))
    with pytest.raises(RecordError, match=r"labels\.jsonl:1 \(record r0\): .* already read"):
        run(config)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.jsonl"]


@pytest.mark.parametrize(
    ("labels", "first_error", "n"),
    [([1, 0, 1], None, 2), ([1, -100, 1], 1, 2), ([1, -100, 1], None, 3), ([1, 1, 1], None, 3)],
)
def test_training_and_measuring_stop_at_the_same_step(labels, first_error, n):
    steps = ["a", "b", "c"]
    row = {"id": "x", "prompt": "p", "completions": steps, "labels": labels, "first_error": first_error}
    labelled = parse_labelled(row)
    assert steps_to_learn(labelled, until_first_error=True) == n
    assert steps_to_learn(labelled, until_first_error=False) == 3
    measured = ScoredChain.of(labelled, [0.5] * 3).until_first_error().labels
    assert np.array_equal(measured, labels[:n] + [-100] * (3 - n))
