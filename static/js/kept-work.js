// Work that never reached the server, named on the coder's home so that it can be finished, or given up where its item
// is closed.
import { forget, keptRecords, read } from "./kept.js";

const place = document.querySelector("[data-kept-work]");

function waiting() {
  return keptRecords().filter((record) => read(record, place.dataset.keptWork));
}

function show() {
  const [first, ...others] = waiting();
  place.hidden = !first;
  if (!first) return;
  place.querySelector("a").href = read(first, place.dataset.keptWork).url;
  place.querySelector("[data-count]").textContent = others.length + 1;
}

if (place) {
  place.querySelector("[data-discard]").addEventListener("click", ({ target }) => {
    if (!confirm(target.dataset.confirm)) return;
    forget(waiting()[0]);
    show();
  });
  show();
}
