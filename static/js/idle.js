// Time spent on the item, active and idle apart. A minute without a sign of life, or a hidden page, counts as idle.
const PATIENCE = 60_000;
const TICK = 1000;
const form = document.querySelector("#code-form[data-record]");
const spent = { active: 0, idle: 0 };
let last = performance.now();
let sign = last;

function tick() {
  const now = performance.now();
  const passed = now - last;
  last = now;
  const asleep = passed > 10 * TICK;
  spent[document.hidden || asleep || now - sign > PATIENCE ? "idle" : "active"] += passed;
  for (const kind of ["active", "idle"]) {
    const input = form.elements[`${kind}_seconds`];
    input.dataset.before ??= input.value;
    input.value = Number(input.dataset.before) + Math.round(spent[kind] / 1000);
  }
}

if (form) {
  for (const event of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "focus"]) {
    addEventListener(event, () => { sign = performance.now(); }, { passive: true, capture: true });
  }
  setInterval(tick, TICK);
}
