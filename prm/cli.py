"""Verbs -> stages. The one place that names all floors; a stage is loaded when it is called."""

import atexit
import gc
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from labeling.errors import Terminated, ToolkitError
from prm._refusals import refusal


@dataclass(frozen=True)
class Verb:
    """A stage by name: `module` holds the config class and a `run(config) -> Report` function."""

    module: str
    config: str
    help: str
    run: str = "run"


VERBS = {
    "label": Verb("labeling.label", "LabelConfig", "label the steps of solutions: verifiers or rollouts"),
    "train-prm": Verb("prm.train", "TrainPRMConfig", "train a process reward model on labelled steps"),
    "evaluate": Verb("prm.evaluate", "EvaluateConfig", "measure scores or verdicts against labels"),
    "score": Verb("prm.score", "ScoreConfig", "add step scores to a file of solutions"),
    "train-policy": Verb("rl.train", "TrainPolicyConfig", "improve a policy with step rewards"),
    "quickstart": Verb("rl.quickstart", "QuickstartConfig", "the whole pipeline on an embedded world"),
    "import-gguf": Verb("prm.import_gguf", "ImportGGUFConfig", "turn a GGUF file into a transformers folder"),
    "make-starter": Verb("rl.starter", "StarterConfig", "train the quickstart's starter policy again"),
}


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
"""Characters of data that would move a terminal's cursor, colour it or retitle it -> how they are shown."""


def usage() -> str:
    """Return the overview that `prm --help` prints."""
    width = max(len(name) for name in VERBS)
    lines = [
        "usage: prm VERB [--config RECIPE] [flags]",
        "",
        "Label steps, train and calibrate a process reward model, improve a policy against it.",
        "",
        "verbs:",
    ]
    lines += [f"  {name:<{width}}  {verb.help}" for name, verb in VERBS.items()]
    lines += ["", "`prm VERB --help` lists a verb's settings."]
    lines += ["Exit codes: 0 done, 2 the input or the settings, 1 a fault of ours, 130 interrupted."]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; see `usage`. Returns the exit code."""
    if argv is None:
        # Unwound as by Ctrl-C: worker processes and training runs end, half-written files go.
        signal.signal(signal.SIGTERM, _terminate)
        # Else the interpreter goes through all objects of the model libraries before it ends: seconds.
        atexit.register(gc.freeze)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        _print(usage())
        return 0
    name, *rest = arguments
    if name in ("-V", "--version"):
        from labeling.report import provenance

        _print(provenance()["prm-toolkit"])
        return 0
    if name not in VERBS:
        _print(f"prm: there is no verb {name!r}. Verbs: {', '.join(VERBS)}.", error=True)
        return 2
    try:
        return run_verb(name, rest)
    except ToolkitError as error:
        _print(f"prm {name}: {error}", error=True)
        return error.exit_code
    except KeyboardInterrupt:
        # CPython remembers an interrupt that left an `exec` of a string (dataclasses run them), although
        # it is caught here, and would end the process by SIGINT instead of with our exit code; any other
        # `exec` of a string makes it forget.
        exec("")
        _print(f"prm {name}: interrupted; the same command goes on from what was saved.", error=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001  # process boundary: the rest is our fault, with its traceback
        if (refused := refusal(error)) is not None:
            _print(f"prm {name}: {refused}", error=True)
            return 2
        traceback.print_exc()
        _print(f"prm {name}: a fault of the toolkit, not of your input. Please report it.", error=True)
        return 1


def run_verb(name: str, argv: Sequence[str]) -> int:
    """Load the stage behind a verb, build its config, run it, print its report's headline."""
    # One bar a stage is ours; those of model loading would be in its way.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    # A user's own `package.module:Factory` stands beside the data, not in the environment.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    from prm.config import parse_config

    verb = VERBS[name]
    module = importlib.import_module(verb.module)
    description = f"{verb.help[0].upper()}{verb.help[1:]}."
    config = parse_config(getattr(module, verb.config), argv, prog=f"prm {name}", description=description)
    report = getattr(module, verb.run)(config)
    _print(report.to_markdown())
    return 0


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated(128 + number)


def _print(text: str, *, error: bool = False) -> None:
    stream = sys.stderr if error else sys.stdout
    shown = text.translate(_CONTROLS) + "\n"
    encoding = getattr(stream, "encoding", None) or "utf-8"
    # A terminal of ASCII, or half of a surrogate pair in a path: no reason to lose the rest.
    stream.write(shown.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
