// The rating page: keys, saving, and what to do when another window was faster.

import { keysOn, kept, newId, say, secondsSeen, send, sendKept } from "./send.js";

const SETTLE = 250; // A key that comes sooner was meant for the page before.
const form = document.getElementById("rate");
const undo = document.getElementById("undo");
const note = document.getElementById("note");
const conflict = document.getElementById("conflict");
const FORM = "application/x-www-form-urlencoded";
const draftKey = `draft-${new URL(form.action).pathname}-${form.base.value}`;
let listening = false;
let busy = false;
setTimeout(() => {
  listening = true;
  form.dataset.listening = "";
}, SETTLE);

document.querySelector("h1").focus({ preventScroll: true });

const word = (likert) => (likert === "abstain" || likert === null ? "abstain" : String(likert));

function settledRating(change, { status, answer }) {
  busy = false;
  if (status === 200) {
    kept.remove(change.draft);
    kept.set("said", `Item ${change.position}: ${word(change.likert)}, saved. U takes it back.`);
    location.assign(answer.next);
  } else if (status === 409 && change.url === new URL(form.action).pathname) {
    askWhichStands(change, answer);
  } else if (status === 409) {
    say(`Item ${change.position} was changed in another window; your ${word(change.likert)} was not saved.`, true);
  } else {
    say(`Not saved. ${answer.error ?? ""}`, true);
  }
}

function rate(likert, base = form.base.value) {
  if (busy || form.querySelector("fieldset").disabled) return;
  busy = true;
  conflict.hidden = true;
  const id = newId();
  const fields = { request_id: id, base, likert, note: note.value, seconds: secondsSeen() };
  const change = {
    id,
    url: new URL(form.action).pathname,
    type: FORM,
    body: new URLSearchParams(fields).toString(),
    position: form.dataset.position,
    draft: draftKey,
    likert,
  };
  for (const button of form.querySelectorAll("button[name=likert]")) {
    button.setAttribute("aria-pressed", String(button.value === likert));
  }
  send(change, (result) => settledRating(change, result));
}

function askWhichStands(change, stands) {
  const theirs = stands.rated ? `rated this ${word(stands.likert)}` : "took the rating back";
  conflict.replaceChildren();
  const text = document.createElement("p");
  text.textContent = `In another window you ${theirs}. Here you chose ${word(change.likert)}. Which one stands?`;
  const keep = document.createElement("button");
  keep.type = "button";
  keep.id = "keep";
  keep.textContent = stands.rated ? `Keep ${word(stands.likert)}` : "Leave it open";
  keep.addEventListener("click", () => location.reload());
  const replace = document.createElement("button");
  replace.type = "button";
  replace.id = "replace";
  replace.textContent = `Replace with ${word(change.likert)}`;
  replace.addEventListener("click", () => rate(change.likert, String(stands.base)));
  conflict.append(text, keep, " ", replace);
  conflict.hidden = false;
  say("Not saved: this item was changed in another window.", true);
  keep.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  rate(event.submitter.value);
});

// A note is stored with the rating; until then the browser keeps it.
note.addEventListener("input", () => kept.set(draftKey, note.value));
const draft = kept.get(draftKey, note.value);
const unsaved = draft !== note.value;
note.value = draft;

undo.addEventListener("submit", (event) => {
  event.preventDefault();
  if (busy || undo.querySelector("button").disabled) return;
  busy = true;
  const id = newId();
  const fields = new URLSearchParams({ request_id: id, last: undo.last.value });
  send({ id, url: "/undo", type: FORM, body: fields.toString() }, ({ status, answer }) => {
    busy = false;
    if (status === 200) {
      kept.set("said", "The rating of this item was taken back.");
      location.assign(answer.next);
    } else {
      say(answer.error ?? "Not undone.", true);
    }
  });
});

addEventListener("keydown", (event) => {
  if (event.target === note) {
    if (event.key === "Escape") note.blur();
    return;
  }
  if (!keysOn() || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const key = event.key.toLowerCase();
  const judges = /^[1-5au]$/.test(key);
  if (judges && !listening) return;
  if (/^[1-5]$/.test(key)) rate(key);
  else if (key === "a") rate("abstain");
  else if (key === "u") undo.requestSubmit();
  else if (key === "n") note.focus();
  else if (key === "arrowleft") document.getElementById("previous")?.click();
  else if (key === "arrowright") document.getElementById("next")?.click();
  else return;
  event.preventDefault();
});

const said = kept.get("said", null);
if (unsaved) say("The note that you had not saved yet is back; it is saved with the rating.");
else if (said) say(said);
kept.remove("said");
document.querySelector(".turn.relevant")?.scrollIntoView({ block: "nearest" });
scrollTo(0, 0);
sendKept((change, result) => settledRating(change, result));
