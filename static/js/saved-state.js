// The saved state beside Submit. Its words tick for the eye; a change of state is announced once.
import { text } from "./text.js";

const MARKS = { saved: "state-done", draft: "state-half", unsaved: "state-warn", waiting: "state-warn" };
const shown = document.querySelector("[data-saved]");
const announced = document.querySelector("[data-saved-announce]");
let state = null;
let since = 0;
let before = null;

/** Show the state called `name`: saving, saved, draft, unsaved, submitting or waiting; `n` counts changes. */
export function showState(name, n) {
  if (!shown) return;
  if (name === "submitting") before = { state, words: shown.textContent, mark: shown.className };
  if (name === "saved" || name === "draft") since = performance.now();
  if (state !== name) announced.textContent = text(name, { n: n ?? "" });
  state = name;
  shown.className = `state ${MARKS[name] ?? ""}`;
  shown.textContent = name === "saved" || name === "draft" ? age(name) : text(name, { n: n ?? "" });
}

/** Show again what stood there before a submission that was not taken. */
export function showStateBefore() {
  if (!before) return;
  state = before.state;
  shown.textContent = before.words;
  shown.className = before.mark;
}

function age(name) {
  const seconds = Math.round((performance.now() - since) / 1000);
  return seconds < 60
    ? text(`${name}-seconds`, { n: seconds })
    : text(`${name}-minutes`, { n: Math.floor(seconds / 60) });
}

setInterval(() => {
  if (state === "saved" || state === "draft") shown.textContent = age(state);
}, 5000);
