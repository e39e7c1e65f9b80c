// How many fields have an answer, and which is the first without.
import { isSettled } from "./decision.js";
import { focusIn } from "./focus.js";
import { text } from "./text.js";

const shown = document.querySelector("[data-answered]");
const required = () => [...document.querySelectorAll("#code-form [data-required]")];

/** Focus the first required field without an answer, or the first dispute not settled; return it, or undefined. */
export function firstUnanswered() {
  const disputes = [...document.querySelectorAll("#code-form [data-dispute]")];
  const field = required().find((candidate) => !isAnswered(candidate)) ?? disputes.find((one) => !isSettled(one));
  if (field) focusIn(field);
  return field;
}

/** Whether all that `field` asks for is given. */
export function isAnswered(field) {
  const groups = new Map();
  for (const radio of field.querySelectorAll("input[type=radio]")) {
    if (isAsked(radio)) groups.set(radio.name, groups.get(radio.name) || radio.checked);
  }
  const boxes = [...field.querySelectorAll("input[type=checkbox]")];
  const written = [...field.querySelectorAll("textarea, select, input[type=number], input[type=text]")].filter(isAsked);
  return [...groups.values()].every(Boolean) && (!boxes.length || boxes.some((box) => box.checked))
    && written.every((control) => control.value.trim() !== "");
}

// A second answer is asked for only beside the option that needs it.
function isAsked(control) {
  const join = control.closest(".sub")?.closest(".option-join");
  return !join || join.querySelector(":scope > .option > input").checked;
}

function count() {
  const fields = required();
  if (!shown || !fields.length) return;
  shown.textContent = text("answered", { n: fields.filter(isAnswered).length, m: fields.length });
}

// Other modules answer these events by filling in more: one counts when they are done.
for (const event of ["input", "change", "twinblind:filled"]) document.addEventListener(event, () => setTimeout(count));
count();
