"""What is said of a running match, and why it is not."""

import pytest

from tests.games.dota.live.streams import NOW, recorded_match, told_again
from understudy.games.dota.advice.match_context import load_models
from understudy.games.dota.live.brief import Brief, brief_of, brief_of_file, brief_of_nothing
from understudy.games.dota.live.match import LiveMatch
from understudy.games.dota.live.page import live_page
from understudy.games.dota.live.report import LIST, Report
from understudy.games.dota.live.sight import load_live


@pytest.fixture(name="models", scope="module")
def _models():
    return load_live(), load_models()


def brief(match, models):
    return brief_of(match, match.context(), *models)


def until(minute, **more):
    return told_again(recorded_match(), kept=lambda clock: clock <= 60 * minute, **more)


def test_who_watches_is_told_a_chance_and_advice(models):
    said = brief(until(12), models)
    assert said.minute == 12 and 0 < said.chance < 1 and len(said.curve) == 13
    assert {line["side"] for line in said.objectives} == {"Radiant", "Dire"}
    assert all(line["gain"] is not None for line in said.objectives)
    assert all(line["gain"] is None for line in (*said.items, *said.wards))
    assert "where wards stand" in said.unknown
    page = live_page(said)
    assert "Where wards go" in page and "unknown: where wards stand" in page
    assert 'class="even"' in page and all(f">{end}\xa0%<" in page for end in (0, 100))


def test_who_plays_is_told_of_the_own_hero_alone(models):
    said = brief(until(12, player=3), models)
    assert said.chance is not None and {line["slot"] for line in said.items} == {3}
    assert not said.objectives and not said.wards
    assert any("which enemy buildings stand is not told" in line for line in said.silent)
    assert ("lead in gold", "unknown") in said.known


def test_there_is_no_chance_where_it_would_rest_on_what_was_missed(models):
    late = told_again(recorded_match(), kept=lambda clock: 480 <= clock <= 780)
    said = brief(late, models)
    assert [minute for minute, chance in said.curve if chance is not None] == [13]
    assert any("told of only from 8:00" in line for line in said.silent)
    gap = brief(told_again(recorded_match(), kept=lambda c: c <= 300 or 430 < c < 490), models)
    assert dict(gap.curve)[7] is None and dict(gap.curve)[8] is not None


def test_beyond_training_it_is_silent(models):
    match = until(12)
    for minute in range(13, 400):
        match.add(
            Report(source=match.source, match_id=match.number, clock=60 * minute, started_at=NOW)
        )
    said = brief(match, models)
    assert said.chance is None and any(
        line.startswith("no chance: the minute") for line in said.silent
    )
    assert "No chance is said now" in live_page(said)


def test_the_list_of_live_matches_gives_a_chance_and_no_advice(models):
    match = LiveMatch(LIST, 5)
    for minute in range(20):
        match.add(
            Report(
                **{"source": LIST, "match_id": 5, "clock": 60 * minute, "started_at": NOW},
                gold_lead=400 * minute,
                scores=(minute, 2),
            )
        )
    said = brief(match, models)
    assert said.chance > 0.6 and not said.items and "buildings" in said.unknown


def test_custom_games_and_beginnings_are_told_apart(models):
    match = LiveMatch("player", 0)
    assert brief_of_nothing().chance is None
    match.add(Report(source="player", match_id=0, clock=-40, started_at=NOW, going_on=False))
    assert "before the horn" in brief(match, models).silent[-1]
    match.add(Report(source="player", match_id=0, clock=10, started_at=NOW, custom="overthrow"))
    assert "another game" in brief(match, models).silent[-1]


def test_a_match_file_is_said_what_replay_says(models):
    context = recorded_match()
    said = brief_of_file(context, models[1])
    curve = models[1].value.chance(context.samples)
    assert [chance for _, chance in said.curve] == curve.tolist()
    assert said.items and said.wards and "gain" not in said.wards[0]
    assert "Where wards go" in live_page(said)


def test_names_from_outside_do_not_enter_the_page_as_markup():
    said = Brief(match_id=1, silent=["<script>alert(1)</script>"], known=[("a", "<b>")])
    assert "<script>alert" not in live_page(said) and "<b>&lt;b&gt;" in live_page(said)
