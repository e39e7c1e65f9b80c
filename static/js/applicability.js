// The protocol's rules of the kind "when this answer, then that one": the form fills them in, the server checks them.
const form = document.querySelector("#code-form[data-applicability]");
const rules = form ? JSON.parse(form.dataset.applicability) : [];

function holds(when) {
  return Object.entries(when).every(([name, values]) => {
    const given = [...form.querySelectorAll(`[name="${CSS.escape(name)}"]:checked`)];
    return given.some((input) => [values].flat().includes(input.value));
  });
}

function apply(then) {
  for (const [name, value] of Object.entries(then)) {
    const boxed = typeof value === "boolean";
    const input = form.querySelector(`[name="${CSS.escape(name)}"]${boxed ? "" : `[value="${CSS.escape(value)}"]`}`);
    if (input && input.checked !== (boxed ? value : true)) input.click();
  }
}

form?.addEventListener("change", ({ target }) => {
  for (const rule of rules) if (target.name in rule.when && holds(rule.when)) apply(rule.then);
});
