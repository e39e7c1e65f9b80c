// Times are stored and sent in UTC; the reader sees them in their own zone, with UTC in the tooltip.
const formats = {
  datetime: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  date: { day: "numeric", month: "short", year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
};

const page = document.documentElement.lang;
const locale = navigator.language.startsWith(page) ? navigator.language : page;

/** Return `date` as a clock time of the reader's own zone. */
export function clock(date) {
  return new Intl.DateTimeFormat(locale, formats.time).format(date);
}

function localise(root) {
  for (const node of root.querySelectorAll("time[data-local]")) {
    const format = formats[node.dataset.local] ?? formats.datetime;
    node.title = node.textContent;
    node.textContent = new Intl.DateTimeFormat(locale, format).format(new Date(node.dateTime));
    node.removeAttribute("data-local");
  }
}

document.addEventListener("htmx:afterSwap", ({ detail }) => localise(detail.elt.parentElement ?? document));
document.addEventListener("twinblind:filled", () => localise(document));
localise(document);
