// A match over a WebSocket: one message out, one back. How it looks and is played is the game's own script's affair.
"use strict";

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.seats")) return;
  event.preventDefault();
  sitDown(event.target);
});

let table = null;

class Table {
  constructor(form) {
    this.form = form;
    this.asked = Object.fromEntries(new FormData(form));
    this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/play/table`);
    this.socket.onopen = () => this.open();
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onclose = () => { if (!this.isOver) say("The table was cleared."); this.end(); };
  }

  open() {
    say("The players are sitting down …");
    this.isOver = false;
    this.socket.send(JSON.stringify({ open: this.asked }));
  }

  // What the game's own script calls with a decision; null where nobody decides.
  send(done) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: done }));
  }

  hear(told) {
    if (told.error) { say(told.error); this.isOver = true; this.over(told); return; }
    if (told.scene) this.begin(told.scene);
    if (told.now) this.live.show(told.now, told.over);
    if (told.over) this.over(told);
    if (told.kept || told.lost) this.kept(told);
  }

  begin(scene) {
    this.live?.close();
    say("");
    of("again").hidden = of("replay").hidden = true;
    this.live = window.understudyLive(of("live"), scene, this);
    of("match-title").textContent = scene.players?.join(" against ") ?? "Match";
    of("match").scrollIntoView({ block: "start" });
  }

  over(told) {
    this.isOver = true;
    if (told.now?.outcome) say(`${told.now.outcome}.`);
    of("again").hidden = this.socket.readyState !== WebSocket.OPEN;
  }

  // Where the match was written to, said a moment after its end.
  kept(told) {
    say(`${of("match-said").textContent} ${told.kept ? `Recorded in ${told.run}.` : told.lost}`);
    of("replay").hidden = !told.replay;
    if (told.replay) of("replay").href = told.replay;
  }

  end() {
    this.live?.close();
    of("again").hidden = true;
  }

  leave() {
    this.isOver = true;
    this.socket.close();
    of("match").hidden = true;
    of("seating").hidden = false;
  }
}

const of = (id) => document.getElementById(id);

function say(words) {
  of("match-said").textContent = words;
}

async function sitDown(form) {
  await load(form.dataset.scripts);
  table?.leave();
  of("seating").hidden = true;
  of("match").hidden = false;
  of("live").replaceChildren();
  table = new Table(form);
}

document.addEventListener("DOMContentLoaded", () => {
  of("again").addEventListener("click", () => table?.open());
  of("leave").addEventListener("click", () => table?.leave());
});
window.addEventListener("pagehide", () => table?.socket.close());
