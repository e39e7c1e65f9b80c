// Where the page opens: at its errors, at what covers its text, else at the heading marked for it.
const target = document.getElementById("errors")
  ?? document.querySelector("details:not([open]) > summary[data-focus]")
  ?? document.querySelector(".notice[data-focus]")
  ?? document.querySelector("[data-focus]");
// An error or an answer that stands further down comes into view; everything else leaves the page at its top.
if (target && !location.hash) target.focus({ preventScroll: !target.matches(".notice-danger[data-focus], [data-into-view]") });

// A link to a radio group focuses the answer in it.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".notice a[href^='#']");
  const field = link && document.getElementById(link.hash.slice(1));
  if (!field) return;
  event.preventDefault();
  focusIn(field);
});

/** Focus the control in `field` where an answer begins. */
export function focusIn(field) {
  const control = field.matches("input, select, textarea") ? field
    : field.querySelector("[aria-invalid=true] input, input:checked, input, select, textarea");
  field.scrollIntoView({ block: "nearest" });
  control?.focus();
}
