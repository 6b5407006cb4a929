"""Every specification: its references hold, its mutants fail for the reason they name."""

from random import Random

import pytest
from controllers_engine import ToyEngine

from labeling.simulators.controllers.blocks import Program
from labeling.simulators.controllers.check import CONTRACT, check, violated_at
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.harness import Runner
from labeling.simulators.controllers.references import faulty_programs, reference_program
from labeling.simulators.controllers.spec import draw
from labeling.simulators.controllers.text import problem_text
from labeling.simulators.controllers.traces import traces_of
from labeling.simulators.controllers.world import compiled

SEEDS = range(4)
IN_STRUCTURED_TEXT = [name for name, family in FAMILIES.items() if family.structured_text]


def drawn(name, seed, n_tasks=3):
    return draw(FAMILIES[name], Random(seed), n_tasks=n_tasks)


def found(specification, code, **settings):
    findings = check(ToyEngine(), specification, code, specification.properties, is_complete=True, **settings)
    assert findings.stopped is None
    return findings.violations


def run(specification, code, trace):
    with ToyEngine().session() as session:
        return Runner(session, specification, code, is_complete=True).run([trace])[0]


def test_there_are_enough_specifications():
    assert len(FAMILIES) >= 12
    assert len(IN_STRUCTURED_TEXT) >= 4


@pytest.mark.parametrize("name", FAMILIES)
def test_a_specification_is_written_without_contradiction(name):
    family = FAMILIES[name]
    specification = drawn(name, 0)
    ids = [prop.id for prop in specification.properties]
    roles = [signal.role for signal in (*family.inputs, *family.outputs)]
    assert len(family.tasks) == 3
    assert len(set(ids)) == len(ids)
    assert CONTRACT.id not in ids
    # A role and a parameter of one name would be put into each other's place in a text.
    assert not set(roles) & set(vars(specification.parameters))
    outputs = {signal.role for signal in family.outputs}
    assert all(prop.outputs and outputs.issuperset(prop.outputs) for prop in specification.properties)
    assert "$" not in problem_text(specification)
    assert all(
        specification.fill(prop.sentence) in problem_text(specification) for prop in specification.properties
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_the_reference_satisfies_every_property(name):
    for seed in SEEDS:
        specification = drawn(name, seed)
        assert found(specification, reference_program(specification)) == ()


@pytest.mark.parametrize("name", IN_STRUCTURED_TEXT)
def test_the_reference_in_structured_text_satisfies_every_property(name):
    for seed in SEEDS:
        specification = drawn(name, seed)
        code = compiled(Program("st", reference_program(specification, "st")), specification)
        assert found(specification, code) == ()


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mutant_fails_for_the_reason_it_names(name):
    assert len(FAMILIES[name].mutants) >= 5
    for seed in SEEDS:
        specification = drawn(name, seed)
        for mutant in faulty_programs(specification):
            broken = {v.property.id for v in found(specification, mutant.code, is_shrunk=False)}
            assert mutant.breaks in broken, (seed, mutant)
            assert CONTRACT.id not in broken, (seed, mutant)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_property_has_a_mutant_that_breaks_it(name):
    specification = drawn(name, 0)
    assert {m.breaks for m in faulty_programs(specification)} == {p.id for p in specification.properties}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_failing_trace_fails_again_is_shorter_and_the_reference_passes_it(name):
    as_found = shortest = 0
    for seed in (0, 1):
        specification = drawn(name, seed)
        reference = reference_program(specification)
        for mutant in faulty_programs(specification):
            first = found(specification, mutant.code)[0]
            assert len(first.run.trace) == first.cycle + 1 <= first.original_cycles
            again = run(specification, mutant.code, first.run.trace)
            assert again.history == first.run.history
            assert violated_at(specification, first.property, again) == first.cycle
            passed = run(specification, reference, first.run.trace)
            assert violated_at(specification, first.property, passed) is None
            as_found += found(specification, mutant.code, is_shrunk=False)[0].cycle
            shortest += first.cycle
    # Some are as short as they can be when they are found: a light has to run through its times.
    assert shortest <= as_found
    assert shortest < as_found or name == "traffic-light"


@pytest.mark.parametrize("name", FAMILIES)
def test_fewer_sub_tasks_ask_for_fewer_properties(name):
    easy, hard = drawn(name, 3, n_tasks=1), drawn(name, 3)
    assert 0 < len(easy.properties) < len(hard.properties)
    assert found(easy, reference_program(easy)) == ()
    assert len(faulty_programs(easy)) < len(faulty_programs(hard))


@pytest.mark.parametrize("name", FAMILIES)
def test_traces_are_the_same_each_time_and_stay_in_range(name):
    specification = drawn(name, 5)
    stated = [s for s in specification.family.inputs if not s.is_measured]
    given = specification.family, specification.parameters
    traces = traces_of(*given, seed=1)
    assert traces == traces_of(*given, seed=1) != traces_of(*given, seed=2)
    for trace in traces:
        assert all(s.low <= v <= s.high for row in trace for s, v in zip(stated, row, strict=True))
