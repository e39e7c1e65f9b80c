// A sheet that is shown once is printed from a button.
document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-print]")) print();
});
