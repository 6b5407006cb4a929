"""The stage behind `prm train-policy`: a policy, problems and a reward -> a better policy."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labeling.errors import ConfigError, StoreError
from labeling.report import REPORT_FILE, Report
from labeling.rollouts.policies import policy_folder
from labeling.simulators.load import SIMULATOR_HELP, settings_behind
from labeling.sources.jsonl import ON_ERROR
from labeling.steps import SEGMENT_MODES
from labeling.store import hash_file
from labeling.verifiers.registry import ANSWERS
from prm.resume import finished_before, hash_model, read_report
from rl.methods import METHODS
from rl.penalties import PENALTIES
from rl.trainers.group_sizes import check_group_sizes

REWARD_HELP = (
    "What judges completions: outcome (the final answer alone), verifiers:arithmetic,answers (programs"
    " on each step), simulator (its exact step verdicts), or prm:FOLDER (a process reward model)."
)
GRADER_HELP = (
    "What grades final answers where there is no simulator: answers (against the reference), code (by the"
    " problem's tests), or a verifier of your own with a `grade`."
)
NO_SIGNAL = "share of groups without outcome signal"
"""Name of a number in the report: groups whose completions are all right or all wrong, of all groups."""


@dataclass(kw_only=True)
class TrainPolicyConfig:
    """Settings of `prm train-policy`."""

    model: str = field(metadata={"help": 'Folder of the policy to start from; "starter" ships with us.'})
    output: str = field(metadata={"help": "Folder to write the trained policy and its report to."})
    problems: str = field(default="", metadata={"help": "File of problems with answers (JSON Lines)."})
    test_problems: str = field(default="", metadata={"help": "File of held-out problems (JSON Lines)."})
    simulator: str = field(default="", metadata={"help": SIMULATOR_HELP})
    simulator_problems: int = field(default=2048, metadata={"help": "Training problems to generate."})
    test_count: int = field(
        default=0, metadata={"help": "Held-out problems to evaluate on before and after; 0: none."}
    )
    reward: str = field(default="outcome", metadata={"help": REWARD_HELP})
    grader: str = field(default=ANSWERS, metadata={"help": GRADER_HELP})
    segment: str = field(
        default="line", metadata={"help": f"How completions are cut into steps: {', '.join(SEGMENT_MODES)}."}
    )
    method: str = field(default="step_grpo", metadata={"help": f"Estimator: {', '.join(METHODS)}."})
    process_weight: float | None = field(
        default=None, metadata={"help": "Weight of the step scores; unset: the method's own."}
    )
    ceiling: float | None = field(
        default=None, metadata={"help": "Score from which a step counts as fully right; unset: the method's."}
    )
    penalties: list[str] = field(
        default_factory=list, metadata={"help": f"Costs on steps, of {', '.join(PENALTIES)}."}
    )
    steps: int = field(default=60, metadata={"help": "Optimiser steps."})
    learning_rate: float = field(
        default=1e-6, metadata={"help": "Learning rate, constant after the warm-up."}
    )
    warmup_steps: int = field(
        default=0, metadata={"help": "Optimiser steps over which the rate rises; small models need some."}
    )
    num_generations: int = field(default=8, metadata={"help": "Completions of one problem (group size)."})
    completions_per_step: int = field(
        default=64, metadata={"help": "Completions an optimiser step: problems x num_generations."}
    )
    micro_batch_size: int = field(
        default=0, metadata={"help": "Completions a forward pass; 0: all of a step."}
    )
    max_completion_tokens: int = field(default=256, metadata={"help": "Limit of new tokens."})
    temperature: float = field(default=1.0, metadata={"help": "Of sampling, in training and evaluation."})
    on_error: str = field(
        default="stop", metadata={"help": "A malformed line of problems: stop, or skip and count it."}
    )
    save_every: int = field(default=20, metadata={"help": "Optimiser steps between checkpoints."})
    seed: int = field(default=0, metadata={"help": "Sampling and the order of problems follow from it."})

    def __post_init__(self) -> None:
        faults = [*self._reward_faults(), *self._size_faults()]
        if faults:
            raise ConfigError("; ".join(faults) + ".", remedy="Change the recipe or the flags.")
        check_group_sizes(
            completions_per_round=self.completions_per_step, num_generations=self.num_generations
        )

    def _reward_faults(self) -> Iterator[str]:
        kind, _, argument = self.reward.partition(":")
        if kind not in ("outcome", "simulator", "verifiers", "prm"):
            known = "outcome, verifiers:NAMES, simulator and prm:FOLDER"
            yield f"there is no reward {self.reward!r}: known are {known}"
        elif (kind in ("verifiers", "prm")) != bool(argument):
            yield "write verifiers:NAMES or prm:FOLDER; outcome and simulator stand alone"
        if kind == "simulator" and not self.simulator:
            yield "the reward simulator needs a simulator"
        if self.simulator and self.grader != ANSWERS:
            yield "a simulator grades its own problems: leave grader out"
        if kind == "outcome" and self.penalties:
            yield "penalties are charged on steps, and the reward outcome has none"
        if unknown := [name for name in self.penalties if name not in PENALTIES]:
            yield f"there is no penalty {', '.join(unknown)}: choose among {', '.join(PENALTIES)}"
        if self.method not in METHODS:
            yield f"there is no method {self.method!r}: choose one of {', '.join(METHODS)}"

    def _size_faults(self) -> Iterator[str]:
        if bool(self.problems) == bool(self.simulator):
            yield "give either problems or simulator"
        if self.test_count and not (self.simulator or self.test_problems):
            yield "test_count needs test_problems or a simulator"
        if min(self.steps, self.save_every, self.max_completion_tokens, self.simulator_problems) < 1:
            yield "steps, save_every, max_completion_tokens and simulator_problems are at least 1"
        if self.learning_rate <= 0 or self.temperature <= 0:
            yield "learning_rate and temperature are positive"
        if self.seed < 0 or (self.process_weight is not None and self.process_weight < 0):
            yield "seed and process_weight are not negative"
        if self.ceiling is not None and not 0 < self.ceiling <= 1:
            yield "ceiling lies above 0 and up to 1"
        if self.segment not in SEGMENT_MODES:
            yield f"segment is one of {', '.join(SEGMENT_MODES)}"
        if self.on_error not in ON_ERROR:
            yield f"on_error is one of {', '.join(ON_ERROR)}"
        if self.micro_batch_size < 0 or self.completions_per_step % (self.micro_batch_size or 1):
            yield "micro_batch_size divides completions_per_step"


def run(config: TrainPolicyConfig) -> Report:
    """Train a policy; see the module's docstring.

    An interrupted run goes on from its last checkpoint when started again with the same settings; a
    finished one is recognised by its report and not done again.

    Writes to `output`: the model (transformers layout), metrics.jsonl (one row an optimiser step) and
    report.json.

    Raises:
        InputError: The settings, the model folder, the problems or the output cannot be used.
    """
    output = Path(config.output)
    if (output / REPORT_FILE).is_file():
        return finished(output, config)
    # trl takes seconds to import; `--help` and refused settings need not wait for it.
    from rl.policy_run import train_policy

    return train_policy(config)


def comparable(config: TrainPolicyConfig) -> dict[str, Any]:
    """Return the settings that decide the result: two runs with equal ones are the same run."""
    settings = asdict(config)
    for name in ("output", "save_every", "on_error"):
        del settings[name]
    if config.grader == ANSWERS:
        # Runs from before there was a choice are the same runs.
        del settings["grader"]
    return settings


def input_hashes(config: TrainPolicyConfig) -> dict[str, Any]:
    """Return the hashes of what the settings name, which may change under the same name.

    None: not set, or not there any more. A user's own simulator or verifier is code, and is not hashed.
    """
    kind, _, folder = config.reward.partition(":")
    named = f"{config.simulator},{folder if kind == 'verifiers' else ''}"
    behind = settings_behind(named)
    return ({"simulator_settings": behind} if behind else {}) | {
        "model_sha256": hash_model(policy_folder(config.model)),
        "problems_sha256": _hash_if_there(config.problems),
        "test_problems_sha256": _hash_if_there(config.test_problems),
        "reward_sha256": hash_model(Path(folder)) if kind == "prm" else None,
    }


def _hash_if_there(file: str) -> str | None:
    return hash_file(file) if file and Path(file).is_file() else None


def differing(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the names of the wanted values that are held otherwise; what is missing counts as None."""
    return ", ".join(name for name, value in wanted.items() if held.get(name) != value)


def finished(output: Path, config: TrainPolicyConfig) -> Report:
    """Return the report of a finished run once more.

    A report that holds no hashes, from an earlier version, is accepted with a note: nothing is written.

    Raises:
        StoreError: It is another stage's, or of other settings, problems or models.
    """
    body = read_report(output)
    settings = body.get("settings", {})
    if body.get("stage") != "train-policy":
        raise StoreError(
            "the output holds something else than a run of train-policy.",
            remedy="Choose another --output.",
            file=output,
        )
    hashes = input_hashes(config)
    is_comparable = hashes.keys() <= settings.keys()
    if names := differing(settings, comparable(config) | (hashes if is_comparable else {})):
        raise StoreError(
            f"the output holds a finished run with other settings or inputs: {names}.",
            remedy="Choose another --output, or remove it.",
            file=output,
        )
    note = (
        "" if is_comparable else "Whether problems and models are the same is not known: its report is old."
    )
    return finished_before(body, note)
