"""Players by the names people type: scripted ones, models of a run, folders, code of their own."""

from collections.abc import Iterable
from pathlib import Path

from understudy.data.integrity.json_files import read_json
from understudy.data.integrity.shapes import LeagueSummary
from understudy.data.manifests import read_manifest
from understudy.data.own_code import OwnCode, is_reference, refer, require_name
from understudy.data.players import Contender, Mixture, PlayerRef
from understudy.data.runs import LeagueFolder, Run
from understudy.errors import InputError, did_you_mean, some
from understudy.league.state import check_weights, read_state
from understudy.names import fault_of, plain_name
from understudy.pipeline.game import Game

MIXTURE = "mixture"
"""By LEAGUE/mixture; what a league made itself is called by a learner and a round: `main-003`."""


def contender(game: Game, run: Run, name: str) -> Contender:
    """Who can be drawn or seated for a match: a player by name, or the mixture of a league."""
    league, _, player = name.partition("/")
    if player == MIXTURE and league in _leagues(run):
        return _mixture(game, run, league)
    return resolve(game, run, name)


def resolve(game: Game, run: Run, name: str) -> PlayerRef:
    """A player by name: scripted, a model or league of this run, or the folder of a model."""
    if name in game.players:
        return PlayerRef(name)
    if is_reference(name):
        return own_policy(game, name)
    if (folder := run.model_folder(name)) is not None:
        there = folder.resolve()
        label = there.name if folder.name in ("", "..") else folder.name  # a link has its own name
        return PlayerRef(plain_name(label, "a player's name"), there)
    if (found := of_a_league(run, name)) is not None:
        return found
    require_name(name)
    models = sorted(path.name for path in run.models.glob("*/")) if run.models.is_dir() else []
    trained = [*models, *_leagues(run)]
    raise InputError(
        f"there is no player '{name}'{did_you_mean(name, [*game.players, *trained])}. "
        f"Scripted: {some(game.players, f'understudy recipes {game.name}')}. "
        f"Trained in {run.folder}: {some(trained, str(run.folder)) or 'none yet'}. "
        "Your own: FILE.py:NAME or package.module:NAME"
    )


def default_start(game: Game, run: Run, league: Path, *, resume: bool = True) -> str:
    """Whom all of a league begin with where nobody is named.

    The game says who; where the run has no such model, its first clone that was made the same way
    but for its size. A league that was begun, and is gone on with, keeps whom it began with.
    """
    assert game.league is not None
    usual = game.league().start
    if usual is None:
        return next(iter(game.players))
    there = [name for name in _made_alike(game, usual) if [*run.model(name).glob("weights.*")]]
    known = read_manifest(league) if resume else None
    begun = (known or {}).get("settings", {}).get("start")
    return begun if begun in there else next(iter(there), usual)


def _made_alike(game: Game, usual: str) -> list[str]:
    """Recipes that learn the same from the same table and from nothing before; `usual` first."""
    every = {name: recipe.settings() for name, recipe in game.recipes().items()}

    def kind(name: str) -> list[object]:
        return [every[name].get(what) for what in ("decisions", "objective", "start")]

    found = [name for name in every if kind(name) == kind(usual)] if usual in every else [usual]
    return sorted(found, key=lambda name: name != usual)


def of_a_league(run: Run, name: str) -> PlayerRef | None:
    """The main agent of a league of the run by the league's name, or any player by LEAGUE/NAME."""
    league, _, player = name.partition("/")
    if league not in _leagues(run) or fault_of(player or "main"):
        return None
    folder = LeagueFolder(run.league(league))
    if player == MIXTURE:
        there = [f"{league}/{one}" for one in _shares(folder) if folder.player(one).is_dir()]
        raise InputError(
            f"{name} is several players, one of whom is drawn for every match of compete. Name one "
            f"here: {some(there, str(folder.summary)) or 'none yet'}"
        )
    if not player:
        told = _summary(folder)
        players = [] if told is None else told["players"]
        mains = [one["name"] for one in players if "main" in one.get("present", [])]
        if not mains:
            raise InputError(f"the league {league} is not finished: run it again, it goes on")
        player = mains[0]
    weights = folder.player(player)
    return PlayerRef(player, weights.resolve()) if weights.is_dir() else None


def _mixture(game: Game, run: Run, league: str) -> Mixture:
    """The Nash mixture of a league; its members are as the league knows them."""
    folder = LeagueFolder(run.league(league))
    known = read_state(folder.folder)
    if known is None or not (shares := _shares(folder)):
        raise InputError(f"the league {league} has no mixture yet: run it again, it goes on")
    found = list[tuple[PlayerRef, float]]()
    for name, share in shares.items():
        ref = _member(game, run, folder, name)
        check_weights(ref, known.weights.get(name))
        found.append((ref, share))
    return Mixture(f"{league}-{MIXTURE}", tuple(found))


def _member(game: Game, run: Run, league: LeagueFolder, name: str) -> PlayerRef:
    """A player that the league made, or that it began with or met."""
    if name in game.players:
        return PlayerRef(name)
    for folder in (league.player(name), run.model(name)):
        if folder.is_dir():
            return PlayerRef(name, folder.resolve())
    raise InputError(
        f"{league.folder.name}/{MIXTURE} has a share of {name}, which is from elsewhere: put its "
        f"weights into {run.model(name)}"
    )


def _shares(folder: LeagueFolder) -> dict[str, float]:
    """Of its own Nash mixture, by name; empty before its first round."""
    told = _summary(folder)
    return {} if told is None else told.get("own_nash", {})


def _summary(folder: LeagueFolder) -> LeagueSummary | None:
    return read_json(folder.summary, LeagueSummary, "Run the same league again")


def _leagues(run: Run) -> list[str]:
    return sorted(path.name for path in run.leagues.glob("*/")) if run.leagues.is_dir() else []


def scripted(game: Game, name: str) -> PlayerRef:
    """A player without weights: a scripted one by name, or somebody's own."""
    if is_reference(name):
        return own_policy(game, name)
    if name not in game.players:
        require_name(name)
        raise InputError(
            f"{game.name} has no player '{name}'{did_you_mean(name, game.players)}; it has "
            f"{some(game.players, f'understudy recipes {game.name}')}, and your own as FILE.py:NAME"
        )
    return PlayerRef(name)


def own_policy(game: Game, reference: str) -> PlayerRef:
    """A policy of somebody's own for a game of two; what cannot be one is refused now."""
    from understudy.learn.rl.acting.own_policy import OwnPolicy

    ref = brought(reference, game.players)
    assert ref.code is not None
    OwnPolicy(ref.code, {})
    return ref


def brought(text: str, taken: Iterable[str]) -> PlayerRef:
    """A player of somebody's own, called by its class or function; where that is taken, by more."""
    code: OwnCode = refer(text)
    name = code.name if code.name not in set(taken) else f"{code.home}.{code.name}"
    return PlayerRef(name, code=code)
