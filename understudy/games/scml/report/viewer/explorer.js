// The page around a world: title, controls, keys. One per `.scml-explorer`; they stand in `window.worldExplorers`.

const DAY_SECONDS = 0.7; // of playing at speed 1
const SPEEDS = [0.5, 1, 2, 4, 8];
const ICONS = {
  play: "M7 4.5v15l13-7.5z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  back: "M16 5v14l-9-7zM5 5h2.5v14H5z",
  forward: "M8 5v14l9-7zM16.5 5H19v14h-2.5z",
};
const MODES = { made: "made today", due: "delivered today" };
const LEGEND = "Goods flow from left to right: each factory buys one product, makes the next from it and sells that on. "
  + "Lines are contracts, thicker for more units; dashed: never delivered, because a side went bankrupt or the world ended. "
  + "Numbers at the outer edges are exogenous contracts. \u2605 marks competitors, the others fill the world. "
  + "The bar in a box is its score, the tick is 1. Click a factory to follow it.";
const SCORE = {
  title: "Score",
  about: "Money in the evening over money at the start, of every factory; above 1 it has gained, below 0 it is bankrupt, "
    + "and below \u22120.5 the line is cut off.",
  value: (world, factory, day) => world.score(factory, day),
  text: (value) => number(value, 3),
  shown: 1,
  least: -0.5,
};
const STOCK = {
  title: "Stock",
  about: "", // depends on the world: see stockNote
  value: (world, factory, day) => world.stock(factory, day),
  text: units,
  shown: 0,
};

function iconButton(label, icon, onclick) {
  const made = make("button", { type: "button", className: "we-button", onclick });
  relabel(made, label, icon);
  return made;
}

function relabel(button, label, icon) {
  button.title = label;
  button.setAttribute("aria-label", label);
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[icon]}"/></svg>`;
}

function stockNote({ track, conserves_stock: conserves }) {
  if (track === "oneshot") return "Nothing is kept here: what is left of a day's input is thrown away, at a cost.";
  const taken = conserves ? "" : " In scml, production uses stock but does not take it away, so it never falls.";
  return `Units of input in the evening. They cost storage and are worth nothing in the end.${taken}`;
}

class Explorer {
  constructor(root) {
    Object.assign(this, { root, day: 0, mode: "made", playing: false, speed: 1, selected: null, world: null, product: null });
    const scripts = [...root.querySelectorAll("script.scml-world")];
    this.worlds = scripts.map((script) => new World(JSON.parse(script.textContent)));
    this.build();
    this.listen("wholePage" in root.dataset ? document : root);
    if (this.worlds.length) this.show(this.worlds[0]);
    if ("wholePage" in root.dataset) {
      window.addEventListener("hashchange", () => this.follow(location.hash));
      this.follow(location.hash);
    }
  }

  // An address may lead to a day and a factory: WORLD.html#day=12&factory=3, or to where it went wrong: #day=wrong
  follow(hash) {
    const asked = new URLSearchParams(hash.slice(1));
    const factory = this.world?.factories[Number(asked.get("factory") ?? -1)];
    if (factory) this.select(factory);
    if (asked.get("day") === "wrong") this.seekWorst();
    else if (asked.has("day")) this.seek(asked.get("day"));
  }

  seekWorst() {
    this.pause();
    if (this.world) this.seek(this.world.worstDay(this.selected));
  }

  build() {
    const seek = (day) => {
      this.pause();
      this.seek(day);
    };
    this.title = box("we-title");
    const choose = () => this.show(this.worlds[this.choice.selectedIndex]);
    this.choice = make("select", { "aria-label": "World", onchange: choose },
      ...this.worlds.map(({ story }) => make("option", { textContent: `${story.match} (${story.steps} days)` })));
    this.chain = new Chain((factory) => this.select(factory));
    this.summary = make("p", { className: "we-summary" });
    this.factoryDay = new FactoryDay();
    this.negotiations = new Negotiations();
    this.stockLines = new FactoryLines(STOCK, seek);
    this.charts = [new FactoryLines(SCORE, seek), new ProductionBars(seek), this.stockLines, new PriceLines(seek)];
    const card = (kind, label, ...children) => make("section", { className: `we-card ${kind}`, "aria-label": label }, ...children);
    this.root.replaceChildren(box("we-top", this.title, this.choice), this.controls(),
      box("we-stage",
        card("we-picture", "The supply chain", box("we-picture-top", this.summary, this.modeSwitch()),
          box("we-scroll", this.chain.heads, this.chain.element),
          make("p", { className: "we-about we-legend", textContent: LEGEND })),
        box("we-side", this.factoryDay.element, this.negotiations.element),
        card("we-charts", "Charts", ...this.charts.map((chart) => chart.element))));
    this.root.tabIndex = -1;
    if (this.worlds.length) return;
    const empty = "No world was recorded in full, so there is nothing to look into.";
    this.root.replaceChildren(make("p", { className: "empty", textContent: empty }));
  }

  controls() {
    this.playButton = iconButton("Play (Space)", "play", () => this.toggle());
    this.playButton.classList.add("we-play");
    this.clock = make("output", { className: "we-clock" });
    this.slider = make("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": "Day" });
    this.slider.oninput = () => {
      this.pause();
      this.seek(Number(this.slider.value));
    };
    const speeds = make("select", { "aria-label": "Speed", title: "Speed" },
      ...SPEEDS.map((speed) => make("option", { textContent: `${speed}\u00d7`, selected: speed === 1 })));
    speeds.onchange = () => { this.speed = SPEEDS[speeds.selectedIndex]; };
    return box("we-controls",
      box("we-group", iconButton("Day before (Left)", "back", () => this.nudge(-1)), this.playButton,
        iconButton("Next day (Right)", "forward", () => this.nudge(1))),
      this.clock, this.slider, speeds, this.filters());
  }

  // Whom to follow, competitors first, and which product's contracts to draw.
  filters() {
    this.who = make("select", { "aria-label": "Follow", title: "Follow" });
    this.who.onchange = () => this.select(this.world.factories[Number(this.who.value)]);
    this.products = make("select", { "aria-label": "Product", title: "Contracts over which product" });
    this.products.onchange = () => {
      this.product = this.products.value === "" ? null : Number(this.products.value);
      this.draw();
    };
    const worst = make("button", { type: "button", className: "we-mode", textContent: "Worst day",
      title: "Where the followed factory lost most", onclick: () => this.seekWorst() });
    return box("we-group", this.who, this.products, worst);
  }

  listFilters(world) {
    const order = [...world.factories].sort((a, b) => b.competes - a.competes);
    this.who.replaceChildren(...order.map((factory) =>
      make("option", { value: factory.place, textContent: `${factory.competes ? "\u2605 " : ""}${factory.name}` })));
    this.product = null;
    this.products.replaceChildren(make("option", { value: "", textContent: "all products" }),
      ...world.levels.slice(1).map((_, level) =>
        make("option", { value: level + 1, textContent: `product ${level + 1}` })));
  }

  modeSwitch() {
    this.modes = Object.entries(MODES).map(([mode, textContent]) =>
      make("button", { type: "button", className: "we-mode", textContent, onclick: () => this.setMode(mode) }));
    return make("div", { className: "we-group", role: "group", "aria-label": "Which contracts" },
      words("Contracts"), ...this.modes);
  }

  listen(where) {
    where.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("click", (event) => { // afterwards the keys drive the days, not the same button again
      const driven = event.detail && event.target.closest(".we-button, .we-mode, .we-plot");
      if (driven) this.root.focus({ preventScroll: true });
    });
  }

  // What is shown

  show(world) {
    this.pause();
    this.world = world;
    const { match, field, track, steps, planned } = world.story;
    this.choice.hidden = this.worlds.length < 2;
    this.choice.selectedIndex = this.worlds.indexOf(world);
    const length = steps < planned ? `${steps} of ${planned} days: a failure ended it` : `${steps} days`;
    this.title.replaceChildren(make(document.querySelector("header h1") ? "h2" : "h1", { textContent: match }),
      words(`SCML ${track}, ${field} field, ${world.factories.length} factories on ${world.levels.length} levels, `
        + length));
    this.slider.max = world.last;
    this.listFilters(world);
    this.chain.load(world);
    this.charts.forEach((chart) => chart.load(world));
    this.stockLines.chart.about.textContent = stockNote(world.story);
    this.negotiations.open.clear();
    // A competitor whose negotiations can be read is the best to begin with.
    const order = (factory) => 2 * factory.watched + factory.competes;
    this.selected = [...world.factories].sort((a, b) => order(b) - order(a))[0];
    this.seek(0);
  }

  seek(day) {
    if (!this.world) return;
    this.day = Math.min(this.world.last, Math.max(0, Math.round(Number(day) || 0)));
    this.draw();
  }

  select(factory) {
    if (factory !== this.selected) this.negotiations.open.clear();
    this.selected = factory;
    this.draw();
  }

  setMode(mode) {
    this.mode = mode;
    this.draw();
  }

  draw() {
    const { world, day, selected } = this;
    this.slider.value = day;
    this.slider.setAttribute("aria-valuetext", `day ${day} of ${world.last}`);
    this.clock.textContent = `day ${day} / ${world.last}`;
    const mode = Object.keys(MODES).indexOf(this.mode);
    this.modes.forEach((button, place) => button.setAttribute("aria-pressed", String(place === mode)));
    this.summary.textContent = this.sentence();
    this.who.value = selected.place;
    this.chain.show(day, selected, this.mode, this.product);
    this.factoryDay.show(world, selected, day);
    this.negotiations.show(world, selected, day);
    this.charts.forEach((chart) => chart.show(day, selected));
  }

  sentence() {
    const { world, day } = this;
    const count = (contracts) => {
      const quantity = sum(contracts.map((contract) => contract.quantity));
      return `${contracts.length} contract${contracts.length === 1 ? "" : "s"} (${units(quantity)})`;
    };
    const delivered = world.due[day].filter((contract) => contract.executed);
    const fallen = world.factories.filter((factory) => factory.bankrupt === day)
      .map((factory) => ` ${factory.name} goes bankrupt in the evening.`);
    return `Day ${day}: ${count(world.made[day])} made, ${count(delivered)} delivered.${fallen.join("")}`;
  }

  // Time

  nudge(by) {
    this.pause();
    this.seek(this.day + by);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.world || this.playing) return;
    if (this.day >= this.world.last) this.seek(0);
    this.setPlaying(true);
    let time = this.day;
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      time += (Math.max(0, now - before) / 1000 / DAY_SECONDS) * this.speed;
      before = now;
      if (Math.floor(time) !== this.day) this.seek(Math.floor(time));
      if (this.day >= this.world.last) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playing = playing;
    relabel(this.playButton, playing ? "Pause (Space)" : "Play (Space)", playing ? "pause" : "play");
  }

  key(event) {
    const within = (selector) => Boolean(event.target.closest?.(selector));
    if (event.ctrlKey || event.metaKey || event.altKey || within("select")) return;
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.nudge(-1),
      ArrowRight: () => this.nudge(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.world?.last),
    };
    const pressed = event.key === " " && within("button, summary"); // Space presses what is in focus
    if (!(event.key in actions) || pressed) return;
    event.preventDefault();
    actions[event.key]();
  }
}

window.worldExplorers = [];

function explore(part) {
  for (const root of part.querySelectorAll(".scml-explorer:not([data-begun])")) {
    root.dataset.begun = "";
    window.worldExplorers.push(new Explorer(root));
  }
}

document.addEventListener("DOMContentLoaded", () => explore(document));
document.addEventListener("understudy:part", () => explore(document));
