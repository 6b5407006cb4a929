import itertools
import math

import pytest

from labeling.errors import ConfigError
from labeling.simulators.structures.sections import MATERIALS, SECTIONS, of_shape, section_named


def test_an_i_profile_by_hand():
    # IPE 200 without fillets: A = 2 * 100 * 8.5 + (200 - 17) * 5.6 = 2724.8 mm^2;
    # I = (100 * 200^3 - 94.4 * 183^3) / 12 = 18 455 700 mm^4, W = I / 100 = 184 557 mm^3. The tables, with
    # fillets, have 2848 mm^2 and 194 300 mm^3: 5 % more.
    section = section_named("IPE 200")
    assert section.area == pytest.approx(2724.8)
    assert section.second_moment == pytest.approx((100 * 200**3 - 94.4 * 183**3) / 12)
    assert section.modulus == pytest.approx(184_557, rel=1e-4)


def test_a_rectangle_a_box_and_a_pipe_by_hand():
    assert section_named("R 100x200").modulus == pytest.approx(100 * 200**2 / 6)
    # Two walls of 5 x 120 and two of 5 x 50 at 57.5 from the middle.
    box = section_named("RHS 120x60x5")
    by_parts = 2 * 5 * 120**3 / 12 + 2 * (50 * 5**3 / 12 + 50 * 5 * 57.5**2)
    assert box.second_moment == pytest.approx(by_parts)
    assert box.area == pytest.approx(2 * 5 * 120 + 2 * 5 * 50)
    pipe = section_named("CHS 60.3x4")
    assert pipe.area == pytest.approx(math.pi * 56.3 * 4)


def test_no_two_sections_of_a_shape_can_be_taken_for_each_other():
    for shape in ("I", "rectangle", "box", "pipe"):
        sections = of_shape(shape)
        assert len(sections) >= 10
        for name in ("area",) if shape == "pipe" else ("modulus", "second_moment"):
            sizes = sorted(getattr(section, name) for section in sections)
            assert all(b > 1.04 * a for a, b in itertools.pairwise(sizes)), shape


def test_every_section_states_the_dimensions_it_is_computed_from():
    for section in SECTIONS.values():
        assert f"{section.height:g} mm" in section.description
        assert section.hole[0] < section.width
        assert section.hole[1] < section.height
    assert {shape for material in MATERIALS for shape in material.shapes} == {"I", "box", "rectangle"}


def test_an_unknown_section_is_the_users_mistake():
    with pytest.raises(ConfigError, match="no section 'IPE 1'"):
        section_named("IPE 1")
