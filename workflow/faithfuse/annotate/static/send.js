// Sends changes so that none is lost: a change is kept in the browser until the server has said that it is stored, and
// is sent again, under the same id, when the connection or the page was lost in between.

const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
const storage = meta("storage");

// What this browser keeps; in this window alone where it keeps nothing for pages, or has no room left.
const windowOnly = new Map();
export const kept = {
  get(name, otherwise) {
    const key = `${storage}-${name}`;
    try {
      return JSON.parse(windowOnly.get(key) ?? localStorage.getItem(key)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    const key = `${storage}-${name}`;
    try {
      localStorage.setItem(key, JSON.stringify(value));
      windowOnly.delete(key);
    } catch {
      windowOnly.set(key, JSON.stringify(value));
    }
  },
  remove(name) {
    windowOnly.delete(`${storage}-${name}`);
    try {
      localStorage.removeItem(`${storage}-${name}`);
    } catch {
      // Nothing is kept there.
    }
  },
};

export const pending = () => kept.get("pending", []);
const forget = (id) => kept.set("pending", pending().filter((change) => change.id !== id));

export function say(text, problem = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("problem", problem);
}

async function post(change) {
  const response = await fetch(change.url, {
    method: "POST",
    headers: { "Content-Type": change.type, Accept: "application/json", "X-CSRF-Token": meta("csrf") },
    body: change.body,
  });
  let answer = {};
  try {
    answer = await response.json();
  } catch {
    // A proxy's error page, or an answer that was cut off: nothing is known to be stored.
    if (response.ok) throw new TypeError("no answer");
  }
  return { status: response.status, answer };
}

// Whether an answer leaves the change unsettled, so that it has to be kept and sent again.
const unsettled = (status) => status >= 500 || status === 408 || status === 429;

let waiting = null;

// Sends one change; `settled` gets {status, answer} once the server has decided about it.
export async function send(change, settled) {
  kept.set("pending", [...pending().filter((other) => other.id !== change.id), change]);
  say("Saving…");
  let delay = 1000;
  for (;;) {
    try {
      const result = await post(change);
      if (!unsettled(result.status)) {
        // 401 and 403: not stored, but it can be once the annotator has come in again.
        if (result.status !== 401 && result.status !== 403) forget(change.id);
        settled(result);
        return;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    const where = windowOnly.has(`${storage}-pending`) ? "in this window alone (leave it open)" : "on this device";
    say(`Not saved yet: the connection is lost. Your answer is kept ${where} and is sent again.`, true);
    await new Promise((resolve) => {
      waiting = resolve;
      setTimeout(resolve, delay);
    });
    delay = Math.min(2 * delay, 15000);
  }
}
addEventListener("online", () => waiting?.());

// Sends what an earlier page could not; `settled` gets each change with the server's answer.
export async function sendKept(settled) {
  for (const change of pending()) await send(change, (result) => settled(change, result));
}

// Single-key shortcuts can be switched off (WCAG 2.2, 2.1.4).
const button = document.getElementById("shortcuts");
export const keysOn = () => kept.get("keys", true);
function showKeys() {
  button.textContent = keysOn() ? "Keys are on" : "Keys are off";
  button.setAttribute("aria-pressed", String(keysOn()));
}
button.addEventListener("click", () => {
  kept.set("keys", !keysOn());
  showKeys();
});
showKeys();

// Seconds for which the page was visible.
let seen = 0;
let since = document.hidden ? null : performance.now();
addEventListener("visibilitychange", () => {
  if (since !== null) seen += performance.now() - since;
  since = document.hidden ? null : performance.now();
});
export const secondsSeen = () => Math.round(seen + (since === null ? 0 : performance.now() - since)) / 1000;

export const newId = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
