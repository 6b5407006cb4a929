from dataclasses import dataclass

import pytest

from labeling.errors import ConfigError
from prm.cli import VERBS, main, usage
from prm.config import field_docs, parse_config


@dataclass(kw_only=True)
class Toy:
    """A toy."""

    output: str
    learning_rate: float = 0.1
    is_quiet: bool = False


def parse(*argv):
    return parse_config(Toy, argv, prog="toy", description="Toy.")


def recipe(tmp_path, text):
    path = tmp_path / "toy.yaml"
    path.write_text(text)
    return str(path)


def test_flags_win_over_the_recipe_and_the_recipe_over_defaults(tmp_path):
    path = recipe(tmp_path, "output: a\nlearning_rate: 0.2\nis-quiet: true\n")
    config = parse("--config", path, "--learning_rate", "0.3")
    assert (config.output, config.learning_rate, config.is_quiet) == ("a", 0.3, True)


def test_an_unknown_key_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(ConfigError, match="learning_rat \\(did you mean learning_rate"):
        parse("--config", recipe(tmp_path, "learning_rat: 1\noutput: a"))


@pytest.mark.parametrize(("text", "message"), [("- a", "mapping"), ("a: [", "not YAML")])
def test_a_recipe_that_is_no_mapping_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        parse("--config", recipe(tmp_path, text))


def test_a_missing_recipe_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no such recipe"):
        parse("--config", str(tmp_path / "no.yaml"))


def test_abbreviated_flags_are_refused():
    with pytest.raises(SystemExit) as caught:
        parse("--output", "a", "--learn", "1")
    assert caught.value.code == 2


def test_help_and_unknown_verbs_have_their_exit_codes(capsys):
    assert main(["--help"]) == 0
    assert main(["lable"]) == 2
    assert "there is no verb 'lable'" in capsys.readouterr().err


def test_the_overview_lists_every_verb():
    assert all(name in usage() for name in VERBS)


def test_a_settings_mistake_exits_with_two_and_without_a_traceback(capsys):
    assert main(["label", "--output", "x.jsonl"]) == 2
    err = capsys.readouterr().err
    assert "an input file or a simulator" in err
    assert "Traceback" not in err


def test_field_docs_reads_the_text_under_a_field():
    from labeling.label import LabelConfig

    assert "Math-Shepherd" in field_docs(LabelConfig)["rollouts"]
