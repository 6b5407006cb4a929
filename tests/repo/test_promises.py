"""What the repository promises as a whole."""

import dataclasses
import importlib
import re
import subprocess
import sys
import time

import pytest

from prm.cli import VERBS
from prm.config import check_keys, field_docs, read_recipe

PACKAGES = ("labeling", "prm", "rl")


def sources(repository):
    files = [f for package in PACKAGES for f in (repository / package).rglob("*.py")]
    assert len(files) > 40
    return files


def recipes(repository):
    files = sorted((repository / "recipes").rglob("*.yaml"))
    assert len(files) >= 5
    return files


def config_class(verb):
    return getattr(importlib.import_module(verb.module), verb.config)


def test_every_recipe_is_a_recipe_of_its_verb(repository):
    for file in recipes(repository):
        name = next(
            v for v in sorted(VERBS, key=len, reverse=True) if file.stem.replace("_", "-").startswith(v)
        )
        check_keys(config_class(VERBS[name]), read_recipe(file), file=file)


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_verb_has_a_config_and_a_run(name):
    module = importlib.import_module(VERBS[name].module)
    assert dataclasses.is_dataclass(config_class(VERBS[name]))
    assert callable(getattr(module, VERBS[name].run))


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_setting_of_a_verb_is_read_somewhere(name, repository):
    # In the files that know this verb's config: `config.seed` of another verb reads nothing of this one.
    texts = [f.read_text(encoding="utf-8") for f in sources(repository)]
    text = "\n".join(t for t in texts if re.search(rf"\b{VERBS[name].config}\b", t))
    fields = dataclasses.fields(config_class(VERBS[name]))
    unread = [f.name for f in fields if not re.search(rf"\bconfig\.{f.name}\b", text)]
    assert unread == []


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_setting_of_a_verb_says_what_it_is(name):
    config = config_class(VERBS[name])
    told = field_docs(config)
    fields = dataclasses.fields(config)
    assert [f.name for f in fields if not (told.get(f.name) or f.metadata.get("help"))] == []


def test_no_source_file_is_crowded(repository):
    lengths = {f: len(f.read_text(encoding="utf-8").splitlines()) for f in sources(repository)}
    assert {f.name: n for f, n in lengths.items() if n > 400} == {}


def test_help_answers_at_once_and_loads_no_model_library():
    code = (
        "import sys; sys.argv = ['prm', '--help']; from prm.cli import main; main();"
        "print(sorted({'torch', 'transformers', 'trl', 'datasets'} & set(sys.modules)))"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
    assert time.monotonic() - started < 20


def test_every_command_of_the_readme_exists(repository):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\s*make ([a-z]+)", readme, re.MULTILINE))
    verbs = set(re.findall(r"\bprm ([a-z][a-z-]+)\b(?= -| --|$|`)", readme, re.MULTILINE))
    assert {"quickstart", "test"} <= targets
    assert all(re.search(rf"^{t}:", makefile, re.MULTILINE) for t in targets)
    assert verbs <= set(VERBS)


def test_the_readme_links_lead_somewhere(repository):
    for page in [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_every_card_names_what_the_toolkit_ships(repository):
    cards = {f.name: f.read_text(encoding="utf-8") for f in (repository / "data_cards").glob("*.md")}
    starter = "labeling/simulators/engineering/starter/"
    assert "labeling.simulators.engineering" in cards["engineering-world.md"]
    assert "labeling.simulators.structures" in cards["structures.md"]
    assert starter in cards["starter-policy.md"]
    n_bytes = (repository / starter / "model.safetensors").stat().st_size
    assert f"{n_bytes:,} bytes of weights" in cards["starter-policy.md"]
