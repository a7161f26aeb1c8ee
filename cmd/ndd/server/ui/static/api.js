// Requests to the server. The token lives in this module's memory, and nowhere else.

let token = "";
let asking = null; // resolves when a token has been typed

export class Refused extends Error {
  constructor(status, detail, retryAfter) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

// ask sends a request and returns the answer's JSON. Where the server wants a token, it waits for one to be typed.
export async function ask(path, body) {
  for (;;) {
    const headers = {};
    if (token) headers.Authorization = "Bearer " + token;
    if (body) headers["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit" });
    } catch {
      throw new Refused(0, "the server does not answer");
    }
    const answer = await response.json().catch(() => ({}));
    if (response.status === 401) {
      await askForToken(token ? "The server does not know this token." : "");
      continue;
    }
    if (!response.ok) {
      const first = (answer.errors || [])[0];
      const detail = first && first.message && !(answer.detail || "").includes(first.message) ? `${answer.detail}: ${first.location} ${first.message}` : answer.detail;
      throw new Refused(response.status, detail || response.statusText, Number(response.headers.get("Retry-After")) || 0);
    }
    return answer;
  }
}

// askForToken shows the form and waits. All requests that want a token wait for the same one.
function askForToken(error) {
  if (asking) return asking;
  const form = document.getElementById("login");
  const field = document.getElementById("token");
  document.getElementById("login-error").textContent = error;
  form.hidden = false;
  document.getElementById("state").textContent = "Token needed";
  field.focus();
  asking = new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      token = field.value.trim();
      field.value = "";
      form.hidden = true;
      asking = null;
      resolve();
    };
  });
  return asking;
}
