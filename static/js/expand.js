// A clamped text: two lines or all of it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-expand]");
  if (!button) return;
  const open = document.getElementById(button.dataset.expand).classList.toggle("is-open");
  button.setAttribute("aria-expanded", open);
  const label = button.querySelector("[data-expand-text]");
  [label.textContent, label.dataset.less] = [label.dataset.less, label.textContent];
});
