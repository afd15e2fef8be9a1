// The supply chain as a picture: a column per level, a box per factory, a line per pair that trades on the chosen day.

const SVG = "http://www.w3.org/2000/svg";

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

function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const box = (className, ...children) => make("div", { className }, ...children);
const words = (textContent, className = "") => make("span", { textContent, className });
const width = (quantity) => Math.min(13, 1 + Math.sqrt(quantity) * 1.6).toFixed(1);

// Box of one factory; everything in it is as of the evening.
class Box {
  constructor(world, factory, select) {
    Object.assign(this, { world, factory });
    this.score = make("b");
    this.stock = words("");
    this.bar = make("i");
    const name = factory.competes ? `\u2605\u00a0${factory.player}` : factory.player;
    const className = `we-box${factory.competes ? " competes" : ""}`;
    this.element = make("button", { type: "button", className, onclick: select },
      box("we-box-name", words(name), make("small", { textContent: `#${factory.place}` })),
      box("we-box-score", this.score, this.stock), box("we-gauge", this.bar));
    this.element.style.setProperty("--mine", factory.color);
  }

  show(day, selected) {
    const { world, factory, element } = this;
    const score = world.score(factory, day);
    const bankrupt = world.isBankrupt(factory, day);
    const stock = world.stock(factory, day);
    this.score.textContent = number(score, 2);
    this.stock.textContent = bankrupt ? "bankrupt" : `stock ${number(stock)}`;
    this.bar.style.width = `${50 * Math.min(2, Math.max(0, score))}%`;
    element.classList.toggle("bankrupt", bankrupt);
    element.setAttribute("aria-pressed", String(selected));
    element.title = `${factory.name}, a ${factory.competes ? "competitor" : "background agent"}: score ${number(score, 3)}, `
      + `stock ${stock}${bankrupt ? `, bankrupt since day ${factory.bankrupt}` : ""}`;
  }
}

class Chain {
  constructor(select) {
    this.select = select;
    this.lines = draw("svg", { class: "we-lines", "aria-hidden": "true" });
    this.columns = box("we-columns");
    this.element = box("we-chain", this.lines, this.columns);
    this.heads = box("we-heads");
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  load(world) {
    this.world = world;
    this.boxes = world.factories.map((factory) => new Box(world, factory, () => this.select(factory)));
    const columns = world.levels.map((factories, level) =>
      make("div", { className: "we-column", role: "group", "aria-label": `Level ${level}` },
        ...factories.map((factory) => this.boxes[factory.place].element)));
    this.columns.replaceChildren(...columns);
    this.columns.style.setProperty("--levels", world.levels.length);
    this.heads.replaceChildren(...world.levels.map((_, level) =>
      box("we-head", make("b", { textContent: `Level ${level}` }), words(`product ${level} \u2192 ${level + 1}`))));
    this.heads.style.setProperty("--levels", world.levels.length);
    this.element.classList.toggle("deep", world.levels.length > 3);
    this.heads.classList.toggle("deep", world.levels.length > 3);
  }

  show(day, selected, mode, product) {
    Object.assign(this, { day, selected, mode, product });
    this.boxes.forEach((one) => one.show(day, one.factory === selected));
    this.redraw();
  }

  redraw() {
    if (!this.world || !this.selected) return;
    const frame = this.element.getBoundingClientRect();
    if (!frame.width) return;
    this.lines.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    this.places = this.boxes.map(({ element }) => {
      const { left, right, top, height } = element.getBoundingClientRect();
      return { left: left - frame.left, right: right - frame.left, y: top - frame.top + height / 2 };
    });
    const mine = (trade) => trade.seller === this.selected.place || trade.buyer === this.selected.place;
    const trades = this.trades().sort((a, b) => mine(a) - mine(b)); // the selected factory's lie on top
    const inside = trades.map((trade) => this.line(trade, mine(trade)));
    this.lines.replaceChildren(...inside, ...this.outside(frame.width));
  }

  // What is made or delivered on the day, by seller and buyer.
  trades() {
    const found = new Map();
    for (const contract of (this.mode === "made" ? this.world.made : this.world.due)[this.day]) {
      if (this.product !== null && this.world.factories[contract.seller].level + 1 !== this.product) continue;
      const key = `${contract.seller} ${contract.buyer} ${contract.executed}`;
      const trade = found.get(key) ?? { ...contract, quantity: 0, money: 0 };
      trade.quantity += contract.quantity;
      trade.money += contract.quantity * contract.price;
      found.set(key, trade);
    }
    return [...found.values()];
  }

  line(trade, mine) {
    const from = this.places[trade.seller];
    const to = this.places[trade.buyer];
    const middle = (from.right + to.left) / 2;
    const curve = `M${from.right},${from.y}C${middle},${from.y} ${middle},${to.y} ${to.left},${to.y}`;
    const path = draw("path", { d: curve, "stroke-width": width(trade.quantity) });
    const group = draw("g", { class: `we-line${mine ? " mine" : ""}${trade.executed ? "" : " void"}` }, path);
    if (mine) {
      const sells = trade.seller === this.selected.place;
      group.append(this.label(sells ? to.left - 11 : from.right + 11, sells ? to.y : from.y, trade.quantity));
    }
    return group;
  }

  // Exogenous contracts: short arrows at the edges.
  outside(right) {
    return this.world.factories.flatMap((factory) => {
      const { left, right: end, y } = this.places[factory.place];
      const supply = this.world.at(factory, "supply_quantity", this.day);
      const sale = this.world.at(factory, "sale_quantity", this.day);
      const mine = factory === this.selected ? " mine" : "";
      const arrow = (from, to, quantity) => draw("g", { class: `we-line outside${mine}` },
        draw("path", { d: `M${from},${y}H${to}`, "stroke-width": width(quantity) }),
        this.label((from + to) / 2, y, quantity));
      return [supply ? arrow(2, left, supply) : "", sale ? arrow(end, right - 2, sale) : ""].filter(Boolean);
    });
  }

  label(x, y, text) {
    const long = String(text).length;
    return draw("g", { class: "we-label", transform: `translate(${x.toFixed(1)},${y.toFixed(1)})` },
      draw("rect", { x: -3.6 * long - 3, y: -8, width: 7.2 * long + 6, height: 16, rx: 6 }),
      draw("text", { y: 4 }, String(text)));
  }
}
