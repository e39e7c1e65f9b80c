// One door to the server. Tells apart: taken, refused with a reason, badly filled in, signed out, gone, unreachable.
const TIMEOUT = 15_000;

/**
 * Send `body` and return {kind, response}; kind is one of ok, conflict, invalid, signed-out, gone, trouble, offline.
 * A token that went stale because of a sign-in elsewhere is renewed once.
 */
export async function send(url, { method = "POST", body, type, keepalive = false } = {}) {
  const first = await attempt(url, { method, body, type, keepalive });
  if (first.kind !== "forbidden") return first;
  if (keepalive || !(await renewToken())) return { kind: "signed-out" };
  const second = await attempt(url, { method, body, type, keepalive });
  return second.kind === "forbidden" ? { kind: "signed-out" } : second;
}

/** Take the token of a freshly loaded copy of this page; false when the page is not there for us. */
export async function renewToken(url = location.href) {
  const fresh = await page(url);
  const headers = fresh?.body.getAttribute("hx-headers");
  if (!headers || fresh.querySelector("[data-sign-in]")) return false;
  document.body.setAttribute("hx-headers", headers);
  for (const input of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) input.value = token();
  return true;
}

/** Return the document at `url`, or null when the server cannot be reached or has none. */
export async function page(url) {
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-store" });
    return response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
  } catch {
    return null;
  }
}

/** Return the reason that a refusal gives, from JSON or from a page. */
export async function reasonIn(response) {
  const body = await response.text();
  if (response.headers.get("Content-Type")?.includes("json")) return JSON.parse(body).reason;
  return new DOMParser().parseFromString(body, "text/html").querySelector("[data-reason]")?.textContent ?? "";
}

export function token() {
  return JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
}

async function attempt(url, { method, body, type, keepalive }) {
  const headers = { "X-CSRFToken": token(), "HX-Request": "true", Accept: "application/json, text/html" };
  if (type) headers["Content-Type"] = type;
  try {
    const signal = keepalive ? undefined : AbortSignal.timeout(TIMEOUT);
    const request = { method, body, headers, keepalive, signal, redirect: "manual", cache: "no-store" };
    const response = await fetch(url, request);
    return { kind: kindOf(response), response };
  } catch {
    return { kind: "offline" };
  }
}

const KINDS = { 400: "invalid", 401: "signed-out", 403: "forbidden", 404: "gone", 409: "conflict", 422: "invalid" };

function kindOf(response) {
  const elsewhere = response.headers.get("HX-Redirect");
  if (response.type === "opaqueredirect") return "signed-out";
  if (elsewhere && elsewhere.startsWith(document.body.dataset.signInUrl)) return "signed-out";
  if (response.ok) return "ok";
  return KINDS[response.status] ?? "trouble";
}
