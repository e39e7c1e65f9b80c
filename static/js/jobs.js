// A job's bar is asked for every two seconds; when the server cannot be reached, the page says so and asks on.
document.addEventListener("htmx:sendError", ({ target }) => mark(target, true));
document.addEventListener("htmx:afterRequest", ({ target, detail }) => { if (detail.successful) mark(target, false); });

function mark(node, away) {
  const note = node.closest?.(".job")?.querySelector("[data-away]");
  if (note) note.hidden = !away;
}
