// Leaving an item on purpose (skipping it, recognising it): what was typed is stored first.
import { flush, stop } from "./drafts.js";

const ready = new WeakSet();

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-leaves]") || ready.has(form)) return;
  event.preventDefault();
  ready.add(form);
  await Promise.race([flush(), new Promise((done) => setTimeout(done, 2000))]);
  stop();
  // A form that is still telling of one submission ignores another: that one has to be over.
  await new Promise((done) => setTimeout(done));
  form.requestSubmit(event.submitter);
});
