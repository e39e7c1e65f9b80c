// An error stands beside its field, and in the summary, until the field is answered. The server checks again.
import { isAnswered } from "./answered.js";
import { isSettled } from "./decision.js";

function isMended(field, control) {
  if (!control.validity.valid) return false;
  if (field.matches(".dispute, .agreed")) return isSettled(field);
  return !field.matches("[data-required]") || isAnswered(field);
}

function clear(field) {
  for (const error of field.querySelectorAll(".error")) error.remove();
  for (const node of [field, ...field.querySelectorAll(".is-invalid, [aria-invalid]")]) {
    node.classList.remove("is-invalid");
    node.removeAttribute("aria-invalid");
    describe(node);
  }
}

function describe(node) {
  const left = (node.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => document.getElementById(id));
  if (left.length) node.setAttribute("aria-describedby", left.join(" "));
  else node.removeAttribute("aria-describedby");
}

function shorten(summary) {
  for (const link of summary.querySelectorAll("a[href^='#']")) {
    const field = document.getElementById(link.hash.slice(1))?.closest(".field");
    if (field && !field.querySelector(".error")) link.remove();
  }
  if (!summary.querySelector("a")) summary.remove();
}

function check(control) {
  const field = control.closest("#code-form .field.is-invalid");
  if (!field || !isMended(field, control)) return;
  clear(field);
  const summary = document.getElementById("errors");
  if (summary) shorten(summary);
}

// Other modules answer these events by filling in more: the check comes when they are done.
for (const event of ["input", "change"]) document.addEventListener(event, ({ target }) => setTimeout(check, 0, target));
