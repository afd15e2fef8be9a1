"""How fast matches are read and encoded, beside the same work in pandas; and in how much memory.

    python benchmarks/dota_encode.py [--data FOLDER] [--many 100000]

The pandas version makes the features of four groups (economy as the seed has it, objectives, kills,
the dearer items) with group-bys and merges; its numbers are checked against ours row by row.
Measured in CPU seconds of one process. Without --data, on made-up matches.
"""

import argparse
import json
import resource
import tempfile
import time
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from understudy import games
from understudy.data.runs import Run
from understudy.games.dota.features import features, team_rating
from understudy.games.dota.features.encode import encode
from understudy.games.dota.features.timeline import build_timeline
from understudy.games.dota.sources.match_files import read_logs
from understudy.games.dota.sources.synthetic import World, generate
from understudy.games.dota.sources.table_import import read_tables
from understudy.pipeline import encode as encode_stage
from understudy.pipeline import import_matches as import_matches_stage

SIDES = {0: "rad", 1: "dire"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder of real matches")
    parser.add_argument("--many", type=int, default=0, help="so many made-up ones, for memory")
    options = parser.parse_args()
    source = read_tables(options.data) if options.data else generate(World(), 1000)
    batches = [batch.tables for batch in source]
    matches = sum(len(tables["matches"]) for tables in batches)
    results = (team_rating.results_of(tables["matches"]) for tables in batches)
    known = team_rating.strengths(chain.from_iterable(results))
    whole = timed(lambda: [encode(tables, known) for tables in batches])
    ours = timed(lambda: [some_features(tables) for tables in batches])
    theirs = timed(lambda: [pandas_features(tables) for tables in batches])
    check(some_features(batches[0]), pandas_features(batches[0]))
    print(f"{matches:,} matches, CPU seconds of one process")
    print(f"  all groups and labels, as tables   {whole:7.2f}  {matches / whole:8,.0f} matches/s")
    print(f"  four groups                        {ours:7.2f}  {matches / ours:8,.0f} matches/s")
    print(f"  the same four groups in pandas     {theirs:7.2f}  {matches / theirs:8,.0f} matches/s")
    print(f"  times as fast                      {theirs / ours:7.1f}")
    if options.data and (raw := options.data / "opendota_json").is_dir():
        measure_reading(raw)
    if options.many:
        measure_memory(options.many)


def timed(work) -> float:
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_reading(raw: Path) -> None:
    """Raw files again and again, as if there were many."""
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for path in sorted(raw.glob("*.json.gz")):
            import gzip

            match = json.loads(gzip.decompress(path.read_bytes()))
            for copy in range(20):
                match["match_id"] += 1
                text = json.dumps(match).encode()
                (Path(folder) / f"{path.stem}-{copy}.json.gz").write_bytes(gzip.compress(text))
                count += 1
        start = time.process_time()
        read = sum(len(batch.tables["matches"]) for batch in read_logs(Path(folder)))
        seconds = time.process_time() - start
    assert read == count
    print(f"{read:,} raw files read in {seconds:.2f} CPU s: {read / seconds:,.0f} matches/s")


def measure_memory(matches: int) -> None:
    """Made up, recorded and encoded shard by shard in this process."""
    with tempfile.TemporaryDirectory() as folder:
        run, game = Run(Path(folder)), games.load("dota")
        start = time.process_time()
        import_matches_stage.take_in(game, run, generate(World(), matches), {"synthetic": matches})
        made = time.process_time() - start
        encode_stage.encode(game, run, options={"horizon": 180}, worker=0, quiet=True)
        seconds = time.process_time() - start - made
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{matches:,} made-up matches: made in {made:.0f} CPU s, encoded in {seconds:.0f} CPU s, "
        f"at most {most:.2f} GiB"
    )


# --- the same by pandas --------------------------------------------------------------------------

ITEMS = tuple(name.removeprefix("has_") for name in features.item_names())


def some_features(tables) -> dict[str, np.ndarray]:
    match = build_timeline(tables)
    columns = {**features.economy(match), **features.objectives(match), **features.items(match)}
    columns["kills"] = features.skirmish(match)["kills"]
    names = (*economy_names(), *features.BUILDINGS, "kills", *features.item_names())
    return {name: columns[name] for name in names}


def economy_names() -> list[str]:
    parts = [f"{name}_sum" for name in ("gold", "xp", "lh", "dn")]
    parts += [f"{name}_{how}" for name in ("gold", "xp") for how in ("mean", "max")]
    return [f"{side}_{part}" for side in SIDES.values() for part in parts]


def pandas_features(tables) -> dict[str, np.ndarray]:
    rows = tables["state_team_minute"].to_pandas()[["match_id", "t"]]
    index = pd.MultiIndex.from_frame(rows)
    columns = _economy(tables["state_player_minute"].to_pandas(), index)
    events = tables["events"].to_pandas()
    events["t"] = (np.ceil(events["t"].clip(lower=0) / 60) * 60).astype(int)
    kills = events[events.event_type == "kill"].assign(name="kills")
    columns |= _counted(kills, index, ["kills"])
    bought = events[(events.event_type == "purchase") & events.key.isin(ITEMS)]
    columns |= _counted(bought.assign(name="has_" + bought.key), index, features.item_names())
    fallen = events[events.key == "building_kill"]
    taker = np.where(fallen.target.str.contains("goodguys"), 1, 0)
    part = fallen.target.str.extract(f"({'|'.join(features.BUILDINGS.values())})")[0]
    names = {part: name for name, part in features.BUILDINGS.items()}
    named = fallen.assign(team=taker, name=part.map(names)).dropna(subset="name")
    return columns | _counted(named, index, list(features.BUILDINGS))


def _economy(players, index) -> dict[str, np.ndarray]:
    players["team"] = players.slot_idx // 5
    how = {name: ["sum"] for name in ("lh", "dn")} | {
        n: ["sum", "mean", "max"] for n in ("gold", "xp")
    }
    teams = players.groupby(["match_id", "t", "team"]).agg(how)
    teams.columns = [f"{name}_{how}" for name, how in teams.columns]
    columns = {}
    for team, side in SIDES.items():
        one = teams.xs(team, level="team").reindex(index)
        columns |= {f"{side}_{name}": one[name].to_numpy(float) for name in one.columns}
    return columns


def _counted(events, index, names) -> dict[str, np.ndarray]:
    """Radiant's less Dire's so far, by name."""
    signed = events.assign(sign=1 - 2 * events.team.astype(float))
    counts = signed.pivot_table(
        index=["match_id", "t"], columns="name", values="sign", aggfunc="sum"
    )
    counts = (
        counts.reindex(index, fill_value=0).fillna(0).reindex(columns=list(names), fill_value=0)
    )
    total = counts.groupby(level="match_id").cumsum()
    return {name: total[name].to_numpy(float) for name in names}


def check(ours, theirs) -> None:
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for name, values in ours.items():
        np.testing.assert_allclose(values, theirs[name], atol=1e-6, err_msg=name)


if __name__ == "__main__":
    main()
