// What is typed reaches the server within two seconds, and stays in this browser until it has.
import { reveal } from "./cluster.js";
import { answers, fill } from "./form-data.js";
import { forget, keep, read } from "./kept.js";
import { clock } from "./local-time.js";
import { clear, show } from "./notices.js";
import { showState } from "./saved-state.js";
import { send } from "./send.js";
import { text } from "./text.js";

const QUIET = 700;
const LONGEST = 1500;
const PAUSES = [2, 4, 8, 15, 30];

const form = document.querySelector("#code-form[data-record]");
const listeners = new Set();
const state = {
  changed: new Set(), // names of controls whose change the server does not have
  timer: 0,
  due: 0, // when a change has waited long enough, however fast one types
  running: null,
  failures: 0,
  held: false,
  stopped: false,
  sent: "", // the answers of the last write
  other: null, // the draft of another tab, or an older one of this browser
};

const hidden = (name) => form.elements[name];
const isRevision = () => Number(hidden("base_version").value) > 0;

/** Call `listener` after every change that a person makes to the form. */
export function onEdit(listener) {
  listeners.add(listener);
}

export const hasUnsaved = () => state.changed.size > 0 && !state.stopped;

/** Keep the form as it stands in this browser; `submitting` says that the person asked for it to be submitted. */
export function keepWork({ submitting = read(form.dataset.record, form.dataset.owner)?.submitting ?? false } = {}) {
  keep(form.dataset.record, {
    owner: form.dataset.owner,
    url: form.action,
    fields: answers(form),
    draftVersion: hidden("draft_version").value,
    baseVersion: hidden("base_version").value,
    submissionId: hidden("submission_id").value,
    submitting,
  });
}

/** Wait for a write under way, then write nothing until `resume`. */
export async function hold() {
  state.held = true;
  clearTimeout(state.timer);
  await state.running;
}

export function resume() {
  state.held = false;
  if (state.changed.size) schedule();
}

/** Nothing more is to be written: the record is submitted, or cannot be. */
export function stop() {
  state.stopped = true;
  clearTimeout(state.timer);
}

/** Write what is not written yet, now. */
export async function flush() {
  clearTimeout(state.timer);
  await state.running;
  if (state.changed.size && !state.stopped && !state.held) await save();
}

/** Treat the form as changed, although nobody typed. */
function touch(name = "*") {
  state.changed.add(name);
  keepWork();
  schedule();
}

function edited({ target }) {
  if (!target.closest("#code-form")) return;
  state.changed.add(target.name || target.id);
  clear("restored");
  keepWork();
  listeners.forEach((listener) => listener());
  if (state.stopped) return;
  showState("unsaved", state.changed.size);
  schedule();
}

function schedule() {
  if (state.held || state.stopped || state.running) return;
  const now = performance.now();
  state.due ||= now + LONGEST;
  clearTimeout(state.timer);
  state.timer = setTimeout(save, Math.max(0, Math.min(QUIET, state.due - now)));
}

async function save() {
  if (state.running || state.stopped || !state.changed.size) return;
  state.due = 0;
  state.running = write();
  await state.running;
  state.running = null;
  if (state.changed.size && !state.failures) schedule();
}

async function write() {
  const batch = state.changed;
  state.changed = new Set();
  const fields = answers(form);
  showState("saving");
  const { kind, response } = await send(form.dataset.draftUrl, {
    method: "PUT",
    type: "application/json",
    keepalive: document.hidden, // the page may be on its way out
    body: JSON.stringify({
      fields,
      version: Number(hidden("draft_version").value),
      active_seconds: Number(hidden("active_seconds").value),
      idle_seconds: Number(hidden("idle_seconds").value),
    }),
  });
  if (kind === "ok") return taken(await response.json(), fields);
  for (const name of batch) state.changed.add(name);
  showState("unsaved", state.changed.size);
  if (kind === "conflict" || kind === "invalid") return refused(await response.json());
  return failed(kind, fields);
}

function taken(answer, fields) {
  state.failures = 0;
  state.sent = canonical(fields);
  hidden("draft_version").value = answer.version;
  clear("offline", "trouble", "signed-out");
  if (answer.proposed_cluster) reveal(answer.proposed_cluster, text("proposed", { code: answer.proposed_cluster }));
  if (state.changed.size) showState("unsaved", state.changed.size);
  else {
    if (!read(form.dataset.record, form.dataset.owner)?.submitting) forget(form.dataset.record);
    showState(isRevision() ? "draft" : "saved");
  }
}

function refused(answer) {
  if (answer.code !== "version_conflict") {
    stop();
    show("refused", { reason: answer.reason });
    return;
  }
  // Our own write whose answer was lost, or came after a reload, looks like another tab's.
  if (answer.fields && [state.sent, canonical(answers(form))].includes(canonical(answer.fields))) {
    hidden("draft_version").value = answer.version;
    state.failures = 0;
    return;
  }
  state.stopped = true;
  state.other = { version: answer.version };
  show("elsewhere");
}

function failed(kind, fields) {
  state.sent = canonical(fields);
  if (kind === "gone") {
    stop();
    show("gone");
    return;
  }
  show(kind, { since: clock(new Date()) });
  if (kind === "signed-out") {
    state.failures = 1;
    return;
  }
  const pause = PAUSES[Math.min(state.failures, PAUSES.length - 1)];
  state.failures += 1;
  clearTimeout(state.timer);
  state.timer = setTimeout(retry, pause * 1000);
}

function retry() {
  if (!state.held) save();
}

function canonical(fields) {
  return JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function restore() {
  const kept = read(form.dataset.record, form.dataset.owner);
  if (!kept) return;
  if (canonical(kept.fields) === canonical(answers(form)) && !kept.submitting) {
    forget(form.dataset.record);
  } else if (kept.draftVersion === hidden("draft_version").value && kept.baseVersion === hidden("base_version").value) {
    takeOver(kept);
  } else if (kept.submitting) {
    takeOver(kept);
    hidden("base_version").value = kept.baseVersion;
  } else {
    state.stopped = true;
    state.other = { version: Number(hidden("draft_version").value), fields: kept.fields };
    show("elsewhere");
  }
}

function takeOver(kept) {
  fill(form, kept.fields);
  hidden("submission_id").value = kept.submissionId;
  show("restored");
  touch();
  if (kept.submitting) document.dispatchEvent(new CustomEvent("twinblind:submit"));
}

function settle(act) {
  if (act === "reload") {
    stop();
    forget(form.dataset.record);
    location.reload();
    return;
  }
  if (state.other.fields) fill(form, state.other.fields);
  hidden("draft_version").value = state.other.version;
  state.stopped = false;
  clear("elsewhere");
  touch();
}

if (form) {
  document.addEventListener("input", edited);
  document.addEventListener("change", edited);
  addEventListener("online", retry);
  document.addEventListener("twinblind:signed-in", retry);
  document.addEventListener("visibilitychange", () => { if (document.hidden && !state.held) flush(); });
  addEventListener("beforeunload", (event) => { if (hasUnsaved()) event.preventDefault(); });
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
  document.addEventListener("click", ({ target }) => {
    const act = target.closest("[data-notices] [data-act]")?.dataset.act;
    if (act === "keep" || act === "reload") settle(act);
  });
  queueMicrotask(restore);
}
