"use strict";
// Models wrote these texts: they only ever become text nodes, never markup.
const SHOWN_AT_ONCE = 50;
const { arms, problems, verdicts, rows } = JSON.parse(document.getElementById("content").textContent);
const [arm, verdict, decoding, problem, count, back, on, list] =
  ["arm", "verdict", "decoding", "problem", "count", "back", "on", "list"].map((id) => document.getElementById(id));
let matching = [];
let start = 0;

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function option(select, value, text) {
  const made = element("option", "", text);
  made.value = value;
  select.append(made);
}

function problemsAsked() {
  const words = problem.value.trim();
  if (!words) return null;
  const exact = problems.findIndex(([name]) => name === words);
  if (exact >= 0) return new Set([exact]);
  const lower = words.toLowerCase();
  const matching = new Set();
  problems.forEach((texts, at) => {
    if (texts.some((text) => text.toLowerCase().includes(lower))) matching.add(at);
  });
  return matching;
}

function hasVerdict(at) {
  if (verdict.value === "right") return verdicts[at][1];
  if (verdict.value === "wrong") return !verdicts[at][1];
  return verdict.value === "" || at === Number(verdict.value);
}

function filter() {
  const asked = problemsAsked();
  matching = rows.filter(
    (row) =>
      (asked === null || asked.has(row[0])) &&
      (arm.value === "" || row[1] === Number(arm.value)) &&
      hasVerdict(row[2]) &&
      (decoding.value === "" || row[3] === decoding.value),
  );
  start = 0;
  show();
}

function show() {
  const shown = matching.slice(start, start + SHOWN_AT_ONCE);
  const made = [];
  shown.forEach((row, at) => {
    if (at === 0 || shown[at - 1][0] !== row[0]) {
      const [name, prompt, reference, demonstration] = problems[row[0]];
      made.push(element("h2", "", name));
      if (prompt) made.push(element("pre", "prompt", prompt));
      if (reference) made.push(element("p", "arm", "Reference"), element("pre", "prompt", reference));
      if (demonstration) made.push(element("p", "arm", "Demonstration"), element("pre", "prompt", demonstration));
    }
    const [reason, right] = verdicts[row[2]];
    const read = row[5] === null ? "" : `, read as ${row[5]}`;
    made.push(element("p", "arm", `${arms[row[1]]} · ${row[3]} · seed ${row[4]}`));
    made.push(element("pre", "", row[6]));
    const verdictText = `${right ? "✓ right" : "✗ not accepted"}: ${reason}${read}`;
    made.push(element("p", right ? "verdict right" : "verdict wrong", verdictText));
  });
  list.replaceChildren(...made);
  const end = start + shown.length;
  count.textContent = matching.length ? `${start + 1} to ${end} of ${matching.length}` : "None";
  back.disabled = start === 0;
  on.disabled = end === matching.length;
}

function turn(by) {
  start += by;
  show();
  window.scrollTo(0, 0);
}

function askForLinked() {
  for (const select of [arm, verdict, decoding]) select.value = "";
  try {
    problem.value = decodeURIComponent(window.location.hash.slice(1));
  } catch {
    problem.value = "";
  }
  filter();
}

arms.forEach((label, at) => option(arm, at, label));
option(verdict, "right", "right");
option(verdict, "wrong", "not accepted");
verdicts.forEach(([reason, right], at) => option(verdict, at, `${right ? "✓" : "✗"} ${reason}`));
for (const select of [arm, verdict, decoding]) select.addEventListener("change", filter);
problem.addEventListener("input", filter);
back.addEventListener("click", () => turn(-SHOWN_AT_ONCE));
on.addEventListener("click", () => turn(SHOWN_AT_ONCE));
window.addEventListener("hashchange", askForLinked);
askForLinked();
