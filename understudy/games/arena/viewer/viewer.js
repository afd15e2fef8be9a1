// The viewer around the floor: players' panels, controls, timeline, files. One per `.arena-viewer` of the page; they
// stand in `window.arenaViewers`. Text from a replay reaches the page only as text, never as markup.

const LARGEST_FILE = 64e6; // bytes; a long match is under one million
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const OPTIONS = { fire: ["hold", "fire"], interact: ["leave", "use"], ability: ["none", "dash", "shield"] };
const ARROWS = { move_x: "move \u2194", move_y: "move \u2195", aim_x: "aim \u2194", aim_y: "aim \u2195" };
const MARKED = ["hit", "blocked", "healed", "supplied", "killed"]; // events shown under the slider
const HELP = [["Space", "play, pause"], ["\u2190 \u2192", "one step"], ["Shift \u2190 \u2192", "event to event"],
  ["B, O", "sight of blue, orange"], ["Home, End", "start, end"]];
const ICONS = {
  play: "M7 4.5v15l13-7.5z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  back: "M16 5v14l-9-7zM5 5h2.5v14H5z",
  forward: "M8 5v14l9-7zM16.5 5H19v14h-2.5z",
  previous: "M20 5v14l-8-7zM11 5v14l-8-7z",
  next: "M4 5v14l8-7zM13 5v14l8-7z",
};

// An element with properties (or, where it has no such property, attributes) and children.
function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const box = (className, ...children) => make("div", { className }, ...children);
const words = (textContent) => make("span", { textContent });

function relabel(button, label, icon) {
  button.title = label;
  button.setAttribute("aria-label", label);
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[icon]}"/></svg>`;
}

function iconButton(label, icon, onclick) {
  const made = make("button", { type: "button", className: "av-button", onclick });
  relabel(made, label, icon);
  return made;
}

// One player's state, action and, where the replay has it, what its policy considered.
class PlayerPanel {
  constructor(match, player) {
    Object.assign(this, { match, player, replay: match.replay, lights: {}, sticks: {}, bars: {} });
    const name = match.labels[player];
    const score = Number(this.replay.score?.[player] ?? NaN);
    const signed = (score > 0 ? "+" : "") + score;
    const badge = make("span", { className: "av-score", title: "score of the match", textContent: signed });
    this.health = make("b");
    this.healthBar = make("i");
    this.pips = Array.from({ length: Math.min(30, match.max.magazine) }, () => make("i"));
    this.magazine = box("av-pips", ...this.pips);
    this.reserve = make("b");
    this.dials = { dash: make("i"), shield: make("i") };
    this.counts = make("p", { className: "av-counts" });
    this.element = make("section", { className: `av-player p${player}`, "aria-label": match.names[player] },
      box("av-name", make("b", { textContent: name, title: name }), Number.isFinite(score) ? badge : ""),
      box("av-row", words("health"), box("av-bar", this.healthBar), this.health),
      box("av-row", words("ammo"), this.magazine, this.reserve),
      box("av-dials", ...Object.entries(this.dials).map(([ability, dial]) => make("span", {}, dial, ability))),
      this.counts,
      box("av-action", this.stick("move"), this.stick("aim"),
        box("av-lights", ...["fire", "interact", "dash", "shield", "sees"].map((light) => this.light(light)))),
      this.replay.policy?.[player] ? this.histograms(this.replay.policy[player]) : "");
  }

  stick(kind) {
    this.sticks[kind] = box(`av-stick ${kind}`, make("u"), make("i"));
    return box("av-stick-box", this.sticks[kind], words(kind));
  }

  light(name) {
    this.lights[name] = words(name);
    return this.lights[name];
  }

  // One row of bars per head, in the world's order: those of player 1's directions are turned around.
  histograms(policy) {
    const heads = Object.entries(this.replay.heads ?? {}).filter(([head]) => Array.isArray(policy[head]));
    return box("av-policy", ...heads.map(([head, count]) => {
      const name = (option) => OPTIONS[head]?.[option] ?? "";
      const title = (option) => `${head} ${name(option) || option}`;
      const bars = Array.from({ length: Math.min(64, Number(count) || 0) }, (_, option) =>
        make("div", { className: "av-option", title: title(option) }, make("i"), words(name(option))));
      this.bars[head] = bars;
      const kind = ARROWS[head] ? "sided" : count > 2 ? "broad" : "";
      return make("figure", { className: kind }, make("figcaption", { textContent: ARROWS[head] ?? head }),
        box("av-options", ...(this.player && ARROWS[head] ? [...bars].reverse() : bars)));
    }));
  }

  show(step) {
    this.showState((key) => this.match.frames[key][this.player][step]);
    const { shots, hits, damage } = this.match.totals[this.player][step];
    this.counts.textContent = `${hits} of ${shots} shots hit \u00b7 ${Math.round(damage)} damage`;
    this.showAction(step);
    for (const [head, bars] of Object.entries(this.bars)) {
      const odds = this.replay.policy[this.player][head][step];
      bars.forEach((bar, option) => {
        this.set(bar, odds?.[option]);
        bar.classList.toggle("chosen", chosen(this.replay, head, this.player, step) === option);
      });
    }
  }

  set(at, value) {
    at.style.setProperty("--share", share(value).toFixed(3));
  }

  showState(now) {
    const { max } = this.match;
    const reloading = now("reload") > 0;
    this.health.textContent = Math.round(now("health"));
    this.set(this.healthBar, now("health") / max.health);
    this.healthBar.classList.toggle("low", now("health") <= 0.35 * max.health);
    this.pips.forEach((pip, place) => pip.classList.toggle("full", place < now("magazine")));
    this.magazine.classList.toggle("reloading", reloading);
    this.set(this.magazine, 1 - share(now("reload")));
    this.reserve.textContent = reloading ? "reload" : `+${Math.round(now("reserve"))}`;
    for (const [ability, dial] of Object.entries(this.dials)) {
      const left = share(now(`${ability}_cooldown`));
      this.set(dial, 1 - left);
      dial.parentElement.classList.toggle("ready", left === 0);
    }
    this.lights.sees.classList.toggle("on", Boolean(now("sees")));
  }

  showAction(step) {
    const { replay, player } = this;
    for (const [kind, disc] of Object.entries(this.sticks)) {
      const [x, y] = stick(replay, kind, player, step);
      const far = Math.max(1, Math.hypot(x, y)); // the corners of the square come to lie on the disc's border
      disc.style.setProperty("--x", (x / far).toFixed(3));
      disc.style.setProperty("--y", (y / far).toFixed(3));
      disc.style.setProperty("--turn", `${-Math.atan2(y, x)}rad`);
      disc.style.setProperty("--length", Math.min(1, Math.hypot(x, y)).toFixed(3));
    }
    const did = (head, option) => chosen(replay, head, player, step) === option;
    this.lights.fire.classList.toggle("on", did("fire", 1));
    this.lights.interact.classList.toggle("on", did("interact", 1));
    this.lights.dash.classList.toggle("on", did("ability", 1));
    this.lights.shield.classList.toggle("on", did("ability", 2));
  }
}

// Below the slider: health and value over time, and the events as marks to click.
class Timeline {
  constructor(seek) {
    this.seek = seek;
    this.cursor = box("av-cursor");
    this.element = box("av-strip");
    this.element.addEventListener("click", (event) => {
      const { left, width } = this.element.getBoundingClientRect();
      seek(Math.round(((event.clientX - left) / width) * this.last));
    });
  }

  load(match) {
    this.last = match.last;
    const rows = [this.curves("health", match.frames.health, 0, match.max.health)];
    const values = [0, 1].map((player) => match.replay.value?.[player] ?? []);
    const known = values.flat().filter(Number.isFinite);
    const most = known.reduce((far, value) => Math.max(far, Math.abs(value)), 1e-6);
    if (known.length) rows.push(this.curves("value", values, -most, most));
    this.element.replaceChildren(...rows, this.lane(match, 0), this.lane(match, 1), this.cursor);
  }

  curves(name, both, low, high) {
    const row = box(`av-curves ${name}`);
    row.innerHTML = '<svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">'
      + '<path class="zero"/><path class="p0"/><path class="p1"/></svg>';
    const height = (value) => (100 * (1 - (value - low) / (high - low || 1))).toFixed(1);
    row.querySelector(".zero").setAttribute("d", low < 0 ? `M0,${height(0)}H1000` : "");
    both.forEach((values, player) => {
      const spots = values.map((value, step) => [(1000 * step) / (this.last || 1), value])
        .filter(([, value]) => Number.isFinite(value))
        .map(([x, value]) => `${x.toFixed(1)},${height(value)}`);
      row.querySelector(`.p${player}`).setAttribute("d", spots.length ? `M${spots.join("L")}` : "");
    });
    row.append(words(name));
    return row;
  }

  lane(match, player) {
    const events = match.events.filter((event) => event.player === player && MARKED.includes(event.kind));
    return box(`av-lane p${player}`, ...events.map((event) => {
      const label = `${(event.step * match.seconds).toFixed(1)} s: ${sentence(event, match.names)}`;
      const onclick = (click) => {
        click.stopPropagation();
        this.seek(event.step);
      };
      const mark = make("button", { type: "button", tabIndex: -1, title: label, "aria-label": label, onclick });
      mark.className = `av-mark ${event.kind}`;
      mark.style.left = `${(100 * event.step) / (match.last || 1)}%`;
      return mark;
    }));
  }

  show(time) {
    this.cursor.style.left = `${(100 * time) / (this.last || 1)}%`;
  }
}

class Viewer {
  constructor(root) {
    Object.assign(this, { root, time: 0, playing: false, speed: 1, error: null, sight: [false, false] });
    Object.assign(this, { matches: [], match: null, shown: -1 });
    const scripts = [...root.querySelectorAll("script.arena-replay")];
    this.build();
    this.listen("wholePage" in root.dataset ? document : root);
    scripts.forEach((script, place) => this.read(script.textContent, `Replay ${place + 1} of this page`));
    if (this.matches.length) this.show(this.matches[0]);
  }

  get step() {
    return Math.min(Math.floor(this.time + 1e-9), this.match?.last ?? 0);
  }

  get replay() {
    return this.match?.replay ?? null;
  }

  build() {
    const choose = () => this.show(this.matches[this.choice.selectedIndex]);
    this.title = box("av-title");
    this.choice = make("select", { "aria-label": "Replay", hidden: true, onchange: choose });
    this.file = make("input", { type: "file", accept: ".json,.html", multiple: true, hidden: true,
      "aria-label": "Files to open" });
    this.file.onchange = () => this.open([...this.file.files]).then(() => { this.file.value = ""; });
    const text = (label, onclick) =>
      make("button", { type: "button", className: "av-text", textContent: label, onclick });
    this.message = make("span");
    this.alert = make("div", { className: "av-error", role: "alert", hidden: true }, this.message,
      text("Dismiss", () => this.fail(null)));
    this.canvas = make("canvas", { role: "img", "aria-label": "The arena from above", onclick: () => this.toggle() });
    this.big = iconButton("Play", "play", () => this.toggle());
    this.big.classList.add("av-big");
    this.slider = make("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": "Step of the match" });
    this.slider.oninput = () => this.seek(Number(this.slider.value));
    this.timeline = new Timeline((step) => this.seek(step));
    this.ticker = make("ol", { className: "av-ticker", "aria-label": "Events" });
    this.sides = [0, 1].map((player) => box(`av-side side${player}`));
    const help = HELP.flatMap(([keys, what]) => [make("dt", { textContent: keys }), make("dd", { textContent: what })]);
    this.root.replaceChildren(
      box("av-top", this.title, this.choice, text("Open\u2026", () => this.file.click()),
        text("Save JSON", () => this.save()), this.file),
      this.alert,
      box("av-stage", this.sides[0],
        box("av-middle", box("av-field", this.canvas, this.big), this.controls(),
          box("av-timeline", this.slider, this.timeline.element)),
        this.sides[1], make("dl", { className: "av-help" }, ...help), this.ticker));
    this.root.tabIndex = -1;
    this.root.classList.add("empty");
    this.scene = new Scene(this.canvas, this.root);
  }

  controls() {
    this.playButton = iconButton("Play (Space)", "play", () => this.toggle());
    this.playButton.classList.add("av-play");
    this.clock = make("output", { className: "av-clock" });
    this.speedChoice = make("select", { "aria-label": "Speed", title: "Speed" },
      ...SPEEDS.map((speed) => make("option", { textContent: `${speed}\u00d7`, selected: speed === 1 })));
    this.speedChoice.onchange = () => { this.speed = SPEEDS[this.speedChoice.selectedIndex]; };
    this.eyes = ["blue", "orange"].map((color, player) =>
      make("button", { type: "button", className: `av-eye p${player}`, "aria-pressed": "false",
        onclick: () => this.look(player), textContent: `sight of ${color}` }));
    return box("av-controls",
      box("av-group", iconButton("Event before (Shift + Left)", "previous", () => this.jump(-1)),
        iconButton("One step back (Left)", "back", () => this.nudge(-1)), this.playButton,
        iconButton("One step on (Right)", "forward", () => this.nudge(1)),
        iconButton("Next event (Shift + Right)", "next", () => this.jump(1))),
      this.clock, box("av-group", this.speedChoice, ...this.eyes));
  }

  listen(where) {
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.scene.retheme();
      this.draw();
    });
    where.addEventListener("keydown", (event) => this.key(event));
    where.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.root.classList.add("dropping");
    });
    where.addEventListener("dragleave", (event) => {
      if (!this.root.contains(event.relatedTarget)) this.root.classList.remove("dropping");
    });
    where.addEventListener("drop", (event) => {
      event.preventDefault();
      this.root.classList.remove("dropping");
      this.opened = this.open([...event.dataTransfer.files]); // a promise, for whoever waits for the file
    });
    this.root.addEventListener("click", (event) => { // afterwards the keys drive the match, not the same button again
      if (event.detail && event.target.closest("button, canvas")) this.root.focus({ preventScroll: true });
    });
  }

  // Files and messages

  fail(message) {
    this.error = message;
    this.alert.hidden = !message;
    this.message.textContent = message ?? "";
  }

  async open(files) {
    let added = null;
    this.fail(null);
    for (const file of files) {
      if (file.size > LARGEST_FILE) this.fail(`${file.name} cannot be shown: it is far larger than a replay.`);
      else added = this.read(await file.text(), file.name) ?? added;
    }
    if (added) this.show(added);
  }

  // Add the replays in a text to the list; returns the first, or null after saying what is wrong.
  read(text, name) {
    let replays;
    try {
      replays = replaysIn(text);
    } catch (error) {
      this.fail(`${name} cannot be read: it is neither a JSON replay nor a page with one (${error.message}).`);
      return null;
    }
    const wrong = replays.map(problem).find(Boolean);
    if (wrong) {
      this.fail(`${name} cannot be shown: ${wrong}.`);
      return null;
    }
    const added = replays.map(analyse);
    this.matches.push(...added);
    const label = ({ replay, labels }) => `${replay.match ?? "match"}: ${labels.join(" \u2013 ")}`;
    this.choice.append(...added.map((match) => make("option", { textContent: label(match) })));
    return added[0];
  }

  save() {
    if (!this.match) return;
    const name = String(this.replay.match ?? "replay").replace(/[^\w.-]+/g, "_");
    const href = URL.createObjectURL(new Blob([JSON.stringify(this.replay)], { type: "application/json" }));
    make("a", { download: `${name}.json`, href }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  show(match) {
    this.pause();
    this.match = match;
    this.choice.selectedIndex = this.matches.indexOf(match);
    this.choice.hidden = this.matches.length < 2;
    const { match: name, outcome } = match.replay;
    this.title.replaceChildren(make("b", { textContent: name ?? "match" }), words(outcome ?? ""));
    this.panels = [0, 1].map((player) => new PlayerPanel(match, player));
    this.sides.forEach((side, player) => side.replaceChildren(this.panels[player].element));
    this.eyes.forEach((eye, player) => { eye.title = `Shade what ${match.names[player]} can see`; });
    this.slider.max = match.last;
    this.timeline.load(match);
    this.root.classList.remove("empty", "started");
    this.shown = -1;
    this.seek(0);
  }

  // Time

  seek(step) {
    const last = this.match?.last ?? 0;
    this.time = Math.min(Math.max(0, Number(step) || 0), last + AFTER);
    if (this.time >= last && !this.playing) this.time = last + AFTER; // whoever jumps to the end wants to see it
    if (this.time > 0) this.root.classList.add("started");
    this.draw();
  }

  nudge(by) {
    this.pause();
    const between = this.time > this.step && this.step < this.match?.last;
    this.seek(by > 0 || !between ? this.step + by : this.step);
  }

  jump(by) {
    const steps = (this.match?.events ?? []).filter((event) => MARKED.includes(event.kind)).map((event) => event.step);
    const next = by > 0 ? steps.find((step) => step > this.step) : steps.findLast((step) => step < this.step);
    if (next !== undefined) this.seek(next);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.match || this.playing) return;
    if (this.step >= this.match.last) this.time = 0;
    this.setPlaying(true);
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      const seconds = Math.max(0, now - before) / 1000;
      before = now;
      this.seek(this.time + (seconds / this.match.seconds) * this.speed);
      if (this.time >= this.match.last + AFTER) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playing = playing;
    this.root.classList.toggle("playing", playing);
    relabel(this.playButton, playing ? "Pause (Space)" : "Play (Space)", playing ? "pause" : "play");
  }

  look(player) {
    this.sight[player] = !this.sight[player];
    this.eyes[player].setAttribute("aria-pressed", String(this.sight[player]));
    this.draw();
  }

  key(event) {
    const within = (selector) => Boolean(event.target.closest?.(selector));
    if (event.ctrlKey || event.metaKey || event.altKey || within("select")) return;
    const arrow = (by) => (event.shiftKey ? this.jump(by) : this.nudge(by));
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => arrow(-1),
      ArrowRight: () => arrow(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.match?.last),
      b: () => this.look(0),
      o: () => this.look(1),
    };
    if (!(event.key in actions) || (event.key === " " && within("button"))) return; // Space presses a button in focus
    event.preventDefault();
    actions[event.key]();
  }

  // Drawing

  draw() {
    if (!this.match) return;
    const size = Math.round(this.canvas.clientWidth * Math.min(2, devicePixelRatio || 1));
    if (size && this.canvas.width !== size) this.canvas.width = this.canvas.height = size;
    this.scene.draw(this.match, this.time, this.sight);
    this.timeline.show(Math.min(this.time, this.match.last));
    if (this.shown !== this.step) this.showStep(this.step);
  }

  showStep(step) {
    const { match } = this;
    const seconds = (steps) => (steps * match.seconds).toFixed(1);
    this.shown = step;
    this.slider.value = step;
    this.slider.setAttribute("aria-valuetext", `${seconds(step)} seconds`);
    this.clock.textContent = `${seconds(step)} / ${seconds(match.last)} s`;
    this.clock.title = `step ${step} of ${match.last}`;
    this.panels.forEach((panel) => panel.show(step));
    const past = match.events.filter((event) => event.step <= step).slice(-7).reverse();
    this.ticker.replaceChildren(...past.map((event) =>
      make("li", { className: `p${event.player} ${event.kind}` },
        make("time", { textContent: `${seconds(event.step)} s` }), words(sentence(event, match.names)))));
  }
}

window.arenaViewers = [];

function view(part) {
  for (const root of part.querySelectorAll(".arena-viewer:not([data-begun])")) {
    root.dataset.begun = "";
    window.arenaViewers.push(new Viewer(root));
  }
}

document.addEventListener("DOMContentLoaded", () => view(document));
document.addEventListener("understudy:part", () => view(document));
