// One key per answer, as the page shows it. Never inside a text field, never with Ctrl, Alt or Cmd; they can be turned
// off.
import { firstUnanswered } from "./answered.js";
import { movePick } from "./cluster.js";
import { toggleCodebook } from "./codebook.js";
import { decide } from "./decision.js";
import { nudge } from "./scale.js";

const DIGIT = /^Digit(\d)$/;
const acts = {
  "/": toggleCodebook,
  "?": () => document.getElementById("keys")?.togglePopover(),
  t: () => document.querySelector("[data-expand]")?.click(),
  ",": () => movePick(-1),
  ".": () => movePick(1),
  "-": () => nudge(-2),
  "−": () => nudge(-2),
  "+": () => nudge(2),
};

const cameFrom = new WeakMap();
const isOn = () => document.body.dataset.hotkeys === "on";
const TEXT = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=range])";
const writes = (node) => node.matches(TEXT);

// What has to be dealt with first: a dialog lies over the form, so no key reaches through it. The codebook does not.
const dialog = () => document.querySelector(".dialog:popover-open");

// Digits with Shift give another sign on each keyboard, so the sign is tried first and the key's place second.
function namesOf(event) {
  const digit = DIGIT.exec(event.code)?.[1];
  const names = [event.key.toLowerCase()];
  if (digit && event.key !== digit) names.push(`shift+${digit}`);
  return names;
}

function press(name) {
  for (const node of document.querySelectorAll("[data-hotkey]")) {
    if (node.dataset.hotkey.toLowerCase() !== name || !node.checkVisibility()) continue;
    const input = node.matches("label") ? node.querySelector("input") : node;
    const from = document.activeElement;
    input.focus();
    if (node.matches("label")) input.click();
    if (input.checked && input.dataset.asks) ask(document.getElementById(input.dataset.asks), from);
    return true;
  }
  return false;
}

// What comes next is typed: it must not reach the form as keys. Escape leads back to where the key was pressed.
function ask(field, from) {
  field.focus();
  cameFrom.set(field, from);
}

function act(name) {
  if (press(name) || decide(name)) return true;
  if (!Object.hasOwn(acts, name)) return false;
  acts[name]();
  return true;
}

function onEnter(event) {
  const over = dialog();
  const form = over ? over.querySelector("form") : document.getElementById("code-form");
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    if (!event.repeat) form?.requestSubmit();
    return;
  }
  if (over) return;
  // Enter on an answer would submit the form by itself; here it leads to what is missing.
  const free = event.target === document.body || event.target.matches("h1, #code-form input");
  if (!free || event.shiftKey || event.altKey) return;
  event.preventDefault();
  firstUnanswered() ?? document.querySelector("[data-submit]")?.focus();
}

function closesSheet({ key }) {
  if (key !== "?" || dialog().id !== "keys") return false;
  acts["?"]();
  return true;
}

function leaveText(node) {
  if (!writes(node) || document.querySelector(":popover-open")) return;
  node.blur();
  cameFrom.get(node)?.focus();
  cameFrom.delete(node);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter") onEnter(event);
  else if (event.key === "Escape") leaveText(event.target);
  else if (isOn() && !writes(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (dialog() ? closesSheet(event) : namesOf(event).some(act)) event.preventDefault();
  }
});

function turn(on) {
  document.body.dataset.hotkeys = on ? "on" : "off";
  document.querySelector("[data-hotkey-toggle]")?.setAttribute("aria-pressed", on);
}

document.querySelector("[data-hotkey-toggle]")?.addEventListener("click", () => {
  turn(!isOn());
  localStorage.setItem("hotkeys", isOn() ? "on" : "off");
});
if (localStorage.getItem("hotkeys") === "off") turn(false);

// The sheet names every answer's key, field by field, in the form's own words, and no key that does nothing here.
function list() {
  const target = document.querySelector("[data-hotkey-list]");
  for (const node of target.querySelectorAll("[data-needs]")) {
    if (!document.querySelector(node.dataset.needs)) node.remove();
  }
  for (const field of document.querySelectorAll("#code-form [data-name]")) {
    const keys = [...field.querySelectorAll("[data-hotkey]")];
    if (!keys.length) continue;
    const title = document.createElement("h3");
    title.textContent = field.dataset.name;
    const rows = document.createElement("dl");
    rows.className = "facts";
    for (const node of keys) rows.append(...row(node, field.dataset.name));
    const section = document.createElement("section");
    section.append(title, rows);
    target.append(section);
  }
}

function row(node, name) {
  const cap = document.createElement("kbd");
  cap.className = "key";
  cap.textContent = node.dataset.hotkey.toUpperCase().replace("SHIFT+", "⇧");
  const key = document.createElement("dt");
  key.append(cap);
  const words = document.createElement("dd");
  words.textContent = node.querySelector("kbd ~ span")?.textContent ?? name;
  return [key, words];
}

document.getElementById("keys")?.addEventListener("beforetoggle", list, { once: true });
