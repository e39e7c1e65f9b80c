// What this browser keeps until the server has it. A key names the assignment and nothing else.
const PREFIX = "kept:";

/** Return what is kept for `record`, or null; what another person left on this computer stays theirs. */
export function read(record, owner) {
  try {
    const kept = JSON.parse(localStorage.getItem(PREFIX + record));
    return kept?.owner === owner ? kept : null;
  } catch {
    return null;
  }
}

/** Keep `work`; false when the browser refuses (full, or storage turned off). */
export function keep(record, work) {
  try {
    localStorage.setItem(PREFIX + record, JSON.stringify(work));
    return true;
  } catch {
    return false;
  }
}

export function forget(record) {
  localStorage.removeItem(PREFIX + record);
}

export function keptRecords() {
  return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
}
