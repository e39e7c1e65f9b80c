// Leaving an item on purpose (skipping it, recognising it): what was typed is stored first. Where that cannot be said to
// the server now, the page stays, with its reason.
import { flush, hold, resume, stop } from "./drafts.js";
import { clock } from "./local-time.js";
import { show } from "./notices.js";
import { reasonIn, send } from "./send.js";

let leaving = false;

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-leaves]")) return;
  event.preventDefault();
  if (leaving) return;
  leaving = true;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  await Promise.race([flush(), new Promise((done) => setTimeout(done, 2000))]);
  await hold();
  const { kind, response } = await send(form.action, { body });
  if (kind === "ok") {
    stop();
    location.assign(response.headers.get("HX-Redirect") ?? location.href);
    return;
  }
  leaving = false;
  form.closest("[popover]")?.hidePopover();
  resume();
  if (kind === "conflict" || kind === "invalid") show("stays", { reason: await reasonIn(response) });
  else show(kind, { since: clock(new Date()) });
});
