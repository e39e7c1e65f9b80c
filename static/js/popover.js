// Escape also closes what stays open while one works, such as the codebook; other popovers close by themselves.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("[popover]:not([popover=manual]):popover-open")) return;
  [...document.querySelectorAll("[popover=manual]:popover-open")].at(-1)?.hidePopover();
});
