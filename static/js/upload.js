// A large file is sent with a bar that moves; without script the browser sends the same form.
const form = document.querySelector("form[data-upload]");

function send(event) {
  event.preventDefault();
  const request = new XMLHttpRequest();
  const row = form.querySelector("[data-upload-row]");
  row.hidden = false;
  form.querySelector("[type=submit]").disabled = true;
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    row.querySelector("progress").value = loaded / total;
    row.querySelector("[data-upload-done]").textContent = megabytes(loaded);
    row.querySelector("[data-upload-total]").textContent = megabytes(total);
  });
  request.addEventListener("load", () => finish(request));
  request.addEventListener("error", () => fail());
  request.addEventListener("abort", reset);
  form.querySelector("[data-upload-cancel]").onclick = () => request.abort();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.send(new FormData(form));
}

function finish(request) {
  const elsewhere = request.getResponseHeader("HX-Redirect");
  if (elsewhere) location.assign(elsewhere);
  else if (request.status === 422 || request.status === 409) {
    form.querySelector("[data-upload-errors]").innerHTML = request.responseText;
    reset();
  } else fail();
}

function fail() {
  form.querySelector("[data-upload-failed]").hidden = false;
  reset();
}

function reset() {
  form.querySelector("[data-upload-row]").hidden = true;
  form.querySelector("[type=submit]").disabled = false;
}

function megabytes(bytes) {
  return (bytes / 1e6).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 });
}

form?.addEventListener("submit", send);
