// Slider and number say the same; a slider nobody touched gives no answer.
const numberOf = (range) => document.getElementById(range.dataset.range);
const rangeOf = (number) => number.closest(".scale")?.querySelector("[data-range]");

function mark(range) {
  range.closest(".scale").toggleAttribute("data-unset", numberOf(range).value === "");
}

function follow(range) {
  if (numberOf(range).value !== "") range.value = numberOf(range).value;
  mark(range);
}

document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-range]")) {
    numberOf(target).value = target.value;
    mark(target);
  } else if (target.matches(".scale input[type=number]")) {
    follow(rangeOf(target));
  }
});
document.addEventListener("twinblind:filled", () => document.querySelectorAll("[data-range]").forEach(follow));

// A press on an unset slider without moving it is an answer too.
document.addEventListener("pointerup", ({ target }) => {
  if (target.matches(".scale[data-unset] [data-range]")) target.dispatchEvent(new Event("input", { bubbles: true }));
});

/** Move the first scale of the page by `steps` of a twentieth of its span. */
export function nudge(steps) {
  const range = document.querySelector("#code-form [data-range]");
  if (!range) return;
  const [low, high] = [Number(range.min), Number(range.max)];
  const size = Math.max(Number(range.step), (high - low) / 20);
  range.value = Math.min(high, Math.max(low, Number(range.value) + steps * size));
  range.dispatchEvent(new Event("input", { bubbles: true }));
}
