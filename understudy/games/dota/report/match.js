// One minute for the whole page: every slider follows the one that is moved; line-ups, map and text show it.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const sliders = [...document.querySelectorAll(".minute input")];
  if (!sliders.length) return;
  const changing = [...document.querySelectorAll("[data-by-minute]")].map((cell) => [cell, JSON.parse(cell.dataset.byMinute)]);
  const things = [...document.querySelectorAll("[data-from]")];
  const buildings = [...document.querySelectorAll("[data-falls]")];
  const first = Number(sliders[0].min);
  const show = (minute) => {
    for (const slider of sliders) {
      slider.value = minute;
      slider.closest(".minute").querySelector("output").textContent = minute;
    }
    for (const [cell, values] of changing) cell.textContent = values[Math.min(minute - first, values.length - 1)];
    const now = 60 * minute;
    for (const thing of things) thing.classList.toggle("gone", !(Number(thing.dataset.from) <= now && now < Number(thing.dataset.to)));
    for (const building of buildings) building.classList.toggle("fallen", Number(building.dataset.falls) <= now);
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches(".minute input")) show(Number(event.target.value));
  });
  show(Number(sliders[0].value));
});
