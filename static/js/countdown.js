// How long a submitted record can still be revised: by the minute, in the last minute by the second.
import { hasUnsaved, stop } from "./drafts.js";
import { show } from "./notices.js";
import { text } from "./text.js";

const shown = document.querySelector("[data-countdown]");
const ends = performance.now() + 1000 * Number(shown?.dataset.countdown);

function tick() {
  const seconds = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
  const words = seconds > 60
    ? text("left-minutes", { n: Math.ceil(seconds / 60) })
    : text("left-seconds", { n: seconds });
  if (shown.textContent !== words) shown.textContent = words;
  if (seconds === 0) close();
}

function close() {
  clearInterval(timer);
  const lost = hasUnsaved();
  stop();
  shown.closest(".notice")?.remove();
  const controls = document.querySelectorAll("#code-form :is(input, select, textarea):not([type=hidden])");
  for (const control of controls) control.disabled = true;
  document.querySelector("[data-submit]").hidden = true;
  show("over", { lost });
}

const timer = shown && setInterval(tick, 1000);
if (shown) tick();
