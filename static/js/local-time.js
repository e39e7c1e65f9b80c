// Times are stored and sent in UTC; the reader sees them in their own zone, which a date with its hour names.
// The tooltip has them in UTC.
const day = { day: "numeric", month: "short", year: "numeric" };
const hour = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const formats = { date: day, time: hour, datetime: { ...day, ...hour, timeZoneName: "short" } };

const page = document.documentElement.lang;
const locale = navigator.language.startsWith(page) ? navigator.language : page;

/** Return `date` as a clock time of the reader's own zone. */
export function clock(date) {
  return new Intl.DateTimeFormat(locale, formats.time).format(date);
}

function localise(root) {
  for (const node of root.querySelectorAll("time[data-local]")) {
    const format = formats[node.dataset.local] ?? formats.datetime;
    node.textContent = new Intl.DateTimeFormat(locale, format).format(new Date(node.dateTime));
    node.removeAttribute("data-local");
  }
}

document.addEventListener("htmx:afterSwap", ({ detail }) => localise(detail.elt.parentElement ?? document));
document.addEventListener("twinblind:filled", () => localise(document));
localise(document);
