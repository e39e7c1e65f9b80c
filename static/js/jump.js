// On a phone the jump bar says which part is in view.
const links = [...document.querySelectorAll(".jump a")];

function mark() {
  const topOf = (link) => document.querySelector(link.hash).getBoundingClientRect().top;
  const passed = links.filter((link) => topOf(link) < innerHeight / 2);
  for (const link of links) {
    if (link === passed.at(-1)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

if (links.length) {
  let due = false;
  const later = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; mark(); });
  };
  for (const event of ["scroll", "resize"]) addEventListener(event, later, { passive: true });
  mark();
}
