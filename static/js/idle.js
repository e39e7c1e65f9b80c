// Time spent on the item, active and idle apart. A minute without a sign of life, or a hidden page, counts as idle.
const PATIENCE = 60_000;
const TICK = 1000;
const form = document.querySelector("#code-form[data-record]");
const KINDS = ["active", "idle"];
// What earlier sittings took, as the server knows it; a form that comes back with errors does not count it twice.
const before = form && Object.fromEntries(KINDS.map((kind) => [kind, Number(form.elements[`${kind}_seconds`].value)]));
const spent = { active: 0, idle: 0 };
let last = performance.now();
let sign = last;

function tick() {
  const now = performance.now();
  const passed = now - last;
  last = now;
  const asleep = passed > 10 * TICK;
  spent[document.hidden || asleep || now - sign > PATIENCE ? "idle" : "active"] += passed;
  for (const kind of KINDS) form.elements[`${kind}_seconds`].value = before[kind] + Math.round(spent[kind] / 1000);
}

if (form) {
  for (const event of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "focus"]) {
    addEventListener(event, () => { sign = performance.now(); }, { passive: true, capture: true });
  }
  setInterval(tick, TICK);
}
