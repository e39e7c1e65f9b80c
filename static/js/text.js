// The interface's words, written by the server in the reader's language into <template data-texts>.
const words = new Map();
for (const node of document.querySelector("template[data-texts]")?.content.querySelectorAll("[data-text]") ?? []) {
  words.set(node.dataset.text, node.textContent);
}

/** Return the text called `name` with each {placeholder} filled from `values`. */
export function text(name, values = {}) {
  return (words.get(name) ?? "").replace(/\{(\w+)\}/g, (whole, key) => key in values ? number(values[key]) : whole);
}

function number(value) {
  return typeof value === "number" ? value.toLocaleString(document.documentElement.lang) : value;
}
