// A match that goes on: what a person does goes out ten times a second, and the frame that comes back is drawn.
// Nothing here decides anything: the server knows the rules, and sends what this player's eyes can see.

const MOVES = { KeyW: [0, 1], KeyS: [0, -1], KeyA: [-1, 0], KeyD: [1, 0] };
const AIMS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const TAPS = { Space: "fire", ShiftLeft: "dash", ShiftRight: "dash", KeyQ: "shield", KeyE: "use", KeyR: "use" };
const REACH = 42; // pixels that a thumb moves for full speed

const tag = (name, className, ...children) => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
};

class LiveArena {
  constructor(root, scene, table) {
    Object.assign(this, { root, scene, table, held: new Set(), tapped: new Set(), thumbs: new Map() });
    Object.assign(this, { pointer: null, firing: false, begun: scene.seat === null, over: false, waiting: false, ended: false });
    this.sight = [0, 1].map((player) => player === scene.seat);
    this.match = {
      replay: { ...scene, outcome: "" }, last: -1, half: scene.half_floor, radius: scene.radius, sight: scene.sight,
      seconds: scene.seconds_per_step, max: scene.max, labels: scene.players, shots: [],
      frames: { ready: [], ...Object.fromEntries(PER_PLAYER.map((name) => [name, [[], []]])) },
    };
    this.build();
    this.listen();
    this.timer = setInterval(() => this.tick(), 1000 * scene.seconds_per_step);
    const redraw = () => {
      if (this.ended) return;
      this.draw();
      requestAnimationFrame(redraw);
    };
    requestAnimationFrame(redraw);
  }

  build() {
    const { seat } = this.scene;
    this.canvas = tag("canvas", "");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The arena from above");
    this.clock = tag("output", "av-clock");
    this.ask = tag("p", "al-ask", "Press a key, click or touch the floor to begin");
    this.ask.hidden = this.begun;
    this.sides = [0, 1].map((player) => this.side(player, seat === null || seat === player));
    const buttons = seat === null ? [] : [["dash", "Dash", "Shift"], ["shield", "Shield", "Q"], ["use", "Reload, use", "E"]]
      .map(([what, words, key]) => this.button(what, words, key));
    this.root.className = "arena-viewer al-live";
    this.root.replaceChildren(
      tag("div", "al-stage", tag("div", "av-field", this.canvas, this.ask),
        tag("div", "al-sides", ...this.sides.map((side) => side.element), tag("div", "al-do", ...buttons, this.clock))));
    this.picture = new Scene(this.canvas, this.root);
  }

  side(player, isTold) {
    const bar = tag("i", ""), health = tag("b", ""), pips = Array.from({ length: this.scene.max.magazine }, () => tag("i", ""));
    const reserve = tag("b", ""), magazine = tag("div", "av-pips", ...pips);
    const rows = [tag("div", "av-name", tag("b", "", this.scene.players[player]), player === this.scene.seat ? tag("span", "av-score", "you") : ""),
      tag("div", "av-row", tag("span", "", "health"), tag("div", "av-bar", bar), health)];
    if (isTold) rows.push(tag("div", "av-row", tag("span", "", "ammo"), magazine, reserve));
    const element = tag("section", `av-player p${player}`, ...rows);
    element.setAttribute("aria-label", this.scene.players[player]);
    return { element, bar, health, pips, magazine, reserve };
  }

  button(what, words, key) {
    const made = tag("button", "al-button", tag("i", ""), words, tag("kbd", "", key));
    made.type = "button";
    made.dataset.does = what;
    made.addEventListener("pointerdown", (event) => { event.preventDefault(); this.tapped.add(what); this.begin(); });
    made.addEventListener("click", (event) => { if (!event.detail) { this.tapped.add(what); this.begin(); } });
    return made;
  }

  // What a person does

  listen() {
    const quit = new AbortController();
    this.stop = () => quit.abort();
    const on = (where, kind, does) => where.addEventListener(kind, does, { signal: quit.signal, passive: false });
    on(document, "keydown", (event) => this.key(event, true));
    on(document, "keyup", (event) => this.key(event, false));
    on(window, "blur", () => { this.held.clear(); this.firing = false; this.thumbs.clear(); });
    on(this.canvas, "pointerdown", (event) => this.press(event));
    on(this.canvas, "pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) on(this.canvas, kind, (event) => this.lift(event));
    on(this.canvas, "contextmenu", (event) => { event.preventDefault(); this.tapped.add("shield"); });
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.picture.retheme());
  }

  key(event, down) {
    if (this.scene.seat === null || event.target.closest?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const { code } = event;
    if (!(code in MOVES) && !(code in AIMS) && !(code in TAPS)) return;
    if (TAPS[code] === "fire" && event.target.closest?.("button, a, summary")) return; // Space works a button
    event.preventDefault();
    if (!down) { this.held.delete(code); return; }
    this.held.add(code);
    if (code in AIMS) this.pointer = null;
    if (code in TAPS && !event.repeat) this.tapped.add(TAPS[code]);
    this.begin();
  }

  begin() {
    this.begun = true;
    this.ask.hidden = true;
  }

  place(event) {
    const { left, top, width } = this.canvas.getBoundingClientRect();
    const metre = width / (2 * this.match.half + 0.8);
    return [(event.clientX - left - width / 2) / metre, -(event.clientY - top - width / 2) / metre];
  }

  press(event) {
    if (this.scene.seat === null) return;
    event.preventDefault();
    this.begin();
    this.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") {
      const { left, width } = this.canvas.getBoundingClientRect();
      const kind = event.clientX - left < width / 2 ? "move" : "aim";
      this.thumbs.set(event.pointerId, { kind, x: event.clientX, y: event.clientY, by: [0, 0] });
      if (kind === "aim") this.tapped.add("fire");
    } else if (event.button === 0) {
      this.pointer = this.place(event);
      this.firing = true;
      this.tapped.add("fire");
    }
  }

  move(event) {
    if (event.pointerType !== "touch") { this.pointer = this.place(event); return; }
    const thumb = this.thumbs.get(event.pointerId);
    if (!thumb) return;
    const [x, y] = [(event.clientX - thumb.x) / REACH, -(event.clientY - thumb.y) / REACH];
    const far = Math.max(1, Math.hypot(x, y));
    thumb.by = [x / far, y / far];
  }

  lift(event) {
    this.thumbs.delete(event.pointerId);
    if (event.pointerType !== "touch" && event.button === 0) this.firing = false;
  }

  sum(keys) {
    let [x, y] = [0, 0];
    for (const code of this.held) if (keys[code]) [x, y] = [x + keys[code][0], y + keys[code][1]];
    return [x, y];
  }

  done() {
    if (this.scene.seat === null) return null;
    const thumb = (kind) => [...this.thumbs.values()].find((one) => one.kind === kind);
    const { frames, last } = this.match, { seat } = this.scene;
    const own = [frames.x[seat][last], frames.y[seat][last]];
    let aim = this.sum(AIMS);
    if (!aim[0] && !aim[1] && this.pointer) aim = [this.pointer[0] - own[0], this.pointer[1] - own[1]];
    if (thumb("aim")) aim = thumb("aim").by;
    const longest = Math.max(Math.abs(aim[0]), Math.abs(aim[1]));
    const is = (what) => this.tapped.has(what) || [...this.held].some((code) => TAPS[code] === what);
    const done = {
      move: thumb("move")?.by ?? this.sum(MOVES),
      aim: longest > 0.05 ? aim.map((part) => part / longest) : [0, 0],
      fire: is("fire") || this.firing || Boolean(thumb("aim")),
      use: is("use"),
      ability: is("shield") ? "shield" : is("dash") ? "dash" : "none",
    };
    this.tapped.clear();
    return done;
  }

  tick() {
    if (!this.begun || this.waiting || this.over || this.match.last < 0 || document.hidden) return;
    this.waiting = true;
    this.table.send(this.done());
  }

  // What comes back

  show(now, over) {
    const { match } = this, { frames } = match, { frame } = now;
    this.waiting = false;
    for (const name of PER_PLAYER) [0, 1].forEach((player) => frames[name][player].push(frame[name][player]));
    frames.ready.push(frame.ready);
    match.shots.push(untracked(frame.shots));
    match.last += 1;
    if (match.last) linkShots(match.shots[match.last - 1], match.shots[match.last]);
    this.arrived = performance.now();
    this.over = over;
    match.replay.outcome = now.outcome ?? "";
    this.told(frame, now.step);
  }

  told(frame, step) {
    const { max } = this.scene;
    this.sides.forEach((side, player) => {
      const health = frame.health[player], known = this.scene.seat === null || player === this.scene.seat || frame.sees[this.scene.seat];
      side.health.textContent = known ? Math.round(health) : "?";
      side.bar.style.setProperty("--share", known ? share(health / max.health).toFixed(3) : 0);
      side.bar.classList.toggle("low", health <= 0.35 * max.health);
      side.pips.forEach((pip, place) => pip.classList.toggle("full", place < frame.magazine[player]));
      side.magazine.classList.toggle("reloading", frame.reload[player] > 0);
      side.magazine.style.setProperty("--share", (1 - share(frame.reload[player])).toFixed(3));
      side.reserve.textContent = frame.reload[player] > 0 ? "reload" : `+${Math.round(frame.reserve[player])}`;
    });
    for (const button of this.root.querySelectorAll(".al-button")) {
      const left = share(frame[`${button.dataset.does}_cooldown`]?.[this.scene.seat] ?? 0);
      button.querySelector("i").style.setProperty("--share", (1 - left).toFixed(3));
      button.classList.toggle("ready", left === 0);
    }
    this.clock.textContent = `${((this.scene.most_steps - step) * this.match.seconds).toFixed(1)} s left`;
    this.root.dataset.step = step;
  }

  draw() {
    const { match, canvas } = this;
    if (match.last < 0) return;
    const size = Math.round(canvas.clientWidth * Math.min(2, devicePixelRatio || 1));
    if (size && canvas.width !== size) canvas.width = canvas.height = size;
    const late = (performance.now() - this.arrived) / (1000 * match.seconds);
    const time = this.over ? match.last + Math.min(AFTER, late) : Math.max(0, match.last - 1 + Math.min(1, late));
    this.picture.draw(match, time, this.sight);
  }

  close() {
    clearInterval(this.timer);
    this.stop();
    this.ended = true;
  }
}

window.understudyLive = (root, scene, table) => new LiveArena(root, scene, table);
