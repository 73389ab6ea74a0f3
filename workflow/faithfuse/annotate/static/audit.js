// The labelling page: passages marked in the texts, and the labels sent as one record.
//
// Browsers count UTF-16 units, records count code points. A text on the page has one code point for each of the stored
// text, so the offset of a passage is the number of code points before it.

import { keysOn, kept, newId, say, secondsSeen, send, sendKept } from "./send.js";

const PREDICATES = ["I", "A", "M", "D"];
const page = document.getElementById("audit");
const form = document.getElementById("labels");
const note = document.getElementById("note");
const stored = JSON.parse(document.getElementById("standing").textContent);
const draftKey = `draft-${page.dataset.url}-${page.dataset.base}${page.dataset.start ?? ""}`;
const codePoints = (text) => Array.from(text).length;

// The texts, as they came from the server.
const panes = {};
for (const element of document.querySelectorAll(".snapshot-text")) {
  const controls = [];
  for (const sign of element.querySelectorAll(".control")) {
    const before = document.createRange();
    before.setStart(element, 0);
    before.setEndBefore(sign);
    controls.push({ at: before.toString().length, title: sign.title });
  }
  panes[element.dataset.snapshot] = { element, text: element.textContent, controls };
  if (codePoints(element.textContent) !== Number(element.dataset.length)) {
    say("This browser shows the text differently from how it is stored, so passages cannot be marked.", true);
  }
  // The text can be walked through with the keyboard like an editor's, but not changed.
  element.addEventListener("beforeinput", (event) => event.preventDefault());
  element.addEventListener("dragstart", (event) => event.preventDefault());
  element.addEventListener("drop", (event) => event.preventDefault());
  element.addEventListener("compositionend", () => draw(element.dataset.snapshot));
}

// Evidence by predicate: {snapshot, from, to} in UTF-16 units of the pane's text.
const evidence = Object.fromEntries(PREDICATES.map((name) => [name, []]));
const unitsBefore = (text, points) => Array.from(text).slice(0, points).join("").length;
for (const name of PREDICATES) {
  for (const span of stored.evidence[name] ?? []) {
    const { text } = panes[span.snapshot];
    evidence[name].push({
      snapshot: span.snapshot,
      from: unitsBefore(text, span.start),
      to: unitsBefore(text, span.end),
    });
  }
}
note.value = stored.note;

function draw(snapshot) {
  const { element, text, controls } = panes[snapshot];
  const marks = PREDICATES.flatMap((name) =>
    evidence[name].filter((mark) => mark.snapshot === snapshot).map((mark) => ({ name, ...mark })),
  );
  const cuts = new Set([0, text.length]);
  for (const { from, to } of marks) cuts.add(from).add(to);
  for (const { at } of controls) cuts.add(at).add(at + 1);
  const places = [...cuts].sort((a, b) => a - b);
  const parts = [];
  for (let index = 0; index + 1 < places.length; index += 1) {
    const [from, to] = [places[index], places[index + 1]];
    let part = document.createTextNode(text.slice(from, to));
    const control = controls.find(({ at }) => at === from);
    if (control) {
      const sign = document.createElement("span");
      sign.className = "control";
      sign.title = control.title;
      sign.append(part);
      part = sign;
    }
    const names = marks.filter((mark) => mark.from <= from && to <= mark.to).map(({ name }) => name);
    if (names.length) {
      const mark = document.createElement("mark");
      mark.className = names.map((name) => `mark-${name}`).join(" ");
      mark.title = `evidence for ${[...new Set(names)].join(", ")}`;
      mark.append(part);
      part = mark;
    }
    parts.push(part);
  }
  element.replaceChildren(...parts);
}

function list(name) {
  const items = evidence[name].map((mark, index) => {
    const item = document.createElement("li");
    const quote = document.createElement("q");
    quote.dir = "auto";
    quote.textContent = panes[mark.snapshot].text.slice(mark.from, mark.to);
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "plain";
    remove.textContent = "Remove";
    remove.setAttribute("aria-label", `Remove evidence ${index + 1} for ${name}`);
    remove.addEventListener("click", () => {
      evidence[name].splice(index, 1);
      changed(name, mark.snapshot);
      form.querySelector(`[data-predicate="${name}"] input`).focus();
    });
    item.append(`${mark.snapshot}: `, quote, " ", remove);
    return item;
  });
  form.querySelector(`fieldset[data-predicate="${name}"] .evidence`).replaceChildren(...items);
}

function changed(name, snapshot) {
  list(name);
  draw(snapshot);
  keepDraft();
}

// The passage last selected: it is remembered, since moving to a button may end the selection.
let selected = null;
document.addEventListener("selectionchange", () => {
  const passage = passageOf(getSelection());
  if (passage) selected = passage;
  else if (getSelection().anchorNode?.parentElement?.closest(".snapshot-text")) selected = null;
});

// The browser tells of a change with a delay, so what is selected right now comes first.
const chosen = () => passageOf(getSelection()) ?? selected;

// The selected passage of a text, whole code points only, or null.
function passageOf(selection) {
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  for (const [snapshot, { element, text }] of Object.entries(panes)) {
    if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) continue;
    const before = document.createRange();
    before.setStart(element, 0);
    before.setEnd(range.startContainer, range.startOffset);
    // A range's toString is the text of its nodes as it is, line ends included.
    let from = before.toString().length;
    let to = from + range.toString().length;
    if (/[\udc00-\udfff]/.test(text[from] ?? "")) from -= 1;
    if (/[\udc00-\udfff]/.test(text[to] ?? "")) to += 1;
    return from < to ? { snapshot, from, to } : null;
  }
  return null;
}

// Puts the keyboard's caret behind a passage, so that the next one can be selected from there.
function putCaret(element, offset) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let before = 0;
  while (walker.nextNode()) {
    const { length } = walker.currentNode.data;
    if (before + length >= offset) {
      getSelection().collapse(walker.currentNode, offset - before);
      return;
    }
    before += length;
  }
}

function mark(name) {
  const passage = chosen();
  if (!passage) {
    say("Select a passage in one of the texts first.", true);
    return;
  }
  selected = null;
  const known = evidence[name].some(
    (other) => other.snapshot === passage.snapshot && other.from === passage.from && other.to === passage.to,
  );
  if (!known) evidence[name].push(passage);
  const { element } = panes[passage.snapshot];
  const focused = document.activeElement === element;
  changed(name, passage.snapshot);
  if (focused) putCaret(element, passage.to);
  say(`Marked as evidence for ${name}.`);
}

for (const button of document.querySelectorAll(".mark-as")) {
  // Keeps the selection, which a click on a button would end.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => mark(button.dataset.predicate));
}

const value = (name) => form.querySelector(`input[name="${name}"]:checked`)?.value ?? "";
const judgement = (name) => (value(name) === "" ? null : Number(value(name)));

function showReasons() {
  for (const name of PREDICATES) {
    form.querySelector(`fieldset[data-predicate="${name}"] .reason`).hidden = judgement(name) !== null;
  }
}

function content() {
  return {
    judgements: Object.fromEntries(PREDICATES.map((name) => [name, judgement(name)])),
    reasons: Object.fromEntries(PREDICATES.map((name) => [name, document.getElementById(`reason-${name}`).value])),
    evidence: Object.fromEntries(
      PREDICATES.map((name) => [
        name,
        evidence[name].map(({ snapshot, from, to }) => {
          const { text } = panes[snapshot];
          const start = codePoints(text.slice(0, from));
          const quote = text.slice(from, to);
          return { snapshot, start, end: start + codePoints(quote), quote };
        }),
      ]),
    ),
    support: judgement("support"),
    note: note.value,
  };
}

const keepDraft = () => kept.set(draftKey, { ...content(), marks: evidence });

function showProblems(defects) {
  for (const box of form.querySelectorAll(".problems")) box.replaceChildren();
  for (const { field, code, found, fix } of defects) {
    const line = document.createElement("p");
    line.textContent = `${found[0].toUpperCase()}${found.slice(1)}. ${fix}`;
    line.dataset.code = code;
    document.getElementById(`problems-${field}`).append(line);
  }
}

let busy = false;
function settled(change, { status, answer }) {
  busy = false;
  if (status === 200) {
    kept.remove(change.draft);
    kept.set("said", "The labels are sealed and saved.");
    location.assign(answer.next);
    return;
  }
  showProblems(answer.defects ?? []);
  say(answer.error ?? "Not saved.", true);
  form.querySelector(".problems:not(:empty)")?.closest("fieldset")?.querySelector("input, textarea")?.focus();
}

function save() {
  if (busy || document.getElementById("save").disabled) return;
  busy = true;
  showProblems([]);
  const id = newId();
  const labels = { request_id: id, base: Number(page.dataset.base), ...content(), seconds: secondsSeen() };
  const change = {
    id,
    url: page.dataset.url,
    type: "application/json",
    body: JSON.stringify(labels),
    draft: draftKey,
  };
  send(change, (result) => settled(change, result));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});
form.addEventListener("input", () => {
  showReasons();
  keepDraft();
});

addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    save();
    return;
  }
  if (!keysOn() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLTextAreaElement) return;
  const name = event.key.toUpperCase();
  if (PREDICATES.includes(name) && chosen()) {
    event.preventDefault();
    mark(name);
  }
});

const draft = kept.get(draftKey, null);
if (draft) {
  for (const name of [...PREDICATES, "support"]) {
    const wanted = name === "support" ? draft.support : draft.judgements[name];
    form.querySelector(`input[name="${name}"][value="${wanted ?? ""}"]`).checked = true;
  }
  for (const name of PREDICATES) {
    document.getElementById(`reason-${name}`).value = draft.reasons[name];
    evidence[name] = draft.marks[name];
  }
  note.value = draft.note;
  say("What you had not saved yet is back.");
}
for (const name of PREDICATES) list(name);
for (const snapshot of Object.keys(panes)) draw(snapshot);
showReasons();
document.querySelector("h1").focus({ preventScroll: true });
const said = kept.get("said", null);
if (said && !draft) say(said);
kept.remove("said");
form.dataset.listening = "";
sendKept((change, result) => settled(change, result));
