import errno
import sys
from dataclasses import dataclass, field

import pytest

from labeling.errors import ConfigError, ToolkitError
from prm.cli import VERBS, Verb, main, usage
from prm.config import field_docs, parse_config


@dataclass(kw_only=True)
class Toy:
    """A toy."""

    output: str
    learning_rate: float = 0.1
    is_quiet: bool = False
    n_steps: int = 1
    names: list[str] = field(default_factory=list)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [("names: a.jsonl", "'a.jsonl', no list"), ("n_steps: [3]", "not one value")],
)
def test_a_recipe_keeps_lists_and_single_values_apart(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        parse("--config", recipe(tmp_path, f"output: a\n{text}"))


def test_values_of_a_recipe_are_read_as_those_of_flags(tmp_path, capsys):
    config = parse("--config", recipe(tmp_path, "output: 7\nlearning_rate: 1\nn_steps: 2\nnames: [a, b]"))
    assert (config.output, config.n_steps, config.names) == ("7", 2, ["a", "b"])
    assert isinstance(config.learning_rate, float)
    with pytest.raises(SystemExit) as caught:
        parse("--config", recipe(tmp_path, "output: a\nn_steps: 2.5"))
    assert caught.value.code == 2
    assert "invalid int value: '2.5'" in capsys.readouterr().err


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


def test_help_shows_defaults_that_can_be_seen(capsys):
    with pytest.raises(SystemExit):
        main(["train-prm", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "(default: 1e-05)" in shown
    assert r"(default: '\n')" in shown
    assert "(default: )" not in shown
    assert "(default: None)" not in shown


def test_help_keeps_capitals(capsys):
    with pytest.raises(SystemExit):
        main(["import-gguf", "--help"])
    assert "Turn a GGUF file" in capsys.readouterr().out


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


class _Stage:
    """Stands where a verb's module stands."""

    Toy = Toy

    def __init__(self, error):
        self.error = error

    def run(self, config):
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ConfigError("no."), 2, "prm toy: no."),
        (ToolkitError("ours."), 1, "prm toy: ours."),
        (ZeroDivisionError("unforeseen"), 1, "a fault of the toolkit"),
        (KeyboardInterrupt(), 130, "goes on from what was saved"),
    ],
)
def test_each_end_of_a_verb_has_its_exit_code(monkeypatch, capsys, error, code, says):
    monkeypatch.setitem(VERBS, "toy", Verb("toy_stage", "Toy", "a toy"))
    monkeypatch.setitem(sys.modules, "toy_stage", _Stage(error))
    assert main(["toy", "--output", "a"]) == code
    told = capsys.readouterr().err
    assert says in told
    assert ("Traceback" in told) == isinstance(error, ZeroDivisionError)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (FileExistsError(errno.EEXIST, "File exists", "afile"), "prm toy: afile: File exists."),
        (PermissionError(errno.EACCES, "Permission denied", "shut"), "prm toy: shut: Permission denied."),
        (OSError(errno.ENOSPC, "No space left on device"), "prm toy: No space left on device."),
    ],
)
def test_a_path_that_the_system_refuses_is_the_users_matter(monkeypatch, capsys, error, says):
    monkeypatch.setitem(VERBS, "toy", Verb("toy_stage", "Toy", "a toy"))
    monkeypatch.setitem(sys.modules, "toy_stage", _Stage(error))
    assert main(["toy", "--output", "a"]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told


def test_data_cannot_send_commands_to_the_terminal(monkeypatch, capsys):
    monkeypatch.setitem(VERBS, "toy", Verb("toy_stage", "Toy", "a toy"))
    monkeypatch.setitem(sys.modules, "toy_stage", _Stage(ConfigError("a\x1b]0;title\x07 \x9b31m\ttab é.")))
    main(["toy", "--output", "a"])
    assert "a\\x1b]0;title\\x07 \\x9b31m\ttab é." in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["learning_rate: 2001-99-99", "learning_rate: !!int foo", "output: " + "[" * 3000]
)
def test_what_the_yaml_reader_chokes_on_is_told_as_no_yaml(tmp_path, text):
    with pytest.raises(ConfigError, match="this is not YAML"):
        parse("--config", recipe(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"), [("n_steps:", "n_steps is empty"), ("names: [1]", "else than texts")]
)
def test_empty_settings_and_lists_of_numbers_are_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        parse("--config", recipe(tmp_path, f"output: a\n{text}"))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_without_end_is_refused(value):
    with pytest.raises(ConfigError, match="learning_rate: not a finite number"):
        parse("--output", "a", f"--learning_rate={value}")
