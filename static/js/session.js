// The session ended: sign in again in place, and go on with everything that was entered.
import { clear, show } from "./notices.js";
import { page, renewToken } from "./send.js";

const dialog = document.getElementById("sign-in-again");

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-act=sign-in]")) dialog.showPopover();
});

dialog?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const error = dialog.querySelector("[data-sign-in-error]");
  error.hidden = true;
  if (!(await signIn(event.target))) {
    error.hidden = false;
    return;
  }
  event.target.elements.password.value = "";
  dialog.hidePopover();
  clear("signed-out");
  if (await renewToken()) document.dispatchEvent(new CustomEvent("twinblind:signed-in"));
  else show("gone");
});

// Whoever is signed in already, from another tab, gets no sign-in form: then there is nothing to do.
async function signIn(form) {
  const field = (await page(form.action))?.querySelector("[data-sign-in] input[name=csrfmiddlewaretoken]");
  if (!field) return true;
  const body = new URLSearchParams(new FormData(form));
  body.set("csrfmiddlewaretoken", field.value);
  try {
    const headers = { "HX-Request": "true" };
    const response = await fetch(form.action, { method: "POST", body, headers, redirect: "manual" });
    return response.type === "opaqueredirect" || response.headers.has("HX-Redirect");
  } catch {
    return false;
  }
}
