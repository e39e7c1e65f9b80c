// The codebook drawer: opened at a field, searchable, and the form stays usable beside it.
const drawer = document.getElementById("codebook");
let opener = null;

/** Open the drawer, at the entry called `entry` where there is one. */
export function openCodebook(entry) {
  if (!drawer) return;
  drawer.showPopover();
  const section = entry && document.getElementById(entry);
  if (!section) return;
  section.hidden = false;
  section.scrollIntoView({ block: "start" });
}

/** Open the drawer at the field in focus, or close it. */
export function toggleCodebook() {
  if (drawer?.matches(":popover-open")) {
    drawer.hidePopover();
    return;
  }
  const field = document.activeElement?.closest("[data-field], .field");
  openCodebook(field && `cb-${field.id.replace(/-field$/, "")}`);
}

drawer?.addEventListener("beforetoggle", ({ newState }) => {
  if (newState === "open") opener = document.activeElement;
  else if (drawer.contains(document.activeElement)) opener?.focus();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-codebook]");
  if (!link) return;
  event.preventDefault();
  openCodebook(link.hash.slice(1));
});

const search = drawer?.querySelector("[data-codebook-search]");
search?.addEventListener("input", () => {
  const wanted = search.value.trim().toLocaleLowerCase();
  let found = 0;
  for (const entry of drawer.querySelectorAll("[data-entry]")) {
    entry.hidden = !entry.textContent.toLocaleLowerCase().includes(wanted);
    found += !entry.hidden;
  }
  drawer.querySelector("[data-codebook-none]").hidden = found > 0;
});
