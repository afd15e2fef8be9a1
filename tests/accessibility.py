# ruff: noqa: E501  the rules are a program for the browser
"""What a page must be for everybody: rules of axe-core that matter here, asked of a real browser.

color-contrast, label, button-name, link-name, image-alt, document-title, html-has-lang, tabindex,
duplicate-id, heading-order, scrollable-region-focusable; and that all one can click has its turn
with the Tab key, and shows it.
"""

LEAST, LEAST_LARGE = 4.5, 3.0
"""Contrast of text with what lies behind it; of large text (24 px, or 18.7 px if bold)."""

RULES = """(least) => {
  const found = [];
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const parsed = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [r, g, b, a / 255]);
    }
    return known.get(color);
  };
  const over = (top, below) => {
    const part = (k) => top[k] * top[3] + below[k] * (1 - top[3]);
    return [part(0), part(1), part(2), 1];
  };
  const light = ([r, g, b]) => {
    const line = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * line(r) + 0.7152 * line(g) + 0.0722 * line(b);
  };
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;  // whoever paints pictures looks himself
      layers.push(parsed(style.backgroundColor));
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reverse().reduce((below, layer) => over(layer, below),
      dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const told = (one) => one.outerHTML.replace(/\\s+/g, " ").slice(0, 160);
  const seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  // color-contrast
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pale = new Map();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.textContent.trim() || !seen(one) || one.closest("script, style, [aria-hidden=true]")) continue;
    if (one.closest(":disabled, [aria-disabled=true], [aria-pressed=false]")) continue;
    const box = one.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) continue;
    const style = getComputedStyle(one), back = behind(one);
    if (back === null) continue;
    let alpha = 1;
    for (let at = one; at; at = at.parentElement) alpha *= Number(getComputedStyle(at).opacity);
    const own = parsed(one instanceof SVGElement ? style.fill : style.color);
    const ink = over([own[0], own[1], own[2], own[3] * alpha], back);
    const [low, high] = [light(ink), light(back)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const wanted = size >= 24 || (bold && size >= 18.66) ? least[1] : least[0];
    if (contrast < wanted - 0.005) {
      const what = `contrast ${contrast.toFixed(2)} of ${style.color} on ${back.map(Math.round)}`;
      if (!pale.has(what)) pale.set(what, told(one));
    }
  }
  for (const [what, where] of pale) found.push(`${what}: ${where}`);

  // label, button-name, link-name, image-alt
  const named = (one) => one.ariaLabel || one.title || one.labels?.length || one.textContent.trim()
    || one.getAttribute("aria-labelledby") || one.alt || one.querySelector("title, [aria-label]");
  for (const one of document.querySelectorAll("input, select, textarea, button, a[href], summary, [role=button], [role=slider], [tabindex]"))
    if (seen(one) && !named(one)) found.push(`nameless: ${told(one)}`);
  for (const one of document.querySelectorAll("img, svg[role=img], canvas"))
    if (seen(one) && !one.closest("[aria-hidden=true]") && !named(one) && !one.closest("[aria-label]"))
      found.push(`picture without words: ${told(one)}`);

  // document-title, html-has-lang, tabindex, duplicate-id, heading-order
  if (!document.title.trim()) found.push("the page has no title");
  if (!document.documentElement.lang) found.push("the page has no language");
  for (const one of document.querySelectorAll("[tabindex]"))
    if (one.tabIndex > 0) found.push(`tabindex above 0: ${told(one)}`);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) found.push(`id twice: ${id}`);
  let level = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4")) {
    const now = Number(one.tagName[1]);
    if (now > level + 1) found.push(`a heading is left out before: ${told(one)}`);
    level = now;
  }

  // scrollable-region-focusable
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one);
    const scrolls = (way, inner, outer) => /auto|scroll/.test(way) && inner > outer + 1;
    if (!scrolls(style.overflowX, one.scrollWidth, one.clientWidth)
      && !scrolls(style.overflowY, one.scrollHeight, one.clientHeight)) continue;
    if (seen(one) && one.tabIndex < 0 && !one.querySelector("a[href], button, input, select, [tabindex]"))
      found.push(`scrolls, but not by keys: ${told(one)}`);
  }
  return found;
}"""

FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0
    || style.boxShadow !== "none";
  one.dataset.hadFocus = "yes";
  return shown || box.width === 0 ? "" : one.outerHTML.slice(0, 160);
}"""

UNREACHED = """() => [...document.querySelectorAll(
    "a[href], button:not(:disabled), input:not(:disabled), select, summary, [onclick]"
  )].filter((one) => one.checkVisibility({ visibilityProperty: true })
    && one.getAttribute("tabindex") !== "-1" && one.type !== "radio"
    && !one.closest("[inert]") && !one.dataset.hadFocus
  ).map((one) => one.outerHTML.slice(0, 160))"""


def faults(tab):
    """What is wrong with an open page, a line each."""
    return tab.evaluate(RULES, [LEAST, LEAST_LARGE])


def keyboard_faults(tab, most=600):
    """What the Tab key does not come to, or comes to unseen, a line each."""
    unseen = []
    for _ in range(most):
        tab.keyboard.press("Tab")
        found = tab.evaluate(FOCUSED)
        if found is None:
            break
        if found:
            unseen.append(f"focus is not shown: {found}")
    return sorted(set(unseen)) + [f"no key comes to: {one}" for one in tab.evaluate(UNREACHED)]
