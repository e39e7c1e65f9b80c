// Work that never reached the server, named on the coder's home so that it can be finished.
import { keptRecords, read } from "./kept.js";

const place = document.querySelector("[data-kept-work]");
const items = place ? keptRecords().map((record) => read(record, place.dataset.keptWork)).filter(Boolean) : [];
if (items.length) {
  place.querySelector("a").href = items[0].url;
  place.querySelector("[data-count]").textContent = items.length;
  place.hidden = false;
}
