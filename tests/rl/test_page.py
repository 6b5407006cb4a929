import dataclasses
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

from rl.charts import learning_curves, smooth
from rl.page import MIDDLE_COLOUR, RIGHT_COLOUR, WRONG_COLOUR, Page, cell, chain, colour_of, render
from rl.quickstart_page import share_without_signal_at_start, signal_text


def test_smoothing_is_a_centred_mean_that_leaves_gaps_out():
    # By hand, span 3: (1+3)/2, (1+3)/2 with the gap left out, (3+5)/2, (3+5)/2.
    assert smooth([1.0, math.nan, 3.0, 5.0], span=3) == pytest.approx([1.0, 2.0, 4.0, 4.0])


def test_smoothing_a_constant_changes_nothing_and_no_number_gives_no_number():
    assert smooth([2.0] * 20) == pytest.approx([2.0] * 20)
    assert np.isnan(smooth([math.nan] * 3)).all()


def test_colours_run_from_wrong_to_right_and_grey_means_no_score():
    wrong, middle, right, none = (colour_of(score)[0] for score in (0.0, 0.5, 1.0, None))
    assert len({wrong, middle, right, none}) == 4
    assert colour_of(-1.0) == colour_of(0.0)
    assert colour_of(2.0) == colour_of(1.0)


def test_both_ends_and_the_middle_have_the_colours_that_are_written_down():
    for score, (red_part, green_part, blue_part) in (
        (0.0, WRONG_COLOUR),
        (0.5, MIDDLE_COLOUR),
        (1.0, RIGHT_COLOUR),
    ):
        assert colour_of(score)[0] == f"#{red_part:02x}{green_part:02x}{blue_part:02x}"
    # Halfway between wrong and the middle, each part is the mean of both.
    halfway = [int(colour_of(0.25)[0][i : i + 2], 16) for i in (1, 3, 5)]
    assert halfway == pytest.approx(
        [(a + b) / 2 for a, b in zip(WRONG_COLOUR, MIDDLE_COLOUR, strict=True)], abs=0.5
    )


def red(score):
    return int(colour_of(score)[0][1:3], 16)


def blue(score):
    return int(colour_of(score)[0][5:7], 16)


def test_more_right_is_bluer_and_less_red():
    scores = [0.5, 0.7, 0.9, 1.0]
    assert all(red(a) >= red(b) for a, b in itertools.pairwise(scores))
    assert blue(0.0) < blue(0.5) < 256


def test_a_missing_number_is_shown_as_missing():
    assert cell({"value": None}) == {"value": "n/a", "range": ""}
    assert cell({"value": 0.5, "low": 0.25, "high": 0.75}) == {"value": "0.500", "range": "0.250 to 0.750"}
    steps = [{"text": "x", "score": None, "verdict": "UNDECIDED", "reason": ""}]
    assert chain("t", "p", steps)["steps"][0]["score"] == "n/a"


def test_two_charts_on_one_page_share_no_id():
    curve = [{"completions": 64, "a": 0.5}, {"completions": 128, "a": math.nan}]
    one, two = (
        learning_curves({"exact": curve}, {"exact": "exact"}, quantities=(("a", title),)) for title in "XY"
    )
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, known in zip((one, two), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= known


def test_no_text_on_the_page_becomes_markup_whatever_a_policy_writes():
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)> \" ' {{ 7 * 7 }} {% raw %}"
    row = {"name": hostile, "note": hostile, "is_ours": True, "cells": [{"value": hostile, "range": hostile}]}
    steps = [{"text": hostile, "score": 0.5, "verdict": hostile, "reason": hostile}]
    texts = {f.name: hostile for f in dataclasses.fields(Page) if f.type is str}
    values: dict[str, Any] = {
        **{name: "<svg></svg>" if name.endswith("_svg") else text for name, text in texts.items()},
        "policy_columns": [hostile],
        "policy_rows": [row],
        "labels_rows": [(hostile, hostile)],
        "prm_rows": [(hostile, hostile, hostile)],
        "chains": [chain(hostile, hostile, steps)],
        "timings": [(hostile, hostile)],
    }
    html = render(Page(**values))
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 25
    assert "<script" not in html
    assert "<img" not in html
    assert html.count("{{ 7 * 7 }}") == html.count("&lt;script&gt;")
    # Outside of attributes a quotation mark does no harm; inside, it would end them.
    assert re.findall(r"<[^>]*(?:alert|onerror)", html) == []


def test_the_share_of_groups_without_signal_at_the_start_is_that_of_the_first_five_steps():
    curve = [{"step/degenerate_outcome": share} for share in (0.5, 0.25, 0.75, 0.5, 0.0, 1.0, 1.0)]
    assert share_without_signal_at_start(curve) == 0.4
    assert math.isnan(share_without_signal_at_start([]))
    text = signal_text({"outcome": 0.25, "exact": None}, curve)
    assert "0.40 in the first 5 steps" in text
    assert "0.25 (outcome only), n/a (step-GRPO, exact verdicts)" in text
