// Adjudication: what is decided for each field so far, in its heading and in the count.
import { text } from "./text.js";

const form = document.querySelector("[data-decision]");
const shown = document.querySelector("[data-decided]");

function update() {
  const fields = [...form.querySelectorAll("[data-dispute]")];
  const decided = fields.filter(summarise);
  if (shown) shown.textContent = fields.length ? text("decided", { n: decided.length, m: fields.length }) : "";
}

/** Whether a field of a case is decided, or overruled with a value where it was agreed on. */
export function isSettled(field) {
  const choice = field.querySelector(`[name="${CSS.escape(field.id)}"]:checked`);
  return choice ? Boolean(wordsOf(field, choice)) : !field.matches("[data-dispute]");
}

/** Take the choice whose key is `name`, in the dispute in focus or else the first not settled; false if there is none. */
export function decide(name) {
  const disputes = [...document.querySelectorAll("#code-form [data-dispute]")];
  const field = document.activeElement.closest("[data-dispute]") ?? disputes.find((one) => !isSettled(one));
  const choice = field?.querySelector(`[data-choice-key="${CSS.escape(name)}"]`);
  choice?.focus();
  choice?.click();
  return Boolean(choice);
}

function summarise(field) {
  const choice = field.querySelector("[data-from]:checked");
  const words = choice && wordsOf(field, choice);
  const final = field.querySelector("[data-final]");
  if (final) {
    final.textContent = words || text("undecided");
    final.classList.toggle("state-done", Boolean(words));
  }
  return Boolean(words);
}

function wordsOf(field, choice) {
  if (choice.value !== "other") return choice.dataset.words;
  const asked = [...field.querySelectorAll("[data-other] :is(select, input, textarea)")];
  const parts = asked.filter((part) => part.checkVisibility());
  const chosen = parts.map((part) => part.matches("select") ? part.value && part.selectedOptions[0].textContent
    : part.type === "checkbox" ? part.checked && part.parentElement.textContent : part.value);
  return parts.some((part) => part.required && !part.value) ? "" : chosen.filter(Boolean).join(", ").trim();
}

if (form) {
  for (const event of ["input", "change", "twinblind:filled"]) document.addEventListener(event, update);
  update();
}
