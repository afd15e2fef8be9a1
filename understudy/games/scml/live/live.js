// A factory of the supply chain: what lies on the table of every negotiation, HRL's advice, and the person's answer.

const bit = (name, className, ...children) => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
};
const offer = (told) => (told ? `${told[0]} for day ${told[1]} at ${told[2]}` : "nothing");
const spoken = ({ do: what, offer: made }) => (what === "offer" ? `offer ${offer(made)}` : what);

const HEADS = ["with", "on the table", "you said", "HRL advises", "L1 allows", "your answer"];

// Days with as many units are told together.
function spans(mask) {
  const found = [];
  for (const [day, units] of mask) {
    const before = found.at(-1);
    if (before && before[2] === units && before[1] === day - 1) before[1] = day;
    else found.push([day, day, units]);
  }
  return found;
}

class LiveFactory {
  constructor(root, scene, table) {
    Object.assign(this, { root, scene, table });
    root.className = "sl-live";
  }

  show(now) {
    this.root.dataset.step = now.step;
    if (now.days) this.root.replaceChildren(this.compared(now.days));
    if (!now.question) return;
    const { question } = now;
    this.root.replaceChildren(this.factory(question), this.goals(question.goals), ...question.cuts.map((cut) => bit("p", "sl-cut", `L1: ${cut}`)),
      this.talks(question), this.buttons());
  }

  factory(asked) {
    const facts = [["day", `${asked.day} of 0 to ${this.scene.steps - 1}`], ["stock", asked.stock], ["balance", asked.balance], ["free to spend", asked.money],
      ["from outside", asked.supply[0] ? `${asked.supply[0]} for ${asked.supply[1]}` : "none"], ["to outside", asked.sale[0] ? `${asked.sale[0]} for ${asked.sale[1]}` : "none"]];
    return bit("dl", "sl-facts", ...facts.map(([name, value]) => bit("div", "", bit("dt", "", name), bit("dd", "", String(value)))));
  }

  goals(goals) {
    const words = goals.map((row) => {
      const [first, last] = row.days;
      return `${last ? `in ${first} to ${last} days` : "today"} buy ${row.buy_quantity} at ${row.buy_price}, sell ${row.sell_quantity} at ${row.sell_price}`;
    });
    return bit("p", "sl-goals", goals.length ? `L2's goals: ${words.join("; ")}.` : "");
  }

  talks(asked) {
    const head = bit("tr", "", ...HEADS.map((words) => {
      const cell = bit("th", "", words);
      cell.scope = "col";
      return cell;
    }));
    this.rows = asked.talks.map((talk) => this.talk(talk));
    const table = bit("table", "runs sl-talks", bit("thead", "", head), bit("tbody", "", ...this.rows.map((row) => row.element)));
    const scroll = bit("div", "scroll", table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Negotiations");
    return scroll;
  }

  talk(talk) {
    const choice = bit("select", "", ...[["advice", "as advised"], ["offer", "offer"], ...(talk.heard ? [["accept", "accept"]] : []), ["end", "end"]].map(([value, words]) => {
      const option = bit("option", "", words);
      option.value = value;
      return option;
    }));
    choice.setAttribute("aria-label", `Answer to ${talk.partner}`);
    const start = talk.advice.offer ?? talk.heard ?? [1, talk.mask[0]?.[0] ?? 0, talk.prices[0]];
    const inputs = ["units", "day", "price"].map((name, place) => {
      const input = bit("input", "sl-number");
      Object.assign(input, { type: "number", value: start[place], min: 0 });
      return input;
    });
    const labels = ["units", "day", "price"].map((name, place) => bit("label", "", name, inputs[place]));
    const show = () => { for (const label of labels) label.hidden = choice.value !== "offer"; };
    choice.addEventListener("change", show);
    show();
    const allowed = spans(talk.mask).map(([first, last, units]) => `day ${first}${last > first ? ` to ${last}` : ""}: ${units}`).join(", ");
    const accept = talk.heard ? (talk.may_accept ? "accepting; " : "not accepting; ") : "";
    const cells = [`${talk.buys ? "buy from" : "sell to"} ${talk.partner}, round ${talk.round + 1}`, offer(talk.heard), offer(talk.said), spoken(talk.advice),
      `${accept}${allowed || "no day"}; price ${talk.prices.join(" to ")}`];
    const element = bit("tr", "", ...cells.map((words, place) => {
      const cell = bit("td", "", words);
      if (place) cell.dataset.head = HEADS[place];
      return cell;
    }), bit("td", "", bit("div", "sl-answer", choice, ...labels)));
    const told = () => ({ do: choice.value, offer: choice.value === "offer" ? inputs.map((input) => Math.round(Number(input.value))) : null });
    return { element, partner: talk.partner, told };
  }

  buttons() {
    const button = (words, className, rest) => {
      const made = bit("button", className, words);
      made.type = "button";
      made.addEventListener("click", () => {
        const talks = Object.fromEntries(this.rows.map((row) => [row.partner, row.told()]));
        for (const each of this.root.querySelectorAll("button")) each.disabled = true;
        this.table.send({ talks, rest });
      });
      return made;
    };
    const send = button("Answer", "", "");
    send.removeAttribute("class");
    return bit("p", "doing", send, button("Answer, then HRL for the day", "plain", "day"), button("Answer, then HRL to the end", "plain", "world"));
  }

  compared(days) {
    const rows = days.map(({ day, mine, hrl }) => {
      const row = bit("tr", mine > hrl ? "sl-better" : "", ...[day, mine, hrl, (mine - hrl).toFixed(1)].map((value) => bit("td", "", String(value))));
      return row;
    });
    const head = bit("tr", "", ...["day", `profit of ${this.scene.person}`, "profit of HRL", "difference"].map((words) => bit("th", "", words)));
    return bit("table", "sl-days", bit("thead", "", head), bit("tbody", "", ...rows));
  }

  close() {}
}

window.understudyLive = (root, scene, table) => new LiveFactory(root, scene, table);
