// What a report does by itself: a crosshair on line charts, switches in legends, sortable tables, and a
// contents bar that knows where the reader is. Everything reads without it, too.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  dress(document);
  contents(document.querySelector("body > nav"));
  window.addEventListener("resize", reachable);
});

// Parts of a live page come later, one by one: whoever puts one in sends this event to it.
document.addEventListener("understudy:part", (event) => dress(event.target));

function dress(part) {
  for (const styled of part.querySelectorAll("[data-style]")) { // a live page allows no style attributes
    styled.style.cssText = styled.dataset.style;
    styled.removeAttribute("data-style");
  }
  part.querySelectorAll(".chart.lines").forEach(crosshair);
  part.querySelectorAll(".chart.lines").forEach(switches);
  part.querySelectorAll("table.sortable").forEach(sortable);
  reachable();
}

// What can be scrolled sideways can be by keys, too.
function reachable() {
  for (const area of document.querySelectorAll(".scroll, body > nav")) {
    const scrolls = area.scrollWidth > area.clientWidth + 1;
    if (scrolls && !area.querySelector("a[href], [tabindex]")) {
      area.tabIndex = 0;
      area.setAttribute("role", "region");
      area.setAttribute("aria-label", area.closest("figure")?.querySelector("figcaption")?.textContent || "Table");
    } else if (area.getAttribute("role") === "region") {
      area.removeAttribute("tabindex");
    }
  }
}

function element(kind, parent, text = "", color = "") {
  const made = document.createElement("div");
  made.className = kind;
  made.textContent = text;
  if (color) made.style.setProperty("--color", color);
  parent.append(made);
  return made;
}

// Show the value of every line at the x nearest to the pointer. Points are [x share, y share, x text, y text].
function crosshair(chart) {
  const field = chart.querySelector(".field");
  if (!field) return;
  const lines = [...chart.querySelectorAll(".line")].map((group) => ({
    group,
    name: group.dataset.name,
    color: getComputedStyle(group).getPropertyValue("--color"),
    points: JSON.parse(group.dataset.points),
  }));
  let shown = [];
  const clear = () => {
    shown.forEach((piece) => piece.remove());
    shown = [];
  };
  const nearest = (points, x) =>
    points.reduce((best, point) => (Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best));
  field.addEventListener("pointerleave", clear);
  field.addEventListener("pointermove", (event) => {
    clear();
    const box = field.getBoundingClientRect();
    const visible = lines.filter((line) => line.points.length && !line.group.classList.contains("off"));
    if (!visible.length) return;
    const pointer = (event.clientX - box.left) / box.width;
    const x = nearest(visible.map((line) => nearest(line.points, pointer)), pointer);
    const cross = element("cross", field);
    cross.style.left = `${100 * x[0]}%`;
    const tip = element("tip", field);
    tip.style[x[0] > 0.5 ? "right" : "left"] = `calc(${100 * (x[0] > 0.5 ? 1 - x[0] : x[0])}% + .7rem)`;
    const label = chart.querySelector(".x-label");
    const where = document.createElement("b");
    where.textContent = `${label ? label.textContent : ""} ${x[2]}`;
    tip.append(where);
    shown = [cross, tip];
    for (const line of visible) {
      const point = nearest(line.points, x[0]);
      const entry = element("", tip);
      element("name", entry, line.name, line.color);
      element("", entry, point[3]);
      const spot = element("spot", field, "", line.color);
      spot.style.left = `${100 * point[0]}%`;
      spot.style.bottom = `${100 * point[1]}%`; // its margin sets it on its centre
      shown.push(spot);
    }
  });
}

function switches(chart) {
  const lines = chart.querySelectorAll(".line");
  chart.querySelectorAll("button.key").forEach((key, place) => {
    key.addEventListener("click", () => {
      const off = lines[place].classList.toggle("off");
      key.setAttribute("aria-pressed", String(!off));
    });
  });
}

function sortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const sort = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => String(value(a)).localeCompare(value(b), undefined, { numeric: true });
      const number = (a, b) => Number(value(a)) - Number(value(b));
      const compare = head.classList.contains("number") ? number : order;
      body.append(...[...body.rows].sort((a, b) => (down ? compare(b, a) : compare(a, b))));
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort();
    });
  });
}

function contents(nav) {
  if (!nav) return;
  const links = [...nav.querySelectorAll("a")];
  const cards = links.map((link) => document.getElementById(link.hash.slice(1)));
  const mark = () => {
    const tops = cards.map((card) => card.getBoundingClientRect().top);
    const reached = tops.filter((top) => top < window.innerHeight / 3);
    const here = Math.max(0, tops.indexOf(reached.at(-1))); // the first card of the row one reads
    links.forEach((link, place) => link.classList.toggle("here", place === here));
  };
  window.addEventListener("scroll", mark, { passive: true });
  mark();
}
