// The selected factory: its day in numbers, what it has promised for the coming days, and its talks.
// Names come from outside: they reach the page only as text, never as markup.

class FactoryDay {
  constructor() {
    this.title = box("we-factory-title");
    this.tiles = box("we-tiles");
    this.ahead = box("we-ahead");
    this.ledger = make("table", { className: "we-ledger" });
    this.outcome = make("p", { className: "we-about" });
    this.element = make("section", { className: "we-card we-factory", "aria-label": "The selected factory's day" },
      this.title, make("h3", { textContent: "In the morning" }), this.tiles,
      make("h3", { textContent: "Promised for the coming days" }), this.ahead,
      make("h3", { textContent: "In the evening" }), this.ledger, this.outcome);
  }

  show(world, factory, day) {
    const role = factory.competes ? "\u2605 competitor" : "filler";
    const name = make("h2", {}, make("i", { className: "we-dot" }), factory.name);
    name.style.setProperty("--mine", factory.color);
    this.title.replaceChildren(name, make("p", { className: "we-about", textContent: `${role} on level ${factory.level}: turns product ${factory.level} into `
      + `product ${factory.level + 1}, at most ${units(factory.lines)} a day, at a cost of ${number(factory.cost)} each` }));
    this.tiles.replaceChildren(...this.morning(world, factory, day));
    this.showAhead(world.commitments(factory, day), factory.lines, day);
    if (world.isBankrupt(factory, day - 1)) {
      this.ahead.append(make("p", { className: "we-about", textContent: "All of it is void: the factory is bankrupt." }));
    }
    this.showLedger(world, factory, day);
  }

  morning(world, factory, day) {
    const { price, lowest, highest } = world.story.products;
    const tile = (value, label, title = "") => make("div", { title }, make("b", { textContent: value }), words(label));
    const unit = (product, label) => tile(number(price[product][day], 1),
      `${label}${lowest[product] ? `, ${lowest[product][day]}\u2013${highest[product][day]} allowed` : ""}`, `trading price of product ${product}`);
    const need = factory.needs?.[day];
    const needed = (at, label) => tile(need ? (need[at] === need[at + 2] ? number(need[at]) : `${number(need[at])} \u2192 ${number(need[at + 2])}`) : "\u2013",
      need ? `${label}${need[at] === need[at + 2] ? "" : ", first \u2192 last decision"}` : `${label}: ${factory.watched ? "it made no decision today" : "its decisions were not recorded"}`,
      "as the simulator told the agent at its first and its last decision of the day; below 0: more than it needs");
    return [tile(number(world.at(factory, "balance", day)), "money"), tile(number(world.at(factory, "stock", day)), "units in stock"),
      unit(factory.level, "price of input"), unit(factory.level + 1, "price of output"),
      needed(0, "units needed"), needed(1, "sales needed")];
  }

  showAhead(days, lines, today) {
    const most = Math.max(lines, ...days.flatMap(({ supplies, sales }) => [sum(supplies), sum(sales)]));
    const bar = (kind, parts, day) => {
      const total = sum(parts);
      const made = box(`we-stack ${kind}`, words(total ? number(total) : ""), ...[2, 1, 0].map((part) => {
        const piece = make("i", { className: ["known", "today", "outside"][part] });
        piece.style.height = `${(100 * parts[part]) / most}%`;
        return piece;
      }));
      made.title = `day ${day}, ${kind}: ${parts[0]} known in the morning, ${parts[1]} agreed today, ${parts[2]} forced from outside`;
      return made;
    };
    const limit = box("we-limit");
    limit.style.bottom = `${(100 * lines) / most}%`;
    const groups = days.map(({ day, supplies, sales }) => box("we-lead",
      box("we-pair", bar("supplies", supplies, day), bar("sales", sales, day)), words(day === today ? "today" : `+${day - today}`)));
    const key = (label, kind) => words(label, `we-key ${kind}`);
    this.ahead.replaceChildren(box("we-ahead-plot", box("we-limit-area", limit), ...groups),
      box("we-keys", key("coming in", "supplies"), key("going out", "sales"), key("pale: agreed today", "pale"), key("striped: forced", "striped"),
        key(`most it can make: ${lines}`, "limit")));
  }

  showLedger(world, factory, day) {
    const now = (column) => world.at(factory, column, day);
    const parts = world.ledger(factory, day);
    const made = now("produced");
    const bought = now("bought") + now("supply_quantity");
    const rows = [["sales", parts.revenue, `${units(made)} made and paid, of ${number(now("sold") + now("sale_quantity"))} promised`],
      ["purchases", -parts.purchases, units(bought)], ["production", -parts.production, `${number(made)} \u00d7 ${number(factory.cost)}`],
      [world.story.track === "oneshot" ? "disposal" : "storage", -parts.storage, `${units(now("stored"))} left over`],
      ["penalty", -parts.penalty, `${units(now("shortfall"))} missing`], ["profit", parts.profit, ""]];
    const most = Math.max(1, ...rows.map(([, money]) => Math.abs(money)));
    this.ledger.replaceChildren(make("tbody", {}, ...rows.map(([label, money, detail]) => {
      const bar = make("i", { className: money < 0 ? "loss" : "gain" });
      bar.style.width = `${(100 * Math.abs(money)) / most}%`;
      const shown = Math.abs(money) < 0.05 ? "0" : `${money < 0 ? "\u2212" : "+"}${brief(Math.abs(Math.round(money * 10) / 10))}`;
      return make("tr", { className: label === "profit" ? "total" : "" }, make("th", { textContent: label, scope: "row" }),
        make("td", { className: "we-money", textContent: shown }), make("td", { className: "we-bar" }, bar), make("td", { className: "we-detail", textContent: detail }));
    })));
    const balance = now("balance") + now("profit");
    const end = world.isBankrupt(factory, day) ? ` It has been bankrupt since the evening of day ${factory.bankrupt}: it talks no more, and what it had agreed is void.` : "";
    const failures = world.story.faults.filter(([place, when]) => place === factory.place && when === day).map(([, , error]) => ` Its code failed: ${error}.`);
    this.outcome.textContent = `That leaves ${number(balance)} of ${number(factory.initial)} at the start: score ${number(world.score(factory, day), 3)}.${end}${failures.join("")}`;
  }
}

// How a talk ended, in words for a badge.
function outcome(talk) {
  const who = talk.closer.player;
  const last = talk.offers.at(-1);
  return [
    last ? `agreed: ${last.quantity} \u00d7 ${last.price}, day ${last.day}` : "agreed",
    `${who} ended it`,
    `${who} gave no answer`,
    talk.offers.length ? `${who} made no new offer` : `${who} made no offer`,
    "out of rounds",
    talk.offers.length ? `${who} broke it off` : `${who} made no offer`,
  ][talk.ending];
}

class Talks {
  constructor() {
    this.open = new Set();
    this.list = box("we-talk-list");
    this.element = make("section", { className: "we-card we-talks", "aria-label": "Talks of the day" },
      make("h3", { textContent: "Talks of the day" }),
      make("p", { className: "we-about", textContent: "Each day a factory talks to each of its neighbours by itself. Both sides take turns to accept, end the talk or offer "
        + "a quantity, a delivery day and a unit price, for 20 rounds at most. Open a talk to read it." }), this.list);
  }

  show(world, factory, day) {
    const { sellers, buyers } = world.partners(factory);
    const group = (title, partners) => (partners.length ? [make("h4", { textContent: title }), ...partners.map((partner) => this.row(world, factory, partner, day))] : []);
    this.list.replaceChildren(...group(`Buying product ${factory.level} from`, sellers), ...group(`Selling product ${factory.level + 1} to`, buyers));
    if (!this.list.childElementCount) this.list.append(make("p", { className: "empty", textContent: "It has no neighbours to talk to; its trades are all with the outside." }));
  }

  row(world, factory, partner, day) {
    const name = make("span", { className: "we-partner" }, make("i", { className: "we-dot" }), `${partner.competes ? "\u2605 " : ""}${partner.name}`);
    name.style.setProperty("--mine", partner.color);
    const talk = world.talk(factory, partner, day);
    if (!talk) return box("we-talk none", name, words(this.silence(world, factory, partner, day), "we-about"));
    const agreed = talk.ending === AGREED;
    const count = talk.offers.length;
    const body = box("we-offers");
    const row = make("details", { className: `we-talk${agreed ? " agreed" : ""}` }, make("summary", {}, name,
      words(`${count} offer${count === 1 ? "" : "s"}`, "we-count"), words(`${agreed ? "\u2713 " : ""}${outcome(talk)}`, "we-outcome")), body);
    row.addEventListener("toggle", () => {
      if (row.open) this.open.add(partner.place);
      else this.open.delete(partner.place);
      if (row.open && !body.childElementCount) body.append(this.offers(talk, factory));
    });
    row.open = this.open.has(partner.place);
    return row;
  }

  // Why there is nothing to tell.
  silence(world, factory, partner, day) {
    const gone = [factory, partner].find((one) => world.isBankrupt(one, day - 1));
    if (gone) return `no talk: ${gone === factory ? "it" : gone.player} is bankrupt`;
    return factory.watched || partner.watched ? "nothing was said" : "not recorded: neither side was watched";
  }

  offers(talk, factory) {
    if (!talk.offers.length) return make("p", { className: "we-about", textContent: `${talk.opener.player} was to open this talk and made no offer, which ended it.` });
    const cell = (text, className = "") => make("td", { textContent: text, className });
    const last = talk.offers.length - 1;
    const rows = talk.offers.map((offer, turn) => make("tr", { className: `${offer.by === factory ? "own" : ""}${talk.ending === AGREED && turn === last ? " agreed" : ""}` },
      cell(offer.round), cell(`${offer.by === factory ? "\u25b8 " : ""}${offer.by.player}`), cell(offer.quantity, "n"), cell(offer.day, "n"), cell(offer.price, "n"),
      cell(turn < last ? "rejected" : ["accepted \u2713", "ended", "no answer", "rejected", "rounds over", "?"][talk.ending])));
    const heads = ["round", "offer by", "units", "for day", "price", "answer"].map((text, at) => make("th", { textContent: text, scope: "col", className: at > 1 && at < 5 ? "n" : "" }));
    return box("scroll", make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
      make("p", { className: "we-about", textContent: `\u25b8 marks offers of the selected factory. ${talk.closer.player} ${this.lastAnswer(talk)}.` }));
  }

  lastAnswer(talk) {
    return ["accepts the last one: a contract", "ends the talk", "says nothing, which ends the talk", "rejects and offers nothing, which ends the talk",
      "does not come to answer: the rounds are over", "ends the talk; how was not recorded"][talk.ending];
  }
}
