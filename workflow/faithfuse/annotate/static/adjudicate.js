// The page on which one disagreement about a rating is decided: the keys of the rating page.

import { keysOn } from "./send.js";

const form = document.getElementById("decide");
const note = document.getElementById("note");

addEventListener("keydown", (event) => {
  if (event.target === note) {
    if (event.key === "Escape") note.blur();
    return;
  }
  if (!keysOn() || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (/^[1-5]$/.test(event.key)) form.querySelector(`button[value="${event.key}"]`).click();
  else if (event.key.toLowerCase() === "n") note.focus();
  else return;
  event.preventDefault();
});
document.querySelector("h1").focus({ preventScroll: true });
form.dataset.listening = "";
