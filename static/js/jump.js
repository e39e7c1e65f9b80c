// On a phone the jump bar says which part is in view.
const links = [...document.querySelectorAll(".jump a")];

const bar = document.querySelector(".topbar");

// A part is in view from when its beginning comes near the top bar; the last one at the page's end in any case.
function inView() {
  const topOf = (link) => document.querySelector(link.hash).getBoundingClientRect().top;
  const line = bar.getBoundingClientRect().bottom + innerHeight / 8;
  const root = document.documentElement;
  if (scrollY > 0 && scrollY + root.clientHeight >= root.scrollHeight - 1) return links.at(-1);
  return links.findLast((link) => topOf(link) < line) ?? links[0];
}

function mark() {
  const current = inView();
  for (const link of links) {
    if (link === current) link.setAttribute("aria-current", "true");
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
