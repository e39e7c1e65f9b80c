// How much of a limited text is written.
import { text } from "./text.js";

function count(counter) {
  const area = document.getElementById(counter.dataset.counter);
  counter.textContent = text("characters", { n: area.value.length, max: area.maxLength });
}

document.addEventListener("input", ({ target }) => {
  const counter = target.id && document.querySelector(`[data-counter="${CSS.escape(target.id)}"]`);
  if (counter) count(counter);
});
const countAll = () => document.querySelectorAll("[data-counter]").forEach(count);
document.addEventListener("twinblind:filled", countAll);
countAll();
