import json
import shutil

import pytest

from labeling.errors import InputError, StoreError
from prm import checkpoint
from prm.model import StepScorer
from prm.score import ScoreConfig, run

ROWS = [
    {
        "id": "a",
        "prompt": "1 + 1?",
        "completions": ["1 + 1 = 2.", "Two."],
        "labels": [1, 1],
        "mine": {"x": 1},
    },
    {"id": "b", "problem": "2 + 2?", "steps": ["2 + 2 = 5."], "first_error": 0},
    {"id": "c", "prompt": "long", "completions": ["x" * 200]},
    {"id": "d", "prompt": "3?", "completion": "first\n\nsecond"},
]


def write(path, rows):
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return str(path)


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_row_comes_back_with_its_scores_or_a_reason(prm_folder, tmp_path):
    source = write(tmp_path / "in.jsonl", ROWS)
    report = run(ScoreConfig(model=str(prm_folder), input=source, output=str(tmp_path / "out" / "o.jsonl")))
    rows = read(tmp_path / "out" / "o.jsonl")
    scorer = StepScorer.from_pretrained(prm_folder)
    assert [{k: row[k] for k in old} for row, old in zip(rows, ROWS, strict=True)] == ROWS
    assert rows[0]["scores"] == pytest.approx(scorer.score(["1 + 1?"], [["1 + 1 = 2.", "Two."]])[0], abs=1e-6)
    assert rows[1]["scores"] == pytest.approx(scorer.score(["2 + 2?"], [["2 + 2 = 5."]])[0], abs=1e-6)
    assert rows[2]["scores"] is None
    assert "206 tokens" in rows[2]["score_reason"]
    assert rows[3]["completions"] == ["first", "second"]
    assert len(rows[3]["scores"]) == 2
    assert all(row["calibrated"] is None for row in rows)
    assert [("score_reason" in row) for row in rows] == [False, False, True, False]
    assert report.counts["solutions scored"] == 3
    assert report.counts["solutions without a score"] == 1
    assert report.counts["steps scored"] == 5
    assert json.loads((tmp_path / "out" / "report.json").read_text())["counts"] == report.counts


def test_calibrated_scores_stand_beside_the_raw_ones(prm_folder, tmp_path):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    from prm.calibration.calibrators import TemperatureCalibrator

    calibrator = TemperatureCalibrator(2.0)
    checkpoint.update_calibration(folder, calibrator.to_dict())
    run(ScoreConfig(model=str(folder), input=write(tmp_path / "i", ROWS), output=str(tmp_path / "o")))
    first = read(tmp_path / "o")[0]
    assert first["calibrated"] == pytest.approx(calibrator(first["scores"]).tolist())
    assert first["calibrated"] != pytest.approx(first["scores"])


def test_malformed_lines_stop_or_are_counted(prm_folder, tmp_path):
    source = write(tmp_path / "in.jsonl", [ROWS[0], {"id": "z", "prompt": "q", "completions": []}])
    output = tmp_path / "out.jsonl"
    with pytest.raises(InputError, match=r"in\.jsonl:2 \(record z\): no steps"):
        run(ScoreConfig(model=str(prm_folder), input=source, output=str(output)))
    assert not output.exists()
    report = run(ScoreConfig(model=str(prm_folder), input=source, output=str(output), on_error="skip"))
    assert report.counts["lines rejected"] == 1
    assert len(read(output)) == 1
    with pytest.raises(StoreError, match="exists already"):
        run(ScoreConfig(model=str(prm_folder), input=source, output=str(output)))


def test_an_output_that_cannot_be_written_is_refused_before_the_model_is_looked_at(tmp_path):
    def refused(match, output):
        with pytest.raises(StoreError, match=match):
            run(
                ScoreConfig(model=str(tmp_path / "no model"), input=str(tmp_path / "no input"), output=output)
            )

    (tmp_path / "file").write_text("x")
    refused("file: is not a folder", str(tmp_path / "file" / "out.jsonl"))
    refused("cannot be written", "/proc/self/task/out.jsonl")
    refused("lies beside the output", str(tmp_path / "new" / "report.json"))
    refused("exists already", str(tmp_path))
    (tmp_path / "report.json").mkdir()
    refused("report.json: is not a file", str(tmp_path / "out.jsonl"))
