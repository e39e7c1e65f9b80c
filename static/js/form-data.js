// The form as plain data: {name: text or list of texts}. What the server needs beside the answers is left out.
const BESIDE = new Set(["csrfmiddlewaretoken", "submission_id", "base_version", "draft_version", "active_seconds",
  "idle_seconds"]);

/** Return the answers of `form` by name; boxes that can be ticked together give a list, if none is, an empty one. */
export function answers(form) {
  const data = {};
  for (const box of form.querySelectorAll("[data-many] input[type=checkbox]")) data[box.name] = [];
  for (const [name, value] of new FormData(form)) {
    if (BESIDE.has(name)) continue;
    if (Array.isArray(data[name])) data[name].push(value);
    else data[name] = value;
  }
  return data;
}

/** Put `data`, as `answers` gave it, back into `form`. */
export function fill(form, data) {
  for (const control of form.elements) {
    if (!control.name || BESIDE.has(control.name) || control.type === "hidden") continue;
    const value = data[control.name];
    if (control.type === "radio") control.checked = control.value === value;
    else if (control.type === "checkbox") control.checked = [value].flat().includes(control.value);
    else control.value = value ?? "";
  }
  document.dispatchEvent(new CustomEvent("twinblind:filled"));
}
