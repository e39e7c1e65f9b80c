// The strip above the action bar: one notice of the page's own at a time, beside what the server put there.
const strip = () => document.querySelector("[data-notices]");

/** Show the notice called `name`, its gaps filled from `values`; the same notice is not shown twice. */
export function show(name, values = {}) {
  const shown = strip()?.querySelector("[data-own]");
  if (!strip() || shown?.dataset.own === name) return;
  shown?.remove();
  const node = document.querySelector(`template[data-notice="${name}"]`).content.firstElementChild.cloneNode(true);
  for (const gap of node.querySelectorAll("[data-fill]")) fill(gap, values[gap.dataset.fill]);
  node.dataset.own = name;
  node.setAttribute("role", "status");
  strip().append(node);
}

/** Take the notice called `name` away; without a name, whichever is shown. */
export function clear(...names) {
  const shown = strip()?.querySelector("[data-own]");
  if (shown && (!names.length || names.includes(shown.dataset.own))) shown.remove();
}

function fill(gap, value) {
  if (typeof value === "boolean") gap.hidden = !value;
  else gap.textContent = value ?? "";
}
