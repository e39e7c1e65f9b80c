// A submission is sent once, whatever is pressed twice; without a connection it waits and goes out by itself.
import { firstUnanswered } from "./answered.js";
import { hasUnsaved, hold, keepWork, onEdit, resume, stop } from "./drafts.js";
import { forget } from "./kept.js";
import { clock } from "./local-time.js";
import { clear, show } from "./notices.js";
import { showState, showStateBefore } from "./saved-state.js";
import { reasonIn, send } from "./send.js";
import { text } from "./text.js";

const PAUSE = 4000;
const form = document.querySelector("#code-form[data-record]");
const label = document.querySelector("[data-submit-text]");
const usual = label?.textContent;
let sending = false;
let waiting = false;
let left = false;

async function submit() {
  if (sending || left) return;
  sending = true;
  waiting = false;
  keepWork({ submitting: true });
  await hold();
  showState("submitting");
  const { kind, response } = await send(form.action, { body: new URLSearchParams(new FormData(form)) });
  sending = false;
  await ({ ok: accepted, invalid: corrected, conflict: refused, gone }[kind] ?? postponed)(response, kind);
}

function accepted(response) {
  left = true;
  stop();
  forget(form.dataset.record);
  location.assign(response.headers.get("HX-Redirect") ?? location.href);
}

async function corrected(response) {
  form.innerHTML = await response.text();
  relabel(usual);
  clear();
  showStateBefore();
  if (hasUnsaved()) keepWork({ submitting: false });
  else forget(form.dataset.record);
  document.dispatchEvent(new CustomEvent("twinblind:filled"));
  resume();
  (document.getElementById("errors") ?? firstUnanswered())?.focus();
}

async function refused(response) {
  stop();
  keepWork({ submitting: false });
  relabel(usual);
  showState("unsaved", 1);
  show("refused", { reason: await reasonIn(response) });
}

function gone() {
  stop();
  relabel(usual);
  show("gone");
}

function postponed(response, kind) {
  waiting = true;
  showState("waiting");
  relabel(text("when-online"));
  show(kind, { since: clock(new Date()) });
  if (kind !== "signed-out") setTimeout(again, PAUSE);
}

function again() {
  if (waiting) submit();
}

function relabel(words) {
  label.textContent = words;
}

// An attempt whose answer never came may have been taken: what is typed after it is another submission.
function renew() {
  if (!waiting && !sending) return;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  form.elements.submission_id.value = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  keepWork({ submitting: true });
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  onEdit(renew);
  addEventListener("online", again);
  document.addEventListener("twinblind:signed-in", again);
  document.addEventListener("twinblind:submit", submit);
  addEventListener("beforeunload", (event) => { if (!left && waiting && !hasUnsaved()) event.preventDefault(); });
}
