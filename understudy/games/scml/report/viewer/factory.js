// The selected factory: its day in numbers, its commitments for the coming days, and its negotiations.
// Names come from outside: they reach the page only as text, never as markup.

const PARTS = ["known", "today", "outside"]; // of the commitments for a day, as in World.commitments
const NEEDS = "what the simulator told the agent at its first and its last decision of the day; below 0: it has too much";
const RULES_OF_NEGOTIATIONS = "Each day a factory negotiates with each of its neighbours by itself. Both sides take turns to accept, end "
  + "the negotiation or offer a quantity, a delivery day and a unit price, for 20 rounds at most. Open a negotiation to read it.";

const note = (textContent) => make("p", { className: "we-about", textContent });
const heading = (textContent) => make("h3", { textContent });

function colored(element, color) {
  element.style.setProperty("--mine", color);
  return element;
}

class FactoryDay {
  constructor() {
    this.title = box("we-factory-title");
    this.tiles = box("we-tiles");
    this.ahead = box("we-ahead");
    this.ledger = make("table", { className: "we-ledger" });
    this.outcome = note("");
    this.element = make("section", { className: "we-card we-factory", "aria-label": "The selected factory's day" },
      this.title, heading("At the start of the day"), this.tiles, heading("Commitments for the coming days"), this.ahead,
      heading("In the evening"), this.ledger, this.outcome);
  }

  show(world, factory, day) {
    const { level, lines, cost } = factory;
    const name = make("h2", {}, make("i", { className: "we-dot" }), factory.name);
    const role = factory.competes ? "\u2605 competitor" : "background agent";
    this.title.replaceChildren(colored(name, factory.color), note(`${role} on level ${level}: turns product ${level} into `
      + `product ${level + 1}, at most ${units(lines)} a day, at a cost of ${number(cost)} each`));
    this.tiles.replaceChildren(...this.dayStart(world, factory, day));
    this.showAhead(world.commitments(factory, day), lines, day);
    if (world.isBankrupt(factory, day - 1)) this.ahead.append(note("All of it is void: the factory is bankrupt."));
    this.showLedger(world, factory, day);
    this.outcome.textContent = this.sentence(world, factory, day);
  }

  dayStart(world, factory, day) {
    const { price, lowest, highest } = world.story.products;
    const tile = (value, label, title = "") => make("div", { title }, make("b", { textContent: value }), words(label));
    const unit = (product, label) => tile(number(price[product][day], 1),
      `${label}, ${lowest[product][day]}\u2013${highest[product][day]} allowed`, `trading price of product ${product}`);
    return [
      tile(number(world.at(factory, "balance", day)), "money"),
      tile(number(world.at(factory, "stock", day)), "units in stock"),
      unit(factory.level, "price of input"), unit(factory.level + 1, "price of output"),
      tile(...this.need(factory, day, 0, "units needed"), NEEDS), tile(...this.need(factory, day, 1, "sales needed"), NEEDS),
    ];
  }

  // Value and label of a need, which changes while a factory negotiates.
  need(factory, day, which, label) {
    if (!factory.watched) return ["\u2013", `${label}: its decisions were not recorded`];
    const needs = factory.needs[day];
    if (!needs) return ["\u2013", `${label}: it made no decision today`];
    const [first, last] = [needs[which], needs[which + 2]];
    if (first === last) return [number(first), label];
    return [`${number(first)} \u2192 ${number(last)}`, `${label}, first \u2192 last decision`];
  }

  showAhead(days, lines, today) {
    const most = Math.max(lines, ...days.flatMap(({ supplies, sales }) => [sum(supplies), sum(sales)]));
    const limit = box("we-limit");
    limit.style.bottom = `${(100 * lines) / most}%`;
    const groups = days.map(({ day, supplies, sales }) => box("we-lead",
      box("we-pair", this.stack("supplies", supplies, day, most), this.stack("sales", sales, day, most)),
      words(day === today ? "today" : `+${day - today}`)));
    const key = (label, kind) => words(label, `we-key ${kind}`);
    this.ahead.replaceChildren(box("we-ahead-plot", box("we-limit-area", limit), ...groups),
      box("we-keys", key("coming in", "supplies"), key("going out", "sales"), key("pale: agreed today", "pale"),
        key("striped: exogenous", "striped"), key(`most it can make: ${lines}`, "limit")));
  }

  stack(kind, parts, day, most) {
    const total = sum(parts);
    const pieces = PARTS.map((part, place) => {
      const piece = make("i", { className: part, hidden: !parts[place] });
      piece.style.height = `${(100 * parts[place]) / most}%`;
      return piece;
    });
    const made = box(`we-stack ${kind}`, words(total ? number(total) : ""), ...pieces.reverse());
    made.title = `day ${day}, ${kind}: ${parts[0]} known at its start, ${parts[1]} agreed today, `
      + `${parts[2]} exogenous`;
    return made;
  }

  showLedger(world, factory, day) {
    const now = (column) => world.at(factory, column, day);
    const parts = world.ledger(factory, day);
    const made = now("produced");
    const rows = [
      ["sales", parts.revenue, `${units(made)} made and paid, of ${number(now("sold") + now("sale_quantity"))} promised`],
      ["purchases", -parts.purchases, units(now("bought") + now("supply_quantity"))],
      ["production", -parts.production, `${number(made)} \u00d7 ${number(factory.cost)}`],
      [world.story.track === "oneshot" ? "disposal" : "storage", -parts.storage, `${units(now("stored"))} left over`],
      ["penalty", -parts.penalty, `${units(now("shortfall"))} missing`],
      ["profit", parts.profit, ""],
    ];
    const most = Math.max(1, ...rows.map(([, money]) => Math.abs(money)));
    this.ledger.replaceChildren(make("tbody", {}, ...rows.map((row) => this.ledgerRow(...row, most))));
  }

  ledgerRow(label, money, detail, most) {
    const size = Math.abs(Math.round(money * 10) / 10);
    const bar = make("i", { className: money < 0 ? "loss" : "gain" });
    bar.style.width = `${(100 * Math.abs(money)) / most}%`;
    return make("tr", { className: label === "profit" ? "total" : "" },
      make("th", { textContent: label, scope: "row" }),
      make("td", { className: "we-money", textContent: size ? `${money < 0 ? "\u2212" : "+"}${brief(size)}` : "0" }),
      make("td", { className: "we-bar" }, bar), make("td", { className: "we-detail", textContent: detail }));
  }

  sentence(world, factory, day) {
    const balance = world.at(factory, "balance", day + 1);
    const parts = [`That leaves ${number(balance)} of ${number(factory.initial)} at the start: `
      + `score ${number(world.score(factory, day), 3)}.`];
    if (world.isBankrupt(factory, day)) {
      parts.push(`It has been bankrupt since the evening of day ${factory.bankrupt}: it negotiates no more, and what it had `
        + "agreed is void.");
    }
    for (const [place, when, error] of world.story.faults) {
      if (place === factory.place && when === day) parts.push(`Its code failed: ${error}.`);
    }
    return parts.join(" ");
  }
}

// How a negotiation ended: for its row, for its last offer, and in a sentence that begins with who ended it. As in ENDINGS.
function endingWords({ ending, closer, offers }) {
  const who = closer.player;
  const last = offers.at(-1);
  return [
    [last && `\u2713 agreed: ${last.quantity} \u00d7 ${last.price}, day ${last.day}`, "accepted \u2713", "accepts the last one: a contract"],
    [`${who} ended it`, "ended", "ends the negotiation"],
    [`${who} gave no answer`, "no answer", "says nothing, which ends the negotiation"],
    [`${who} made no new offer`, "rejected", "rejects and offers nothing, which ends the negotiation"],
    ["out of rounds", "rounds over", "does not come to answer: the rounds are over"],
    [`${who} broke it off`, "?", "ends the negotiation; how was not recorded"],
  ][ending];
}

class Negotiations {
  constructor() {
    this.open = new Set();
    this.list = box("we-negotiation-list");
    this.element = make("section", { className: "we-card we-negotiations", "aria-label": "Negotiations of the day" },
      heading("Negotiations of the day"), note(RULES_OF_NEGOTIATIONS), this.list);
  }

  show(world, factory, day) {
    const { sellers, buyers } = world.partners(factory);
    const group = (title, partners) => (partners.length ? [make("h4", { textContent: title })] : [])
      .concat(partners.map((partner) => this.row(world, factory, partner, day)));
    this.list.replaceChildren(...group(`Buying product ${factory.level} from`, sellers),
      ...group(`Selling product ${factory.level + 1} to`, buyers));
    if (!this.list.childElementCount) {
      this.list.append(make("p", { className: "empty", textContent: "It has no neighbours; it trades with the outside only." }));
    }
  }

  row(world, factory, partner, day) {
    const label = `${partner.competes ? "\u2605 " : ""}${partner.name}`;
    const name = make("span", { className: "we-partner" }, make("i", { className: "we-dot" }), label);
    colored(name, partner.color);
    const negotiation = world.negotiation(factory, partner, day);
    if (!negotiation) return box("we-negotiation none", name, words(this.silence(world, factory, partner, day), "we-about"));
    const count = negotiation.offers.length;
    const body = box("we-offers");
    const outcome = count ? endingWords(negotiation)[0] : `${negotiation.opener.player} made no offer`;
    const row = make("details", { className: `we-negotiation${negotiation.ending === AGREED ? " agreed" : ""}` },
      make("summary", {}, name, words(`${count} offer${count === 1 ? "" : "s"}`, "we-count"), words(outcome, "we-outcome")),
      body);
    row.addEventListener("toggle", () => {
      if (row.open) this.open.add(partner.place);
      else this.open.delete(partner.place);
      if (row.open && !body.childElementCount) body.append(this.offers(negotiation, factory));
    });
    row.open = this.open.has(partner.place);
    return row;
  }

  // Why there is nothing to tell.
  silence(world, factory, partner, day) {
    const gone = [factory, partner].find((one) => world.isBankrupt(one, day - 1));
    if (gone) return `no negotiation: ${gone === factory ? "it" : gone.player} is bankrupt`;
    return factory.watched || partner.watched ? "no offer was made" : "not recorded: neither side was watched";
  }

  offers(negotiation, factory) {
    if (!negotiation.offers.length) return note(`${negotiation.opener.player} was to open this negotiation and made no offer, which ended it.`);
    const [, answer, sentence] = endingWords(negotiation);
    const last = negotiation.offers.length - 1;
    const cell = (text, className = "") => make("td", { textContent: text, className });
    const rows = negotiation.offers.map((offer, turn) => {
      const own = offer.by === factory;
      const agreed = negotiation.ending === AGREED && turn === last;
      return make("tr", { className: `${own ? "own" : ""}${agreed ? " agreed" : ""}` },
        cell(offer.round), cell(`${own ? "\u25b8 " : ""}${offer.by.player}`), cell(offer.quantity, "n"), cell(offer.day, "n"),
        cell(offer.price, "n"), cell(turn < last ? "rejected" : answer));
    });
    const heads = ["round", "offer by", "units", "for day", "price", "answer"].map((text, at) =>
      make("th", { textContent: text, scope: "col", className: at > 1 && at < 5 ? "n" : "" }));
    return box("scroll", make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
      note(`\u25b8 marks offers of the selected factory. ${negotiation.closer.player} ${sentence}.`));
  }
}
