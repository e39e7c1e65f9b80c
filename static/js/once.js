// A form is sent once, however quickly its button is pressed again.
const PAUSE = 3000; // an answer that is a file leaves the page as it was
const sent = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (sent.has(form)) {
    event.preventDefault();
    return;
  }
  sent.add(form);
  setTimeout(() => sent.delete(form), PAUSE);
});
