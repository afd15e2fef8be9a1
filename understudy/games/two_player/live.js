// A plain game, turn by turn: what this seat knows, and a button for every option it has.

const PAUSE = 450; // milliseconds between steps in which the person has nothing to choose

const piece = (name, className, ...children) => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
};

class LiveBoard {
  constructor(root, scene, table) {
    Object.assign(this, { root, scene, table, chosen: [] });
    root.className = "pl-live";
    this.told = piece("p", "pl-told");
    this.told.setAttribute("role", "status");
    this.picture = piece("div", "pl-picture");
    this.options = piece("div", "pl-options");
    root.replaceChildren(this.told, this.picture, this.options);
  }

  show(now, over) {
    const { seat, players } = this.scene;
    const wait = now.chooses ? "Your turn." : seat === null ? "" : "The other is to move.";
    this.told.textContent = `Step ${now.step}. ${over ? "" : wait}`;
    this.root.dataset.step = now.step;
    this.picture.replaceChildren(...this.drawn(now, players));
    this.options.replaceChildren();
    this.chosen = Object.keys(this.scene.heads).map(() => null);
    if (now.chooses) this.offer(now);
    else if (!over) this.timer = setTimeout(() => this.table.send(null), PAUSE);
  }

  drawn(now, players) {
    if (now.text) return [piece("pre", "pl-text", now.text)];
    if (!now.board.length) return [this.features(now)];
    const { seat } = this.scene;
    const whose = (mark) => (mark === 1 ? players[seat ?? 0] : mark === 2 ? players[1 - (seat ?? 0)] : `kind ${mark}`);
    const board = piece("div", "pl-board", ...now.board.flat().map((mark) => {
      const cell = piece("span", `pl-cell m${mark}`);
      if (mark) cell.title = whose(mark);
      return cell;
    }));
    board.style.setProperty("--columns", now.board[0].length);
    board.setAttribute("role", "img");
    board.setAttribute("aria-label", now.board.map((row) => row.map((mark) => (mark ? whose(mark) : "free")).join(", ")).join("; "));
    return [board];
  }

  features(now) {
    const rows = this.scene.features.map((name, place) => [name, now.features[place]]).filter(([, value]) => value !== 0);
    const cells = rows.flatMap(([name, value]) => [piece("dt", "", name), piece("dd", "", String(value))]);
    return piece("dl", "pl-features", ...cells);
  }

  offer(now) {
    let first = 0;
    const single = Object.keys(this.scene.heads).length === 1;
    Object.entries(this.scene.heads).forEach(([head, count], place) => {
      const begin = first;
      first += count;
      const legal = Array.from({ length: count }, (_, option) => option).filter((option) => now.legal[begin + option]);
      if (legal.length === 1) { [this.chosen[place]] = legal; return; }
      const buttons = legal.map((option) => {
        const words = now.options[begin + option] || `${head} ${option}`;
        const button = piece("button", "plain pl-option", words);
        button.type = "button";
        button.dataset.option = option;
        button.setAttribute("aria-pressed", "false");
        button.addEventListener("click", () => this.choose(place, option, button, single));
        return button;
      });
      this.options.append(piece("div", "pl-head", ...(single ? [] : [piece("b", "", head)]), ...buttons));
    });
  }

  choose(place, option, button, single) {
    this.chosen[place] = option;
    for (const other of button.parentElement.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    if (single || this.chosen.every((one) => one !== null)) {
      this.options.replaceChildren();
      this.table.send(this.chosen);
    }
  }

  close() {
    clearTimeout(this.timer);
  }
}

window.understudyLive = (root, scene, table) => new LiveBoard(root, scene, table);
