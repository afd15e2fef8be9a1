"""The command line: a mistake is one line that names the cure, and spoils nothing."""

import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
import typer

from tests.small_runs import (
    COMPETE,
    ENCODE,
    RECORD,
    TRAIN,
    assert_refused,
    contents,
    finished_run,
    succeed,
    tiny_recipe,
    understudy,
)
from understudy.cli.app import EXAMPLES, app
from understudy.data.runs import read_manifest
from understudy.pipeline import report as report_stage

PROGRAM = "from understudy.cli import main; main()"


def leaves(group, before=""):
    """Every command by its words: those by game have two."""
    found = {}
    for name, command in group.commands.items():
        name = f"{before}{name}"
        found |= leaves(command, f"{name} ") if hasattr(command, "commands") else {name: command}
    return found


COMMANDS = leaves(typer.main.get_command(app()))


@pytest.fixture(scope="module", autouse=True)
def recipe():
    with tiny_recipe():
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(tmp_path_factory)


@pytest.fixture
def run(finished, tmp_path):
    """A copy to spoil."""
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- Mistakes ------------------------------------------------------------------------------------

MISTAKES = {
    # what was typed, where {run} is a finished run and {new} nothing yet: what the answer says
    "frobnicate": ["No such command 'frobnicate'", "See: understudy --help"],
    "record arena --wrokers 2": ["No such option: --wrokers", "--workers"],
    "record chess --out {new}": ["there is no game 'chess' to record; there is arena, dota, scml"],
    "encode chess --out {run}": ["there is no game 'chess'; there is arena"],
    "train chess imitate --out {run}": ["there is no game 'chess'; there is arena"],
    "compete chess a b --out {run}": ["there is no game 'chess' to compete; there is arena"],
    "recipes chess": ["there is no game 'chess'; there is arena"],
    "record arena --players nobody --out {new}": ["no player 'nobody'; it has expert, rusher"],
    "record arena --opponents expert,nobody --out {new}": ["no player 'nobody'; it has expert"],
    "record arena --matches 0 --out {new}": ["--matches must be at least 1, not 0"],
    "record arena --seed -1 --out {new}": ["'--seed'", "greater than or equal to 0"],
    "record arena --seed 99999999999 --out {new}": ["'--seed'", "less than or equal to"],
    "record arena --workers two --out {new}": ["workers 'two': give a number", "tcp://host:8786"],
    "record arena --workers two --fresh --out {run}": ["workers 'two': give a number"],
    "record arena --task-seconds 0 --out {new}": ["'--task-seconds'", "greater than"],
    "record arena --logs {new} --out {new}": ["no logs in or below it. Give a folder with"],
    "record arena --logs {new} --fresh --out {run}": ["no logs in or below it. Give a folder with"],
    "record arena --out {run}": ["holds other work: opponents was", "or --fresh"],
    "record arena --out /proc/nowhere": ["cannot write /proc/nowhere/", "choose another --out"],
    "record arena --out {run}/recordings/manifest.json": ["cannot write", "choose another --out"],
    "report {run} --out {run}": ["cannot write {run}: ", "choose another --out"],
    "encode arena --out {new}": ["holds no arena.matches. Make some: understudy record arena"],
    "encode arena --workers 1.5 --fresh --out {run}": ["workers '1.5': give a number"],
    "encode arena --players kiter --out {run}": [
        'players was ["expert"], now ["kiter"]',
        "--fresh",
    ],
    "train arena imitate-quick --out {new}": ["no arena.moves. Make some: understudy encode arena"],
    "train arena magic --out {run}": ["arena has no recipe 'magic'; it has imitate, imitate-quick"],
    "train arena magic --fresh --out {run}": ["arena has no recipe 'magic'"],
    "train arena imitate-quick --seed 8 --out {run}": ["seed was 9, now 8", "or --fresh"],
    "train arena imitate --device abacus --out {run}": ["on 'abacus' here", "--device cpu"],
    "compete arena expert --out {run}": [
        "at least two different players: understudy compete arena"
    ],
    "compete arena expert expert --out {run}": ["at least two different players"],
    "compete arena expert nobody --out {run}": [
        "no player 'nobody'. Scripted: expert, rusher",
        "Trained in {run}: imitate-quick",
    ],
    "compete arena expert rusher --matches 0 --out {run}": ["at least 2 (a match and its rematch)"],
    "compete arena expert rusher --workers -1 --out {run}": ["workers '-1': give a number"],
    "report {new}": ["there is no run at {new}. Begin one: understudy record GAME --out {new}"],
    "report {run}/samples": ["{run}/samples is not a run", "Begin one: understudy record GAME"],
    "replay {new}/expert-rusher-1": ["there is no run at {new}"],
    "replay {run}/nobody-nobody-1": [
        "no recording of match 'nobody-nobody-1'. It has, for example"
    ],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_changes_nothing(mistake, finished, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = {"run": finished, "new": tmp_path / "new"}
    before = files(finished)
    done = understudy(mistake.format_map(places))
    assert_refused(done, *(word.format_map(places) for word in MISTAKES[mistake]))
    assert files(finished) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fresh", [False, True])
def test_a_missing_graphics_card_is_one_line_and_changes_nothing(fresh, finished):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one here")
    before = files(finished)
    done = understudy(TRAIN, "--device", "cuda", "--out", finished, *["--fresh"] * fresh)
    assert_refused(done, "cannot train on 'cuda' here (", "--device cpu")
    assert files(finished) == before


def test_other_settings_are_welcome_after_a_fresh_start(run):
    changed = RECORD.replace("--matches 40", "--matches 8")
    done = understudy(changed, "--out", run)
    assert_refused(done, "matches was 40, now 8. Choose another --out, or --fresh")
    succeed(changed, run, "--fresh")
    assert read_manifest(run / "recordings")["facts"]["matches"] == 8
    for path in (run / "recordings").glob("matches-*.parquet"):
        assert pq.read_metadata(path).num_rows == 2


# --- Damaged files -------------------------------------------------------------------------------


def cut(path):
    """As a copy that broke off leaves it."""
    os.truncate(path, path.stat().st_size // 2)


def older(path):
    """As a version before this one wrote it."""
    table = pq.read_table(path)
    pq.write_table(
        table.replace_schema_metadata(table.schema.metadata | {b"understudy.version": b"0"}), path
    )


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (cut, ["not a whole Parquet file (", "Delete it and run understudy record arena again"]),
        (older, ["version 0 of arena.steps; this program reads version", "record arena --fresh"]),
    ],
)
def test_encode_names_the_recording_it_cannot_read_and_keeps_the_rest(harm, words, run):
    recording = run / "recordings" / "steps-00001.parquet"
    harm(recording)
    shutil.rmtree(run / "samples")
    done = understudy(ENCODE, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "1 of 4 tasks failed, the first (00001) because: ", recording, *words)
    assert "InputError" not in done.err
    assert sorted(path.name for path in (run / "samples").iterdir()) == [
        "manifest.json",
        *(f"moves-{key}.parquet" for key in ("00000", "00002", "00003")),
        "tasks.json",
    ]
    told = json.loads((run / "samples" / "tasks.json").read_text())
    assert (told["total"], told["table"], list(told["failed"])) == (4, "moves", ["00001"])
    assert words[0] in told["failed"]["00001"]


def test_the_cure_for_a_cut_recording_works(run, finished):
    cut(run / "recordings" / "steps-00001.parquet")
    assert_refused(
        understudy(ENCODE, "--out", run, "--quiet", "--workers", "0"), "steps-00001", "Delete it"
    )
    (run / "recordings" / "steps-00001.parquet").unlink()
    done = understudy(ENCODE, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "steps-00001.parquet is missing. Run understudy record arena again")
    succeed(RECORD, run)
    succeed(ENCODE, run)
    assert contents(run) == contents(finished)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (cut, ["not a whole Parquet file (", "Delete it and run understudy encode arena again"]),
        (older, ["version 0 of arena.moves; this program reads version", "encode arena --fresh"]),
    ],
)
def test_train_names_the_samples_it_cannot_read_and_claims_nothing(harm, words, run):
    harm(run / "samples" / "moves-00002.parquet")
    shutil.rmtree(run / "models")
    done = understudy(TRAIN, "--out", run)
    assert_refused(done, run / "samples" / "moves-00002.parquet", *words)
    assert not (run / "models").exists()
    if harm is cut:  # the cure works, and training does not take it for other work
        succeed(ENCODE, run)
        succeed(TRAIN, run)


@pytest.mark.parametrize("content", ["", '{"stage": "rec', "[]", "null", "{}", "\udcff"])
def test_a_damaged_manifest_is_refused_by_every_command(content, run):
    manifest = run / "recordings" / "manifest.json"
    manifest.write_text(content, errors="surrogateescape")
    for command in (RECORD, ENCODE):
        done = understudy(command, "--out", run)
        assert_refused(done, f"{manifest} is damaged (", f"Delete {manifest.parent} and run")
    assert_refused(understudy("report", run), f"{manifest} is damaged (", "Delete ")


def test_a_damaged_manifest_marks_nothing_that_fresh_may_delete_and_its_cure_works(run, finished):
    (run / "recordings" / "manifest.json").write_text("{")
    before = sorted(run.rglob("*"))
    assert_refused(understudy(RECORD, "--out", run, "--fresh"), "is damaged (")
    assert sorted(run.rglob("*")) == before
    shutil.rmtree(run / "recordings")
    succeed(RECORD, run)
    assert contents(run) == contents(finished)


def test_a_model_of_another_architecture_is_refused(run):
    from understudy.data.samples import decisions
    from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy

    other = decisions("arena", "moves", 1, {"speed": "how fast"}, {"jump": 2})
    shape = PolicyShape(other.features, other.heads, (4,))
    save_policy(run / "models" / "imitate-quick", FactoredPolicy(shape, seed=0))
    done = understudy(COMPETE, "--seed", "1", "--out", run, "--quiet", "--workers", "0")
    assert_refused(
        done,
        run / "models" / "imitate-quick",
        "made for 1 features, the arena now has",
        "Train again: understudy train arena imitate-quick --fresh",
    )
    assert not list((run / "results").glob("*-1/*.parquet"))


def test_other_weights_are_other_work_for_a_competition(run):
    from understudy.learn.policy import load_policy, save_policy

    policy = load_policy(run / "models" / "imitate-quick")
    policy.options.bias.data += 1
    save_policy(run / "models" / "imitate-quick", policy)
    done = understudy(COMPETE, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "holds other work: players of imitate-quick was ", "or --fresh")
    succeed(COMPETE, run, "--fresh")


def test_weights_that_are_cut_or_missing_are_refused(run):
    weights = run / "models" / "imitate-quick" / "weights.safetensors"
    cut(weights)
    done = understudy(COMPETE, "--seed", "1", "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, f"{weights}: not the weights of a policy", "Train again")
    weights.unlink()
    done = understudy(COMPETE, "--seed", "2", "--out", run)
    assert_refused(done, f"{weights.parent} holds no weights yet. Finish its training")


def test_players_without_a_decision_are_refused(run):
    done = understudy(
        ENCODE, "--players", "nobody", "--fresh", "--out", run, "--quiet", "--workers", "0"
    )
    assert_refused(done, "holds no decision of nobody", "--players NAME --fresh")


# --- What it answers -----------------------------------------------------------------------------


def test_help_comes_at_once():
    """In processor seconds, however busy the machine is, and without anything heavy."""
    code = (
        "import sys, time; from understudy.cli import main\n"
        "try: main()\n"
        "finally: print(time.process_time(), *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    assert "understudy demo" in done.stdout
    seconds, *modules = done.stdout.splitlines()[-1].split()
    heavy = {"torch", "numba", "pyarrow", "gymnasium", "pettingzoo", "distributed", "numpy", "loky"}
    heavy |= {"scml", "negmas", "scml_agents"}
    assert not heavy & set(modules)
    assert float(seconds) < 1


def test_without_arguments_it_helps():
    assert understudy("") == understudy("--help") == understudy("-h")
    assert understudy("").code == 0
    for name in COMMANDS:
        assert f"  {name.split()[0]} " in understudy("").out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_all_its_options(name):
    done = understudy(f"{name} --help")
    assert done.code == 0
    said = " ".join(done.out.split())
    assert COMMANDS[name].help.splitlines()[0] in said
    for option in COMMANDS[name].params:
        assert option.help
        assert " ".join(option.help.split()) in said
        for spelling in [*option.opts, *option.secondary_opts]:
            if spelling.startswith("-"):
                assert spelling in said


def test_every_example_can_be_typed():
    texts = [EXAMPLES, *(command.help for command in COMMANDS.values())]
    examples = re.findall(
        r"understudy ((?:record|encode|train|compete|report|replay) .+)", "\n".join(texts)
    )
    assert len(examples) >= 8
    for example in examples:
        typed = re.split(r"\s{2,}", example)[0]  # what follows explains it
        name, *arguments = shlex.split(typed)
        if name not in COMMANDS:
            name = f"{name} {arguments.pop(0)}"
        COMMANDS[name].make_context(name, arguments)  # parses, and would run


def test_the_version_is_that_of_the_package():
    assert re.fullmatch(r"understudy \d+\.\d+\.\d+\n", understudy("--version").out)


def test_recipes_and_players_are_listed():
    out = understudy("recipes arena").out
    for word in ("imitate", "imitate-quick", "expert", "collector"):
        assert word in out


def test_a_competition_can_be_read_by_programs(run):
    rates = json.loads(succeed(COMPETE, run, "--json").out)
    assert {(rate["player"], rate["opponent"]) for rate in rates} == set(
        itertools.permutations(["imitate-quick", "expert"])
    )
    for rate in rates:
        assert rate["matches"] == 6
        assert 0 <= rate["low"] <= rate["points"] <= rate["high"] <= 1
    ours, theirs = (rate["points"] for rate in rates)
    assert ours + theirs == pytest.approx(1)


def test_a_recorded_match_becomes_a_page(finished, tmp_path):
    match = pq.read_table(finished / "recordings" / "matches-00000.parquet")["match"][0].as_py()
    page = tmp_path / "replay.html"
    done = understudy("replay", finished / match, "--out", page)
    assert (done.code, done.out) == (0, f"{page}\n")
    assert match in page.read_text()


def test_a_bug_of_ours_is_not_blamed_on_the_user(finished, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(report_stage, "report", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        understudy("report", finished)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_is_stopped_while_something_is_taken_down_is_stopped(number, finished, monkeypatch):
    """A progress bar that was half there cannot be taken down: that is no bug to be shown."""

    def half_there(*_):
        try:
            os.kill(os.getpid(), number)
            time.sleep(10)
        finally:
            [].pop()

    monkeypatch.setattr(report_stage, "report", half_there)
    done = understudy("report", finished)
    assert (done.code, done.err.strip()) == (
        128 + number,
        "understudy: stopped; the same command goes on from here",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_being_asked_to_end_say_how_to_go_on(number, tmp_path):
    command = ["record", "arena", "--matches", "100000", "--workers", "1", "--quiet", "--out"]
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, tmp_path / "run"],
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not list(tmp_path.rglob("matches-*.parquet")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(program.pid, number)  # as a terminal does
    _, told = program.communicate(timeout=30)
    assert program.returncode == 128 + number
    assert told == "understudy: stopped; the same command goes on from here\n"


STOPPED_EARLY = """
import os, signal, sys
from understudy.__main__ import main

class Stop:
    def find_spec(self, name, *told):
        if name == "understudy.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop())
main()
"""


def test_ctrl_c_before_a_command_listens_is_no_traceback():
    """Imports take a second: nobody stops there to read which one it was."""
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    told = [sys.executable, "-c", STOPPED_EARLY]
    done = subprocess.run(told, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("seed", [None, "0", "7", "random"])
def test_the_order_of_sets_is_ours_whatever_a_user_has_set(seed, tmp_path):
    """Some players go through sets: with another order, they make other moves."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, sys\n"
        "atexit.register(lambda: print(hash('order'), sys.flags.hash_randomization))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    environment["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{environment.get('PYTHONPATH', '')}"
    if seed is not None:
        environment["PYTHONHASHSEED"] = seed
    command = [sys.executable, "-m", "understudy", "--version"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    fixed = subprocess.run(
        [sys.executable, "-c", "print(hash('order'), 0)"],
        env=os.environ | {"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout.splitlines()[-1] == fixed.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (
            PermissionError(13, "Permission denied", "a/b"),
            "cannot use a/b: Permission denied. Mend",
        ),
        (OSError(40, "Too many levels", b"a\nb"), r"cannot use 'a\nb': Too many levels. Mend"),
        (OSError(28, "No space left on device"), "cannot use this machine: No space left"),
        (EOFError("Ran out of input"), "a file ends before its time (EOFError: Ran out of input"),
    ],
)
def test_trouble_with_files_is_one_line_in_every_command(failure, words, monkeypatch, tmp_path):
    def fail(*_):
        raise failure

    monkeypatch.setattr("understudy.pipeline.report.report", fail)
    assert_refused(understudy("report", tmp_path), words)


def test_trouble_that_no_file_has_is_a_bug_and_shows_where(monkeypatch, tmp_path):
    def fail(*_):
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("understudy.pipeline.report.report", fail)
    with pytest.raises(ConnectionRefusedError):
        understudy("report", tmp_path)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("tr", ["train"]),
        ("train pet", ["pettingzoo:"]),
        ("train arena imitate-", ["imitate-quick", "imitate-small"]),
        ("train nothing im", []),
        ("compete sc", ["scml"]),
        ("tune arena imitate --tr", ["--try", "--trials"]),
    ],
)
def test_the_shell_completes_verbs_games_recipes_and_options(typed, found, monkeypatch, capsys):
    words = f"understudy {typed}"
    monkeypatch.setenv("_UNDERSTUDY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        app()(prog_name="understudy")
    assert capsys.readouterr().out.split() == found
