// A world's story made ready to be shown: what each factory had on each day, who traded what, who offered what.
// The scripts of this folder are laid into one page together, in one scope: story, chain, charts, factory, explorer.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const AGREED = 0; // index in `endings`; the others are in factory.js
const BACKGROUND = "var(--s8)";

const number = (value, digits = 0) =>
  Number(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const brief = (value) => number(value, Number.isInteger(value) ? 0 : 1);
const units = (count) => `${number(count)} unit${count === 1 ? "" : "s"}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);

// Quantity, days ahead and price above the lowest, again and again, in base64 digits of five bits: see dialogues.py.
function decode(text, day, lowest) {
  const values = [];
  let value = 0;
  let shift = 0;
  for (const letter of text) {
    const digit = DIGITS.indexOf(letter);
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit < 32) {
      values.push(value);
      value = shift = 0;
    }
  }
  const offers = [];
  for (let at = 0; at < values.length; at += 3) {
    offers.push({ quantity: values[at], day: day + values[at + 1], price: lowest + values[at + 2] });
  }
  return offers;
}

class World {
  constructor(story) {
    this.story = story;
    this.steps = story.steps;
    this.last = story.steps - 1;
    this.endings = story.endings;
    this.factories = story.factories.map((factory, place) => ({ ...factory, place, player: String(factory.player) }));
    const depth = Math.max(...this.factories.map((factory) => factory.level)) + 1;
    this.levels = Array.from({ length: depth }, (_, level) => this.factories.filter((one) => one.level === level));
    this.colorFactories();
    this.readContracts(story.contracts);
  }

  // Competitors have colours of their own, as far as there are colours; background agents are grey.
  colorFactories() {
    const competitors = this.factories.filter((factory) => factory.competes);
    const players = [...new Set(competitors.map((factory) => factory.player))].sort();
    for (const factory of this.factories) {
      factory.color = factory.competes ? `var(--s${1 + (players.indexOf(factory.player) % 7)})` : BACKGROUND;
      factory.name = `${factory.player} #${factory.place}`;
      factory.watched = factory.needs !== null;
    }
  }

  readContracts(columns) {
    const byDay = () => Array.from({ length: this.steps }, () => []);
    this.made = byDay();
    this.due = byDay();
    this.contracts = columns.seller.map((seller, at) => ({
      seller,
      buyer: columns.buyer[at],
      quantity: columns.quantity[at],
      day: columns.day[at],
      price: columns.unit_price[at],
      concluded: columns.concluded[at],
      executed: columns.executed[at] === 1,
    }));
    for (const contract of this.contracts) {
      this.made[contract.concluded]?.push(contract);
      this.due[contract.day]?.push(contract);
    }
  }

  // A column without anything but zeros comes as 0.
  at(factory, column, day) {
    const values = factory.days[column];
    return values === 0 ? 0 : values[day];
  }

  column(factory, name) {
    return Array.from({ length: this.steps }, (_, day) => this.at(factory, name, day));
  }

  // In the evening of a day.
  score(factory, day) {
    return this.at(factory, "balance", day + 1) / factory.initial;
  }

  // The day on which a factory's money was gone, or fell most.
  worstDay(factory) {
    if (factory.bankrupt !== null) return factory.bankrupt;
    const gain = (day) => this.at(factory, "balance", day + 1) - this.at(factory, "balance", day);
    const days = Array.from({ length: this.steps }, (_, day) => day);
    return days.reduce((worst, day) => (gain(day) < gain(worst) ? day : worst), 0);
  }

  stock(factory, day) {
    return this.at(factory, "stock", day + 1);
  }

  isBankrupt(factory, day) {
    return factory.bankrupt !== null && factory.bankrupt <= day;
  }

  // Units bought and sold for this day and the coming ones: known at its start, agreed today, exogenous.
  commitments(factory, today) {
    const days = Math.min(this.story.horizon, this.story.planned - 1 - today) + 1;
    const nothing = (_, lead) => ({ day: today + lead, supplies: [0, 0, 0], sales: [0, 0, 0] });
    const ahead = Array.from({ length: days }, nothing);
    for (let day = Math.max(0, today - this.story.horizon); day <= today; day += 1) {
      for (const contract of this.made[day]) {
        const entry = ahead[contract.day - today];
        const when = day < today ? 0 : 1;
        if (entry && contract.buyer === factory.place) entry.supplies[when] += contract.quantity;
        if (entry && contract.seller === factory.place) entry.sales[when] += contract.quantity;
      }
    }
    ahead[0].supplies[2] = this.at(factory, "supply_quantity", today);
    ahead[0].sales[2] = this.at(factory, "sale_quantity", today);
    return ahead;
  }

  // What a day brought and cost.
  ledger(factory, day) {
    const now = (column) => this.at(factory, column, day);
    const purchases = now("bought_money") + now("supply_price");
    const parts = {
      purchases, production: now("production_cost"), storage: now("storage_cost"), penalty: now("penalty"),
    };
    return { revenue: now("profit") + sum(Object.values(parts)), ...parts, profit: now("profit") };
  }

  // Those a factory can negotiate with: sellers of what it needs, buyers of what it makes.
  partners(factory) {
    const at = (level) => this.levels[level] ?? [];
    return { sellers: at(factory.level - 1), buyers: at(factory.level + 1) };
  }

  negotiation(factory, partner, day) {
    const [opener, other] = factory.opens ? [factory, partner] : [partner, factory];
    const found = this.story.talks[day].find((negotiation) => negotiation[0] === opener.place && negotiation[1] === other.place);
    if (!found) return null;
    const product = Math.max(opener.level, other.level);
    const offers = decode(found[3], day, this.story.products.lowest[product][day])
      .map((offer, turn) => ({ ...offer, round: Math.floor(turn / 2) + 1, by: turn % 2 ? other : opener }));
    return { offers, ending: found[2], closer: offers.length % 2 ? other : opener, opener };
  }
}
