// What every page of the studio does: listens to its server, asks again for what has changed, and dresses what comes.
"use strict";

const HELD = "understudy:held"; // a part that somebody is using is not replaced under their hands

document.addEventListener("DOMContentLoaded", () => {
  const topic = document.body.dataset.topic;
  if (topic) listen(topic);
  document.body.addEventListener("htmx:configRequest", (event) => {
    const drawn = event.detail.elt.querySelector?.(":scope > [data-stamp]");
    if (drawn && event.detail.elt.dataset.part === drawn.dataset.drawn) event.detail.parameters.have = drawn.dataset.stamp;
  });
  document.body.addEventListener("htmx:beforeSwap", (event) => remember(event.detail.target));
  document.body.addEventListener("htmx:load", (event) => {
    const part = event.detail.elt;
    if (part === document.body) return;
    const whole = part.parentElement ?? part;
    load(part.dataset?.scripts ?? "").then(() => dressed(whole, part));
  });
});

function dressed(whole, part) {
  part.dispatchEvent(new CustomEvent("understudy:part", { bubbles: true }));
  recall(whole);
}

// Ask again for the parts that were named; an EventSource comes back by itself when the server does.
function listen(topic) {
  const sign = document.querySelector(".link");
  const source = new EventSource(`/events/${encodeURIComponent(topic)}`);
  source.onopen = () => { sign.hidden = true; };
  source.onerror = () => { sign.hidden = false; };
  source.addEventListener("changed", (event) => {
    for (const what of JSON.parse(event.data)) {
      for (const part of document.querySelectorAll("[data-part]")) {
        const key = part.dataset.part;
        if (key === what || (key.includes("/") && what.startsWith(`${key}/`)) || what.split("/")[0] === key) ask(part);
      }
    }
  });
  window.addEventListener("pagehide", () => source.close());
}

// One question per part at a time, and none while somebody types in it.
const asked = new WeakSet();

function ask(part) {
  if (asked.has(part) || part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")) return;
  asked.add(part);
  setTimeout(() => asked.delete(part), Number(part.dataset.every ?? 400));
  if (part.matches("[hx-trigger~=load]")) {
    htmx.ajax("GET", part.getAttribute("hx-get"), { source: part, target: part, swap: "innerHTML" });
  } else {
    htmx.trigger(part, "refresh");
  }
}

// Lines that were switched off, and boxes that were ticked, stay so when a part is drawn anew.
const kept = new Map();

function remember(target) {
  for (const chart of target?.querySelectorAll?.(".chart.lines") ?? []) {
    const off = [...chart.querySelectorAll("button.key[aria-pressed=false]")].map((key) => key.textContent);
    kept.set(chart.querySelector("figcaption")?.textContent, off);
  }
  const ticked = [...(target?.querySelectorAll?.("input[type=checkbox]:checked") ?? [])].map((box) => `${box.name}=${box.value}`);
  if (ticked.length) kept.set("ticked", ticked);
}

function recall(part) {
  for (const chart of part.querySelectorAll(".chart.lines")) {
    const off = kept.get(chart.querySelector("figcaption")?.textContent) ?? [];
    for (const key of chart.querySelectorAll("button.key[aria-pressed=true]")) {
      if (off.includes(key.textContent)) key.click();
    }
  }
  for (const box of part.querySelectorAll("input[type=checkbox]")) {
    if ((kept.get("ticked") ?? []).includes(`${box.name}=${box.value}`)) box.checked = true;
  }
}

// Scripts that panels need, each once.
const loaded = new Map();

function load(addresses) {
  return Promise.all(addresses.split(" ").filter(Boolean).map((address) => {
    if (!loaded.has(address)) {
      loaded.set(address, new Promise((done) => {
        const script = Object.assign(document.createElement("script"), { src: address, onload: done, onerror: done });
        document.head.append(script);
      }));
    }
    return loaded.get(address);
  }));
}

// A file is sent as it is; the server answers with where its page is, or with what is wrong.
document.addEventListener("submit", async (event) => {
  if (!event.target.matches("form.upload")) return;
  event.preventDefault();
  const form = event.target;
  const said = form.querySelector("#sent");
  const file = form.elements.file.files[0];
  if (!file) { said.textContent = "Choose a file first."; return; }
  said.textContent = `${file.name} is being read …`;
  const address = `/upload/${encodeURIComponent(form.elements.game.value)}?name=${encodeURIComponent(file.name)}`;
  const answer = await fetch(address, { method: "POST", body: file, headers: { "hx-request": "true" } }).catch(() => null);
  const place = answer?.headers.get("hx-redirect");
  if (place) location.assign(place);
  else said.innerHTML = answer ? await answer.text() : "The studio does not answer.";
});
