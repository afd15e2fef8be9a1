"""A short part of the campaign; `make campaign` is the long one."""

import json
import os
import random
import resource
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from tests.small_runs import assert_refused, finished_run, understudy
from understudy import cli, games
from understudy.cli.sections import SECTIONS
from understudy.data.integrity.json_files import json_line
from understudy.data.runs import Run, TuningFolder, begin, finish
from understudy.data.shards import shard_path, write_shard
from understudy.errors import InputError
from understudy.league.matches import MATCHES
from understudy.trust.attacks import cases, disks, kills, logs, requests, verbs
from understudy.trust.attacks.answers import KINDS, hostile_answer
from understudy.trust.attacks.damage import damages
from understudy.trust.attacks.machine import without_privileges
from understudy.trust.attacks.stages import STAGES
from understudy.trust.campaign import COLUMNS, Attack, Fault, Ground, by_family, campaign, faults_of
from understudy.trust.check import check
from understudy.trust.command import Done, Kill
from understudy.trust.command import run as run_command


@pytest.fixture
def ground(tmp_path_factory, tmp_path):
    made = Ground(cli.main, tmp_path, tmp_path / "kept")
    made.bases["arena"] = finished_run(tmp_path_factory)
    return made


@pytest.fixture
def run(tmp_path, tmp_path_factory):
    shutil.copytree(finished_run(tmp_path_factory), tmp_path / "run")
    return tmp_path / "run"


def test_a_whole_run_has_no_findings_and_a_damaged_one_exits_with_1(run):
    done = understudy("check", run)
    assert done.code == 0
    assert "all as it was written" in done.out
    path = run / "recordings" / "steps-00001.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    (run / "models" / "notes.docx").write_text("mine")
    (run / "samples" / "moves-00002.parquet").unlink()
    done = understudy("check", run)
    assert done.code == 1
    for words in (f"damaged: {path}", "foreign: ", "missing: ", "stale: "):
        assert words in done.out
    assert_refused(understudy("check", run / "nothing"), "there is no run")


def test_links_to_players_that_are_watched_are_no_findings(run, tmp_path):
    watched = run / "leagues" / "demo" / "watched" / "models"
    watched.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for name, target in (("a", run / "models" / "imitate-quick"), ("b", tmp_path / "elsewhere")):
        (watched / name).symlink_to(target)
    assert check(Run(run)).findings == []
    (run / "models" / "mine").symlink_to(tmp_path / "elsewhere")
    (watched / "c").symlink_to(tmp_path / "nothing")
    assert {one.path.name for one in check(Run(run)).findings} == {"mine", "c"}


def test_a_manifest_without_a_time_is_one_finding_and_the_rest_is_looked_at(run):
    path = run / "samples" / "manifest.json"
    begun = json.loads(path.read_text())
    begun.pop("seal")
    path.write_text(json.dumps(begun | {"begun": "x" * 600}))
    (run / "models" / "notes.docx").write_text("mine")
    kinds = {(finding.kind, finding.path.name) for finding in check(Run(run)).findings}
    assert {("damaged", "manifest.json"), ("foreign", "notes.docx")} <= kinds


def test_every_damage_of_every_sealed_file_is_noticed(ground, tmp_path):
    """By the reader of each kind of file; some 100 damages in seconds."""
    case = tmp_path / "copy"
    shutil.copytree(ground.bases["arena"], case)
    dice = random.Random(3)
    tried = 0
    kinds = {cases._kind(path): path for path in sorted(case.rglob("*")) if path.is_file()}
    for path in (path for kind, path in kinds.items() if kind):
        whole = path.read_bytes()
        for how, damage in damages(path).items():
            damage(path, dice)
            tried += 1
            found = check(Run(case)).findings
            untold = how in ("change a value", "drop a key", "gone", "swap")
            assert untold or found or path.read_bytes() == whole, f"{how} {path}"
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            path.unlink(missing_ok=True)
            path.write_bytes(whole)
    assert tried > 80


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_answer_is_one_line(kind, ground, tmp_path, monkeypatch):
    monkeypatch.setattr(random.Random, "choice", lambda dice, some: _chosen(some, kind))
    (tmp_path / "case").mkdir()
    attack = hostile_answer(ground, tmp_path / "case", random.Random(5))
    assert attack.faults == []


def _chosen(some, kind):
    return kind if kind in some else some[0]


def test_a_campaign_counts_and_keeps_what_goes_wrong(tmp_path):
    def fails(ground, place, dice):
        (place / "evidence").write_text("here")
        os.mkfifo(place / "pipe")
        return Attack("it", "understudy it", [Fault("hangs", "no end")], 3)

    def works(ground, place, dice):
        assert list(place.iterdir()) == []
        return Attack("it", "understudy it", [])

    found = campaign(
        lambda: None,
        {"bad": fails, "good": works},
        seconds=60,
        seed=4,
        kept=tmp_path / "kept",
        most=2,
    )
    assert found.counts["bad"] == dict(zip(COLUMNS, (6, 0, 0, 2, 0), strict=True))
    assert found.counts["good"]["tried"] == 2
    assert found.wrong == 2
    assert (tmp_path / "kept" / "bad-4-1" / "evidence").read_text() == "here"
    assert "understudy it" in (tmp_path / "kept" / "bad-4-1" / "case.json").read_text()


@pytest.mark.parametrize(
    ("done", "column"),
    [
        (Done(0, "fine", ""), None),
        (Done(2, "", "understudy: no"), None),
        (Done(1, "", "Traceback (most recent call last):\n..."), "tracebacks"),
        (Done(-11, "", ""), "tracebacks"),
        (Done(-9, "", "", True), "hangs"),
    ],
)
def test_how_commands_may_end(done, column):
    assert [fault.column for fault in faults_of(done)] == ([column] if column else [])


def test_every_verb_is_attacked_or_reads_no_run():
    attacked = {stage.command.split()[0] for _, stage in STAGES.values()}
    attacked |= {line.split()[0] for lines in verbs.VERBS.values() for line in lines}
    attacked |= {line.split()[0] for line in requests.SERVICES}
    every = {name for section in SECTIONS.values() for name in section}
    # The first two and the last know no run; the others are made of verbs that are attacked.
    assert every - attacked == {"recipes", "verify", "demo", "selftest", "setup"}


def test_a_refusal_is_no_kill(ground, tmp_path, monkeypatch):
    """Nor an end in order: nothing was stopped that could have been lost."""
    shutil.copytree(ground.bases["arena"], tmp_path / "base")
    ground.bases["arena"] = tmp_path / "base"
    ground.seconds["record arena"] = 0.1
    monkeypatch.setattr(kills, "run", lambda *_, **__: Done(2, "", "understudy: no"))
    (tmp_path / "case").mkdir()
    attack = kills.killed("record arena", ground, tmp_path / "case", random.Random(1))
    assert attack.weight == 0
    assert {fault.column for fault in attack.faults} == {"lost"}


def test_what_differs_and_names_no_file_is_silent():
    path, expected = Path("recordings/steps-1.parquet"), {"": "12 rows", "err": ""}
    assert verbs._unlike(dict(expected), expected, path) == []
    assert verbs._unlike({"": "11 rows", "err": "steps-1.parquet is damaged"}, expected, path) == []
    for made in ({"": "11 rows", "err": ""}, {**expected, "page.html": ""}, {"err": ""}):
        assert [one.column for one in verbs._unlike(made, expected, path)] == ["silent wrong"]


@pytest.mark.parametrize("seed", range(6))
def test_damaged_logs_cost_their_lines_alone(seed, ground, tmp_path):
    (tmp_path / "case").mkdir()
    assert logs.damaged_logs(ground, tmp_path / "case", random.Random(seed)).faults == []


@pytest.mark.parametrize("service", requests.SERVICES)
def test_hostile_requests_are_answered_or_their_line_is_closed(
    service, ground, tmp_path, monkeypatch
):
    monkeypatch.setattr(requests, "SERVICES", {service: requests.SERVICES[service]})
    monkeypatch.setattr(requests, "EVERY", 8)
    (tmp_path / "case").mkdir()
    attack = requests.hostile_requests(ground, tmp_path / "case", random.Random(7))
    assert attack.faults == []
    assert attack.weight == 8


@pytest.mark.slow
def test_a_minute_of_all_kinds(tmp_path):
    done = understudy("selftest --minutes 3 --most 1 --seed 5 --keep", tmp_path / "kept")
    assert done.code == 0, done.err


def test_a_campaign_goes_on_from_its_tally_and_adds_up(tmp_path):
    names = []

    def case(ground, place, dice):
        names.append(dice.random())
        return Attack("it", "understudy it", [], 2)

    told = {"seconds": 60, "kept": tmp_path / "kept", "tally": tmp_path / "tally.json"}
    for most in (1, 3):
        found = campaign(lambda: None, {"good": case}, seed=4, most=most, **told)
    assert found.counts["good"]["tried"] == 6
    assert len(set(names)) == 3
    with pytest.raises(InputError, match="of seed 4"):
        campaign(lambda: None, {"good": case}, seed=5, most=1, **told)


def test_agents_are_one_row_and_stages_their_own():
    row = dict.fromkeys(COLUMNS, 1)
    rows = by_family({"agents: A": row, "agents: B": row, "kills: C": row})
    assert rows["agents (2 kinds)"]["tried"] == 2
    assert rows["kills: C"] == row


def test_a_worker_is_killed_and_not_its_command():
    def main():
        worker = os.fork() or time.sleep(60)
        print(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]))

    done = run_command(main, [], kill=Kill(signal.SIGKILL, 0.5, "worker"))
    assert (done.code, done.out, done.bereft) == (0, "-9\n", True)
    done = run_command(lambda: time.sleep(1), [], kill=Kill(signal.SIGKILL, 0.5, "worker"))
    assert (done.code, done.bereft) == (0, False)


def test_ctrl_c_is_heard_though_the_campaign_is_in_the_background():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = run_command(lambda: time.sleep(20), [], kill=Kill(signal.SIGINT, 0.3, "first"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.code, done.err) == (-signal.SIGINT, "")


def test_a_disk_is_read_only_or_full_for_one_process_alone(tmp_path):
    if run_command(disks._own_mounts, []).code:
        pytest.skip("no file systems of one's own here")
    case, under = tmp_path / "run", tmp_path / "under"
    case.mkdir()
    under.mkdir()
    (case / "before").write_text("here")

    def write():
        with (case / "new").open("wb") as file:
            file.write(bytes(20_000))

    done = run_command(write, [], prepare=partial(disks._read_only, case))
    assert "Read-only file system" in done.err
    done = run_command(write, [], prepare=partial(disks._filled, case, under, 9_000))
    assert "No space left" in done.err
    assert [one.name for one in case.iterdir()] == ["before"]

    def write_and_keep():
        (case / "new").write_text("short")
        disks._kept(case, under)

    done = run_command(write_and_keep, [], prepare=partial(disks._filled, case, under, 9_000))
    assert done.code == 0, done.err
    assert {one.name: one.read_text() for one in case.iterdir()} == {
        "before": "here",
        "new": "short",
    }


def test_root_is_refused_what_others_are(tmp_path):
    shut = tmp_path / "shut"
    shut.mkdir()
    shut.chmod(0o500)
    done = run_command(lambda: (shut / "a").write_text("x"), [], prepare=without_privileges)
    assert "Permission" in done.err


def test_a_layer_without_its_last_measurements_is_damaged(tmp_path, tmp_path_factory):
    shutil.copytree(finished_run(tmp_path_factory), tmp_path / "run")
    model = tmp_path / "run" / "models" / "imitate-quick"
    (model / "l2").mkdir()
    for name in ("evaluation.json", "metrics.jsonl"):
        shutil.copy(model / name, model / "l2" / name)
    assert check(Run(tmp_path / "run")).findings == []
    (model / "l2" / "metrics.jsonl").write_bytes(b"")
    assert [one.path for one in check(Run(tmp_path / "run")).findings] == [
        model / "l2" / "metrics.jsonl"
    ]


def test_lines_lost_at_the_end_of_a_study_or_a_league_are_missed(tmp_path):
    """Nothing in a line tells that another followed it; how many there were is known elsewhere."""
    run, tables = Run(tmp_path), games.load("arena")
    study, league = run.tuning("it"), run.league("demo")
    for folder, stage, facts in ((study, "tune", {"trials": 2}), (league, "league", {})):
        begin(folder, stage, {"game": "arena"})
        finish(folder, **facts)
    rows = {name: ["x"] * 4 if name in ("match", "player", "opponent", "ending") else [0] * 4
            for name in tables.results.arrow().names}  # fmt: skip
    write_shard(shard_path(league, tables.results, "00001"), tables.results.build(rows))
    TuningFolder(study).trials.write_text('{"a": 1}\n{"a": 2}\n')
    (league / MATCHES).write_text("".join(map(json_line, [_MATCH, _MATCH])))
    missed = {"league_state.json", "summary.json"}
    for path, content in (
        (study / "trials.jsonl", None),
        (study / "trials.jsonl", b""),
        (study / "trials.jsonl", b'{"a": 1}\n'),
        (study / "trials.jsonl", b'{"a": 1}\n{"a": 2}\n{"a"'),
        (league / MATCHES, b"scrambled"),
        (league / MATCHES, json_line(_MATCH).encode()),
    ):
        whole = path.read_bytes()
        path.write_bytes(whole if content is None else content)
        found = {one.path.name for one in check(run).findings}
        assert found == missed | (set() if content is None else {path.name})
        path.write_bytes(whole)


_MATCH = {"round": 1, "match": "m", "players": ["a", "b"], "seed": 1, "score": 1.0, "steps": 9}


@pytest.mark.parametrize("command", ["check {}", "encode arena --workers 0 --out {}"])
def test_too_few_open_files_are_one_line(command, run):
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (3, 3))
    done = run_command(cli.main, command.format(run).split(), prepare=few)
    assert faults_of(done) == []
    assert done.code and "Too many open files" in done.err + done.out
    assert len(done.err.splitlines()) <= 1
