from prm.resume import last_whole_checkpoint, step_of


def test_a_checkpoint_that_was_not_written_to_its_end_is_passed_over(tmp_path):
    for step, state in ((2, "{}"), (10, "{}"), (11, '{"torn'), (4, "{}")):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(state)
    (tmp_path / "checkpoint-12").mkdir()
    assert last_whole_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert last_whole_checkpoint(tmp_path / "none") is None
    assert step_of(tmp_path / "checkpoint-4") == 4
