// Days as lines and bars, small, with the chosen day marked. A click leads to a day.

class Chart {
  constructor(title, about, seek) {
    this.svg = draw("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.cursor = box("we-cursor");
    this.now = words("", "we-now");
    this.axis = box("we-axis");
    this.plot = box("we-plot", this.svg, this.axis, this.cursor);
    this.days = box("we-days");
    this.about = make("p", { className: "we-about", textContent: about });
    this.keys = box("we-keys");
    this.element = make("figure", { className: "we-chart" },
      make("figcaption", {}, make("b", { textContent: title }), this.now), this.plot, this.days, this.keys,
      this.about);
    this.plot.addEventListener("click", (event) => {
      const { left, width: wide } = this.plot.getBoundingClientRect();
      seek(Math.floor(((event.clientX - left) / wide) * (this.last + 1)));
    });
  }

  scale(last, low, high, references = []) {
    Object.assign(this, { last, low, high: high > low ? high : low + 1 });
    const apart = (tick) => references.every((other) => Math.abs(this.y(tick) - this.y(other)) > 12);
    const ticks = [...references, ...[this.low, this.high].filter(apart)];
    this.axis.replaceChildren(...ticks.map((tick) => {
      const label = words(tick === Math.round(tick) ? number(tick) : number(tick, 2));
      label.style.top = `${this.y(tick)}%`;
      return label;
    }));
    this.svg.replaceChildren(...references.map((tick) =>
      draw("path", { class: "we-reference", d: `M0,${this.y(tick)}H1000` })));
    this.days.replaceChildren(words("day 0"), words(`day ${last}`));
  }

  x(day) {
    return (1000 * (day + 0.5)) / (this.last + 1);
  }

  y(value) {
    return 100 * (1 - (Math.max(value, this.low) - this.low) / (this.high - this.low));
  }

  line(values, color, className = "") {
    const spots = values.map((value, day) => `${this.x(day).toFixed(1)},${this.y(value).toFixed(1)}`);
    const path = draw("path", { class: `we-curve ${className}`, d: `M${spots.join("L")}` });
    path.style.setProperty("--mine", color);
    this.svg.append(path);
    return path;
  }

  mark(day, text = "") {
    this.cursor.style.left = `${this.x(day) / 10}%`;
    this.now.textContent = text;
  }
}

// One line per factory; the selected one stands out.
class FactoryLines {
  constructor({ title, about, value, text, shown, least = -Infinity }, seek) {
    Object.assign(this, { value, text, shown, least });
    this.chart = new Chart(title, about, seek);
    this.element = this.chart.element;
  }

  load(world) {
    this.world = world;
    const days = Array.from({ length: world.steps }, (_, day) => day);
    const rows = world.factories.map((factory) => days.map((day) => this.value(world, factory, day)));
    const all = [this.shown, ...rows.flat()];
    this.chart.scale(world.last, Math.max(this.least, Math.min(...all)), Math.max(...all), [this.shown]);
    this.paths = world.factories.map(({ color, competes, place }) =>
      this.chart.line(rows[place], color, competes ? "competes" : ""));
    const key = (factory) => {
      const made = words(factory.competes ? `\u2605 ${factory.player}` : "background agents", "we-key");
      made.style.setProperty("--mine", factory.color);
      return made;
    };
    const shown = new Map(world.factories.map((factory) => [factory.competes ? factory.player : "", factory]));
    this.chart.keys.replaceChildren(...[...shown.values()].sort((a, b) => b.competes - a.competes).map(key));
  }

  show(day, selected) {
    if (this.selected !== this.paths[selected.place]) {
      this.selected?.classList.remove("selected");
      this.selected = this.paths[selected.place];
      this.selected.classList.add("selected");
      this.chart.svg.append(this.selected); // on top
    }
    this.chart.mark(day, `${selected.name}: ${this.text(this.value(this.world, selected, day))}`);
  }
}

class PriceLines {
  constructor(seek) {
    this.chart = new Chart("Trading prices",
      "What a unit of each product last fetched, averaged over days; offers must stay near it.", seek);
    this.element = this.chart.element;
  }

  load(world) {
    const { price } = world.story.products;
    const all = price.flat();
    this.prices = price;
    this.chart.scale(world.last, Math.floor(Math.min(...all)), Math.ceil(Math.max(...all)));
    price.forEach((values, product) => this.chart.line(values, this.color(product), `competes dash${product}`));
    this.values = price.map(() => make("b"));
    this.chart.keys.replaceChildren(...price.map((_, product) => {
      const key = make("span", { className: `we-key dash${product}` }, `product ${product} `, this.values[product]);
      key.style.setProperty("--mine", this.color(product));
      return key;
    }));
  }

  // From the other end than players, whose colours they should not share.
  color(product) {
    return `var(--s${7 - (product % 7)})`;
  }

  show(day) {
    this.chart.mark(day);
    this.values.forEach((value, product) => { value.textContent = number(this.prices[product][day], 1); });
  }
}

class ProductionBars {
  constructor(seek) {
    this.chart = new Chart("Production", "Units made by the selected factory, and those it had promised but could not make; "
      + "the line is what it can make in a day.", seek);
    this.element = this.chart.element;
    this.chart.keys.append(words("made", "we-key made"), words("missing", "we-key missing"));
  }

  load(world) {
    this.world = world;
    this.factory = null;
  }

  show(day, factory) {
    const { world, chart } = this;
    if (this.factory !== factory) {
      this.factory = factory;
      this.element.style.setProperty("--mine", factory.color);
      const made = world.column(factory, "produced");
      const missing = world.column(factory, "shortfall");
      const promised = made.map((count, at) => count + missing[at]);
      chart.scale(world.last, 0, Math.max(factory.lines, ...promised), [factory.lines]);
      chart.svg.append(draw("path", { class: "we-made", d: this.bars(made, made.map(() => 0)) }),
        draw("path", { class: "we-missing", d: this.bars(missing, made) }));
    }
    const [made, missing] = ["produced", "shortfall"].map((column) => world.at(factory, column, day));
    chart.mark(day, `${factory.name}: ${number(made)} made${missing ? `, ${number(missing)} missing` : ""}`);
  }

  bars(heights, floors) {
    const { chart } = this;
    const half = 400 / (chart.last + 1);
    return heights.map((height, day) => {
      const [bottom, top] = [floors[day], floors[day] + height].map((value) => chart.y(value).toFixed(1));
      const left = (chart.x(day) - half).toFixed(1);
      return height ? `M${left},${bottom}V${top}h${(2 * half).toFixed(1)}V${bottom}Z` : "";
    }).join("");
  }
}
