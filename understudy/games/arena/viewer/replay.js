// Replays: which files hold one, what is wrong with a damaged one, and what is worked out once before it is shown.
// The three scripts of this folder are laid into one page together, in one scope: replay, scene, viewer.
// An event of frame t happened on the way into it: frame t already shows what it did.

const SCHEMA = "understudy.arena.replay";
const VERSION = 1;
const PER_PLAYER = ["x", "y", "aim_x", "aim_y", "health", "magazine", "reserve", "reload", "shield", "dash_cooldown",
  "shield_cooldown", "hold", "sees", "memory_x", "memory_y", "events"];
const AFTER = 14; // steps the picture lives on after the last frame, so that the end can be seen
const TANGENTS = [-1, -0.668, -0.414, -0.199, 0, 0.199, 0.414, 0.668, 1]; // of the aim options

const share = (value) => Math.min(1, Math.max(0, Number(value) || 0));

// The replays in a file's text: a JSON replay, or any page of ours that holds some.
function replaysIn(text) {
  if (!text.trimStart().startsWith("<")) return [JSON.parse(text)];
  const page = new DOMParser().parseFromString(text, "text/html");
  const scripts = [...page.querySelectorAll("script.arena-replay")];
  if (!scripts.length) throw new Error("this page holds no arena replay");
  return scripts.map((script) => JSON.parse(script.textContent));
}

// What is wrong with a replay, in words for its owner; "" when it can be shown.
function problem(replay) {
  if (replay === null || typeof replay !== "object" || Array.isArray(replay)) return "it is not a JSON object";
  const named = (value) => JSON.stringify(value) ?? "missing";
  if (replay.schema !== SCHEMA) return `its schema is ${named(replay.schema)}, not "${SCHEMA}"`;
  if (replay.version !== VERSION) {
    return `its version is ${named(replay.version)}, this page reads version ${VERSION}; write the replay again`;
  }
  const { players, cover, stations } = replay;
  if (!Array.isArray(players) || players.length !== 2) return "it does not name two players";
  const numbers = (list) => Array.isArray(list) && list.every(Number.isFinite);
  if (!Array.isArray(cover) || !cover.every((box) => numbers(box) && box.length === 4)) return "its cover is damaged";
  if (!Array.isArray(stations) || !stations.every((at) => numbers([at?.x, at?.y]))) return "its stations are damaged";
  return frameProblem(replay.frames ?? {});
}

function frameProblem(frames) {
  const length = frames.x?.[0]?.length;
  if (!length) return "it has no frames";
  const whole = (list) => Array.isArray(list) && list.length === length;
  const broken = PER_PLAYER.find((key) => !(frames[key]?.length === 2 && frames[key].every(whole)))
    ?? ["shots", "ready"].find((key) => !whole(frames[key]));
  if (broken) return `frames.${broken} does not have ${length} entries; the file is damaged`;
  const odd = ["x", "y", "aim_x", "aim_y", "health"].find((key) => !frames[key].flat().every(Number.isFinite));
  if (odd) return `frames.${odd} holds something that is not a number`;
  const lists = [...frames.events[0], ...frames.events[1], ...frames.shots, ...frames.ready, ...frames.shots.flat()];
  return lists.every(Array.isArray) ? "" : "frames.events, shots or ready holds something that is not a list";
}

function analyse(replay) {
  const { frames } = replay;
  const last = frames.x[0].length - 1;
  return {
    replay,
    frames,
    last,
    half: replay.half_floor ?? 10,
    radius: replay.radius ?? 0.5,
    sight: replay.sight ?? 12,
    seconds: replay.seconds_per_step || 0.1,
    max: { health: 100, magazine: 8, reserve: 40, ...replay.max },
    labels: replay.players.map(String), // beside a colour
    names: distinct(replay.players.map(String)),
    shots: trackShots(frames.shots),
    events: notable(frames, last),
    totals: [0, 1].map((player) => runningTotals(frames, player, last)),
  };
}

// Shots come without names. Link each to its place in the next frame: first those whose speed is known, then new ones.
function trackShots(shots) {
  const tracks = shots.map(untracked);
  for (let step = 0; step + 1 < tracks.length; step++) linkShots(tracks[step], tracks[step + 1]);
  return tracks;
}

function untracked(list) {
  return list.map(([x, y, owner]) => ({ x, y, owner: owner === 1 ? 1 : 0, vx: 0, vy: 0, previous: null, next: null }));
}

function linkShots(before, after) {
  const free = new Set(after);
  for (const shot of [...before].sort((a, b) => !a.previous - !b.previous)) {
    let least = shot.previous ? 0.2 + 0.4 * Math.hypot(shot.vx, shot.vy) : 6; // metres it may stray
    let best = null;
    for (const other of free) {
      const away = Math.hypot(other.x - shot.x - shot.vx, other.y - shot.y - shot.vy);
      if (other.owner === shot.owner && away < least) [best, least] = [other, away];
    }
    if (!best) continue;
    free.delete(best);
    Object.assign(best, { vx: best.x - shot.x, vy: best.y - shot.y, previous: shot });
    Object.assign(shot, { vx: best.vx, vy: best.vy, next: best });
  }
}

// A player may meet itself.
function distinct([blue, orange]) {
  return blue === orange ? [`${blue} (blue)`, `${orange} (orange)`] : [blue, orange];
}

// Events worth telling, in order. Shots are too many; whoever is hurt was hit by the other.
function notable(frames, last) {
  const list = [];
  for (let step = 0; step <= last; step++) {
    for (const player of [0, 1]) {
      for (const kind of frames.events[player][step]) {
        if (kind !== "fired" && kind !== "hurt") list.push({ step, player, kind: String(kind) });
      }
    }
  }
  return list;
}

// Shots fired, hits landed and damage dealt, up to and with each step.
function runningTotals(frames, player, last) {
  const totals = [];
  const sum = { shots: 0, hits: 0, damage: 0 };
  const health = frames.health[1 - player];
  for (let step = 0; step <= last; step++) {
    for (const kind of frames.events[player][step]) {
      sum.shots += kind === "fired";
      sum.hits += kind === "hit";
    }
    sum.damage += Math.max(0, health[Math.max(0, step - 1)] - health[step]);
    totals.push({ ...sum });
  }
  return totals;
}

function sentence(event, names) {
  const other = names[1 - event.player];
  const verbs = {
    hit: `hits ${other}`, killed: `takes ${other} down`, blocked: "blocks a shot", reloaded: "has reloaded",
    dashed: "dashes", shielded: "raises the shield", healed: "is healed", supplied: "picks up ammunition",
  };
  return `${names[event.player]} ${verbs[event.kind] ?? event.kind}`;
}

// The option a player chose; null after the last action.
function chosen(replay, head, player, step) {
  return replay.actions?.[head]?.[player]?.[step] ?? null;
}

// The stick of a move or aim in the world's frame; player 1 sees the world turned by half a turn.
function stick(replay, kind, player, step) {
  return ["x", "y"].map((side) => {
    const option = chosen(replay, `${kind}_${side}`, player, step);
    if (option === null || !(option in TANGENTS)) return 0;
    return (kind === "aim" ? TANGENTS[option] : option / 4 - 1) * (player ? -1 : 1);
  });
}
