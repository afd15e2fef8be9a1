// The floor from above. `Scene` draws a match at a time onto a canvas; lengths are metres, y points up.
// What is drawn depends on that time alone, so playing, scrubbing and stepping back look alike.

const THEME = ["floor", "floor-line", "wall", "cover", "cover-side", "shade", "fog", "p0", "p1", "health", "supply",
  "asleep", "bad", "flash", "label", "label-ink", "glow"]; // names of CSS variables
const FONT = 'system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const FULL = 2 * Math.PI;

const mix = (a, b, part) => a + (b - a) * part;

// How far a ray from (x, y) along (dx, dy) runs before it meets the box; Infinity when it misses.
function rayToBox(x, y, dx, dy, [x0, y0, x1, y1]) {
  const across = [(x0 - x) / dx, (x1 - x) / dx];
  const up = [(y0 - y) / dy, (y1 - y) / dy];
  const enter = Math.max(Math.min(...across), Math.min(...up));
  const leave = Math.min(Math.max(...across), Math.max(...up));
  return enter > 0 && enter <= leave ? enter : Infinity;
}

// What can be seen from a point: rays all around, and three at each corner, where the border may jump.
function visiblePolygon(x, y, boxes, range) {
  const angles = Array.from({ length: 160 }, (_, i) => (i / 160) * FULL - Math.PI);
  for (const [x0, y0, x1, y1] of boxes) {
    for (const [cx, cy] of [[x0, y0], [x1, y0], [x0, y1], [x1, y1]]) {
      const angle = Math.atan2(cy - y, cx - x);
      angles.push(angle - 1e-4, angle, angle + 1e-4);
    }
  }
  return angles.sort((a, b) => a - b).map((angle) => {
    const dx = Math.cos(angle) || 1e-12;
    const dy = Math.sin(angle) || 1e-12;
    const far = Math.min(range, ...boxes.map((box) => rayToBox(x, y, dx, dy, box)));
    return [x + dx * far, y + dy * far];
  });
}

class Scene {
  constructor(canvas, root) {
    this.canvas = canvas;
    this.root = root;
    this.pen = canvas.getContext("2d");
    this.dim = 1; // times every alpha, while something hidden is drawn
    this.retheme();
  }

  retheme() {
    const style = getComputedStyle(this.root);
    this.color = Object.fromEntries(THEME.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  draw(match, time, sight) {
    const step = Math.min(Math.floor(time), match.last);
    Object.assign(this, { match, time, step, part: step < match.last ? time - step : 0 });
    const { pen, canvas } = this;
    const scale = canvas.width / (2 * match.half + 0.8);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(scale, 0, 0, -scale, canvas.width / 2, canvas.height / 2);
    this.players = [0, 1].map((player) => this.pose(player));
    this.floor();
    match.replay.stations.forEach((station, place) => this.station(station, match.frames.ready[step][place]));
    this.players.forEach((pose) => this.trail(pose));
    this.fog(sight);
    match.replay.cover.forEach((box) => this.cover(box));
    this.players.forEach((pose, player) => sight[player] && this.ghost(pose, player));
    this.shots();
    this.players.forEach((pose) => this.player(pose, this.hidden(pose, sight)));
    this.players.forEach((pose) => this.effects(pose));
    if (time > match.last) this.banner(String(match.replay.outcome ?? "the end"), share((time - match.last) / 8));
  }

  // A player between two frames.
  pose(player) {
    const { frames, last, max } = this.match;
    const next = Math.min(this.step + 1, last);
    const now = (key) => frames[key][player][this.step];
    const between = (key) => mix(now(key), frames[key][player][next], this.part);
    return {
      player,
      x: between("x"),
      y: between("y"),
      aim: Math.atan2(between("aim_y"), between("aim_x")),
      health: now("health") / max.health,
      shield: share(now("shield")),
      hold: share(now("hold")),
      reload: share(now("reload")),
      color: this.color[`p${player}`],
    };
  }

  // Only while the other's eyes alone are watched is a player drawn as hidden.
  hidden(pose, sight) {
    const other = 1 - pose.player;
    return sight[other] && !sight[pose.player] && !this.match.frames.sees[other][this.step];
  }

  // A player's events of a kind in the last steps: when, how long ago, and how much of the effect is left.
  recent(player, kind, window) {
    const found = [];
    for (let step = Math.max(0, Math.ceil(this.time - window)); step <= this.step; step++) {
      const age = this.time - step;
      const happened = age < window && this.match.frames.events[player][step].includes(kind);
      if (happened) found.push({ step, age, fade: 1 - age / window });
    }
    return found;
  }

  // Strokes and fills

  ink(alpha, fill, stroke = fill, width = 0) {
    Object.assign(this.pen, { globalAlpha: alpha * this.dim, fillStyle: fill, strokeStyle: stroke, lineWidth: width });
    this.pen.lineCap = this.pen.lineJoin = "round";
    this.pen.beginPath();
  }

  disc(x, y, radius, fill, alpha = 1) {
    this.ink(alpha, fill);
    this.pen.arc(x, y, radius, 0, FULL);
    this.pen.fill();
  }

  // A ring, or the part of one that starts at the top and runs clockwise.
  ring(x, y, radius, color, width, alpha = 1, part = 1) {
    this.ink(alpha, color, color, width);
    this.pen.arc(x, y, radius, Math.PI / 2, Math.PI / 2 - FULL * part, true);
    this.pen.stroke();
  }

  line(points, color, width, alpha = 1, lineCap = "round") {
    this.ink(alpha, color, color, width);
    this.pen.lineCap = lineCap;
    points.forEach(([x, y]) => this.pen.lineTo(x, y));
    this.pen.stroke();
  }

  block(x, y, width, height, radius, fill, alpha = 1) {
    this.ink(alpha, fill);
    this.pen.roundRect(x, y, width, height, radius);
    this.pen.fill();
  }

  // Letters are set at 20 units and scaled down: browsers dislike fonts of less than a pixel.
  text(words, x, y, size, fill, alpha = 1, weight = 600) {
    const { pen } = this;
    this.ink(alpha, fill);
    pen.save();
    pen.translate(x, y);
    pen.scale(size / 20, -size / 20);
    Object.assign(pen, { font: `${weight} 20px ${FONT}`, textAlign: "center", textBaseline: "middle" });
    pen.fillText(words, 0, 0);
    pen.restore();
  }

  textWidth(words, size, weight = 600) {
    this.pen.font = `${weight} 20px ${FONT}`;
    return (this.pen.measureText(words).width / 20) * size;
  }

  // Things that stay

  floor() {
    const { half } = this.match;
    const line = this.color["floor-line"];
    this.block(-half - 0.4, -half - 0.4, 2 * half + 0.8, 2 * half + 0.8, 0.7, this.color.wall);
    this.block(-half, -half, 2 * half, 2 * half, 0.4, this.color.floor);
    for (let at = -half + 2; at < half - 1; at += 2) {
      this.line([[at, -half], [at, half]], line, 0.03);
      this.line([[-half, at], [half, at]], line, 0.03);
    }
    this.ring(0, 0, 3, line, 0.06);
  }

  cover([x0, y0, x1, y1]) {
    this.block(x0 - 0.05, y0 - 0.28, x1 - x0 + 0.1, y1 - y0 + 0.1, 0.28, this.color.shade);
    this.block(x0, y0, x1 - x0, y1 - y0, 0.18, this.color["cover-side"]);
    this.block(x0, y0 + 0.18, x1 - x0, y1 - y0 - 0.18, 0.18, this.color.cover);
  }

  station({ kind, x, y }, ready) {
    const color = ready ? this.color[kind === "health" ? "health" : "supply"] : this.color.asleep;
    if (ready) this.disc(x, y, 1.25, color, 0.1 + 0.04 * Math.sin(this.time / 3));
    this.disc(x, y, 0.85, color, ready ? 0.2 : 0.12);
    this.pen.setLineDash(ready ? [] : [0.16, 0.2]);
    this.ring(x, y, 0.85, color, 0.08, ready ? 1 : 0.7);
    this.pen.setLineDash([]);
    const cross = [[-0.4, -0.13, 0.8, 0.26], [-0.13, -0.4, 0.26, 0.8]];
    const rounds = [-0.38, -0.1, 0.18].map((left) => [left, -0.35, 0.2, 0.7]);
    for (const [left, low, width, height] of kind === "health" ? cross : rounds) {
      this.block(x + left, y + low, width, height, 0.09, color, ready ? 1 : 0.6);
    }
  }

  // Where a player came from, and the broad streak of a dash.
  trail({ player, x, y, color }) {
    const { frames, radius } = this.match;
    const spot = (step) => (step > this.step ? [x, y] : [frames.x[player][step], frames.y[player][step]]);
    for (let step = this.step; step >= Math.max(0, this.step - 14); step--) {
      this.line([spot(step), spot(step + 1)], color, 0.18, 0.35 * (1 - (this.step - step) / 15), "butt");
    }
    for (const { step, fade } of this.recent(player, "dashed", 7)) {
      for (let at = Math.max(0, step - 1); at <= Math.min(this.step, step + 2); at++) {
        this.line([spot(at), spot(at + 1)], color, radius * 1.5, 0.4 * fade);
        this.disc(...spot(at), radius, color, 0.3 * fade);
      }
    }
  }

  // Darken what the watched players do not see, tint what they do.
  fog(sight) {
    const { pen, match } = this;
    const floor = [-match.half, -match.half, 2 * match.half, 2 * match.half];
    const views = this.players.filter((pose) => sight[pose.player]).map((pose) => {
      const view = new Path2D();
      visiblePolygon(pose.x, pose.y, match.replay.cover, match.sight).forEach(([x, y]) => view.lineTo(x, y));
      view.closePath();
      return { view, color: pose.color };
    });
    if (!views.length) return;
    pen.save();
    pen.beginPath();
    pen.rect(...floor);
    pen.clip();
    pen.save();
    for (const { view } of views) { // keep to the outside of each view in turn: what is left, nobody sees
      const outside = new Path2D(view);
      outside.rect(...floor);
      pen.clip(outside, "evenodd");
    }
    this.ink(1, this.color.fog);
    pen.fillRect(...floor);
    pen.restore();
    for (const { view, color } of views) {
      this.ink(0.13, color);
      pen.fill(view);
      this.ink(0.55, color, color, 0.06);
      pen.stroke(view);
    }
    pen.restore();
  }

  // Where this player remembers the enemy while it is out of sight.
  ghost(pose, player) {
    const { frames, radius } = this.match;
    const [x, y] = [frames.memory_x[player][this.step], frames.memory_y[player][this.step]];
    if (frames.sees[player][this.step] || !Number.isFinite(x) || !Number.isFinite(y)) return;
    const color = this.color[`p${1 - player}`];
    this.pen.setLineDash([0.22, 0.22]);
    this.line([[pose.x, pose.y], [x, y]], color, 0.05, 0.5);
    this.ring(x, y, radius * 1.15, color, 0.1, 0.9);
    this.pen.setLineDash([]);
    this.disc(x, y, radius * 1.15, color, 0.15);
    this.text("?", x, y - 0.03, 0.75, color);
  }

  // Things that move

  shots() {
    const { part } = this;
    for (const shot of this.match.shots[this.step]) {
      const left = shot.next || !part ? 1 : Math.max(0, 1 - 2 * part); // without a next place it ends on the way
      const tail = shot.previous ? 1 : 0.3 + 0.7 * part;
      this.shot(shot.x + shot.vx * part, shot.y + shot.vy * part, shot, left, tail);
    }
    const soon = part > 0 ? this.match.shots[Math.min(this.step + 1, this.match.last)] : [];
    for (const shot of soon.filter((one) => !one.previous)) { // leaves the barrel during this step
      const from = this.players[shot.owner];
      this.shot(mix(from.x, shot.x, part), mix(from.y, shot.y, part), shot, part, 0);
    }
  }

  shot(x, y, { vx, vy, owner }, alpha, tail) {
    const color = this.color[`p${owner}`];
    for (let i = 0; i < 6; i++) {
      const [near, far] = [i, i + 1].map((n) => (n / 6) * 0.8 * tail);
      const ends = [[x - vx * near, y - vy * near], [x - vx * far, y - vy * far]];
      this.line(ends, color, 0.2 * (1 - i / 6), alpha * 0.7 * (1 - i / 6));
    }
    this.disc(x, y, 0.32, color, 0.25 * alpha);
    this.disc(x, y, 0.17, color, alpha);
    this.disc(x, y, 0.09, this.color.flash, alpha);
  }

  player(pose, hidden) {
    const { player, x, y, aim, color, health } = pose;
    const { radius, labels, half } = this.match;
    const alive = health > 0;
    const ahead = (far) => [x + far * Math.cos(aim), y + far * Math.sin(aim)];
    this.dim = hidden ? 0.3 : 1;
    if (alive) this.line([[x, y], ahead(3.2)], color, 0.05, 0.3);
    this.disc(x + 0.06, y - 0.12, radius * 1.08, this.color.shade);
    this.line([ahead(radius * 0.6), ahead(radius * 1.45)], this.color[alive ? "cover-side" : "asleep"], 0.26);
    this.disc(x, y, radius, alive ? color : this.color.asleep);
    this.disc(...ahead(radius * 0.38), radius * 0.34, this.color.flash, alive ? 0.9 : 0.4);
    for (const { fade } of this.recent(player, "hurt", 3)) this.disc(x, y, radius, this.color.flash, fade);
    this.ring(x, y, radius * 1.42, this.color.asleep, 0.11, 0.35);
    if (alive) this.ring(x, y, radius * 1.42, this.color[health > 0.35 ? "health" : "bad"], 0.13, 1, share(health));
    if (pose.reload > 0) this.ring(x, y, radius * 0.7, this.color.flash, 0.09, 0.9, 1 - pose.reload);
    if (pose.hold > 0) this.ring(x, y, radius * 1.8, this.color.supply, 0.14, 1, pose.hold);
    if (pose.shield > 0) {
      this.disc(x, y, radius * 2, this.color.glow, 0.16);
      this.ring(x, y, radius * 2, this.color.glow, 0.12, 0.35 + 0.65 * pose.shield);
      this.ring(x, y, radius * 2.2, this.color.glow, 0.05, 0.5 * pose.shield);
    }
    const above = y + radius * 2.7;
    this.name(labels[player], x, above < half - 0.3 ? above : y - radius * 2.7, color);
    this.dim = 1;
  }

  name(words, x, y, color) {
    const short = words.length > 14 ? `${words.slice(0, 13)}\u2026` : words;
    const width = this.textWidth(short, 0.52) + 0.45;
    const most = this.match.half - width / 2;
    const held = Math.min(Math.max(x, -most), most);
    this.block(held - width / 2, y - 0.36, width, 0.72, 0.3, this.color.label);
    this.text(short, held, y - 0.03, 0.52, color);
  }

  // What just happened to a player: flashes, sparks and floating numbers.
  effects({ player, x, y, aim, color }) {
    const { frames, radius } = this.match;
    const health = frames.health[player];
    const gained = (step) => Math.round(10 * (health[step] - health[Math.max(0, step - 1)])) / 10;
    for (const { fade } of this.recent(player, "fired", 2)) {
      const [left, up] = [radius * 1.7 * Math.cos(aim), radius * 1.7 * Math.sin(aim)];
      this.disc(x + left, y + up, 0.15 + 0.35 * fade, this.color.supply, 0.8 * fade);
    }
    for (const { step, age, fade } of this.recent(player, "hurt", 9)) {
      this.ring(x, y, radius * (1.2 + 0.22 * age), this.color.flash, 0.14 * fade, fade);
      if (gained(step) < 0) this.text(gained(step), x + 1.4, y - 0.4 + 0.12 * age, 0.8, this.color.bad, fade, 800);
    }
    for (const { age, fade } of this.recent(player, "blocked", 7)) {
      this.ring(x, y, radius * (2 + 0.12 * age), this.color.glow, 0.3 * fade, fade);
      this.text("blocked", x, y - 1.5, 0.6, this.color.glow, fade, 700);
    }
    for (const [kind, tint] of [["healed", this.color.health], ["supplied", this.color.supply]]) {
      for (const { step, age, fade } of this.recent(player, kind, 12)) {
        const words = kind === "supplied" ? "+ammo" : `+${Math.max(0, gained(step))}`;
        this.ring(x, y, radius * (1 + 0.2 * age), tint, 0.12, fade);
        this.text(words, x, y - 1.3 - 0.1 * age, 0.75, tint, fade, 800);
      }
    }
    if (health[this.step] <= 0) this.fall(x, y, color, this.time - health.findIndex((left) => left <= 0));
  }

  fall(x, y, color, age) {
    for (const late of [0, 2, 4]) {
      const grown = Math.max(0, age - late);
      const fade = Math.max(0, 1 - grown / 14);
      this.ring(x, y, 0.4 + 0.35 * grown, late === 2 ? this.color.supply : color, 0.3 * fade, fade);
    }
  }

  banner(words, alpha) {
    const size = Math.min(1.25, (2 * this.match.half - 2) / this.textWidth(words, 1, 800));
    const width = this.textWidth(words, size, 800) + 1.6;
    this.block(-width / 2, -1.05, width, 2.1, 0.5, this.color.label, alpha);
    this.text(words, 0, -0.05, size, this.color["label-ink"], alpha, 800);
  }
}
