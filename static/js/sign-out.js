// Signing out leaves nothing of anybody's work in this browser.
import { forget, keptRecords } from "./kept.js";

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-sign-out]")) return;
  if (keptRecords().length && !confirm(event.target.dataset.confirm)) {
    event.preventDefault();
    return;
  }
  keptRecords().forEach(forget);
});
