// Where the output is, and what it could be merged with: never the cluster it is already in.
const fields = () => document.querySelectorAll("[data-cluster-field]");

const chosen = (field) => field.querySelector("[data-picker] :checked");

function pick(field, place) {
  for (const choice of field.querySelectorAll("[data-picker] :is(input, option)")) {
    choice[choice.matches("option") ? "selected" : "checked"] = choice.value === place;
  }
}

function limitTargets(field) {
  const place = chosen(field)?.value ?? "";
  for (const label of field.querySelectorAll("[data-target]")) {
    label.hidden = label.dataset.target === place;
    if (label.hidden) label.querySelector("input").checked = false;
  }
  for (const option of field.querySelectorAll("[data-targets] option[value]:not([value=''])")) {
    option.disabled = option.value === place;
    if (option.disabled) option.selected = false;
  }
}

/** Move the choice in the picker by `by` places, around its ends. */
export function movePick(by) {
  const picker = document.querySelector("[data-picker]");
  if (!picker) return;
  if (picker.matches("select")) {
    picker.selectedIndex = (picker.selectedIndex + by + picker.length) % picker.length;
    picker.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  const radios = [...picker.querySelectorAll("input")];
  const now = radios.findIndex((radio) => radio.checked);
  const next = now < 0 ? (by > 0 ? 0 : radios.length - 1) : (now + by + radios.length) % radios.length;
  radios[next].click();
}

/** Show the proposed cluster that the server names once the coder's own choice is stored. */
export function reveal(code, words) {
  for (const note of document.querySelectorAll("[data-proposed-note]")) note.textContent = words;
  for (const cluster of document.querySelectorAll("[data-cluster]")) {
    cluster.querySelector("[data-here]").hidden = cluster.dataset.cluster !== code;
  }
}

// A new cluster goes with one answer only. Picking it gives that answer, leaving it takes the answer back, and another
// answer leaves it.
const before = new WeakMap();

function keepTogether(field, target) {
  const implied = chosen(field)?.dataset.implies;
  const answer = field.querySelector(".options > .option > input:checked, .option-join > .option > input:checked");
  if (target.closest("[data-picker]")) {
    if (implied && answer?.value !== implied) {
      if (!before.has(field)) before.set(field, answer);
      check(field.querySelector(`.options input[value="${CSS.escape(implied)}"]`), true);
    } else if (!implied && before.has(field)) {
      check(before.get(field) ?? answer, Boolean(before.get(field)));
      before.delete(field);
    }
  } else if (target === answer) {
    before.delete(field);
    if (implied && answer.value !== implied) pick(field, proposed());
  }
}

const proposed = () => document.querySelector("[data-cluster]:has([data-here]:not([hidden]))")?.dataset.cluster;

function check(input, on) {
  if (input) input.checked = on;
}

function update(field) {
  limitTargets(field);
  const open = field.querySelector("[data-opens]")?.checked ?? false;
  for (const control of field.querySelectorAll(".sub :is(input, select)")) control.disabled = !open;
}

document.addEventListener("change", ({ target }) => {
  const field = target.closest("[data-cluster-field]");
  if (!field) return;
  keepTogether(field, target);
  update(field);
});
document.addEventListener("twinblind:filled", () => fields().forEach(update));
fields().forEach(update);
