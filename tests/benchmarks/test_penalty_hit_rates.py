import json
import sys

import pytest

from benchmarks.penalty_hit_rates import N_CHAINS, main, read_chains
from labeling.errors import InputError, RecordError


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(id, **more):
    return {"id": id, "problem": f"p {id}", "steps": ["x", "y"], "first_error": -1} | more


def test_the_first_honest_solutions_of_two_steps_are_taken(tmp_path):
    rows = [row("wrong", first_error=0), row("short", steps=["x"]), row("unknown", first_error=None)]
    rows += [row(str(k)) for k in range(N_CHAINS + 5)]
    chains = read_chains(write(tmp_path / "f.jsonl", rows))
    assert len(chains) == N_CHAINS
    assert chains[0] == ("p 0", ["x", "y"])


@pytest.mark.parametrize("name", ["problem", "steps", "first_error"])
def test_a_row_without_a_field_is_told_with_its_place(tmp_path, monkeypatch, name):
    broken = row("b")
    del broken[name]
    path = write(tmp_path / "f.jsonl", [row("a"), broken])
    with pytest.raises(RecordError, match=f"field {name} is missing. A row needs id, problem") as caught:
        read_chains(path)
    assert (caught.value.file, caught.value.line, caught.value.record_id) == (str(path), 2, "b")
    monkeypatch.setattr(sys, "argv", ["penalty_hit_rates", str(path)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == f"penalty_hit_rates: {caught.value}"


def test_a_file_without_an_honest_solution_is_refused(tmp_path):
    with pytest.raises(InputError, match="no solution of at least two steps"):
        read_chains(write(tmp_path / "f.jsonl", [row("a", first_error=0)]))
