// A link to a folded section, or into one, opens it.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  let fold = target?.querySelector(":scope > details.further") ?? target?.closest("details");
  for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);

// Brackets and punctuation stay in the line of the formula that they touch.
function keepTogether() {
  for (const formula of document.querySelectorAll("span.math")) {
    const [before, after] = [formula.previousSibling, formula.nextSibling];
    const opening = /[([]+$/.exec(before?.data ?? "")?.[0] ?? "";
    const closing = /^[.,;:?!)\]]+/.exec(after?.data ?? "")?.[0] ?? "";
    if (!opening && !closing) continue;
    const line = document.createElement("span");
    line.style.whiteSpace = "nowrap";
    formula.replaceWith(line);
    line.append(opening, formula, closing);
    if (opening) before.data = before.data.slice(0, -opening.length);
    if (closing) after.data = after.data.slice(closing.length);
  }
}
addEventListener("DOMContentLoaded", keepTogether);

// The theme's arrows that unfold the contents of a page at the side have no name of their own.
function nameArrows() {
  for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const page = arrow.closest("li").querySelector("a").textContent.trim();
    arrow.setAttribute("aria-label", `Pages of ${page}`);
  }
}
addEventListener("DOMContentLoaded", nameArrows);

// Paper has all folds open.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));

// A field in the glossary leaves the terms that hold a word or, if none does, their sentences.
function findTerms() {
  const glossary = document.querySelector("section#glossary");
  if (!glossary) return;
  const entries = [...glossary.querySelectorAll(":scope > section > section")];
  const line = document.createElement("p");
  line.className = "find";
  line.innerHTML = '<label>Find a term<input type="search"></label><output></output>';
  const [field, said] = [line.querySelector("input"), line.querySelector("output")];
  const show = () => {
    const word = field.value.trim().toLowerCase();
    const holds = (part) => part.textContent.toLowerCase().includes(word);
    const named = entries.filter((entry) => holds(entry.querySelector("h3")));
    const found = new Set(named.length ? named : entries.filter(holds));
    for (const entry of entries) entry.hidden = !found.has(entry);
    for (const letter of glossary.querySelectorAll(":scope > section"))
      letter.hidden = !letter.querySelector(":scope > section:not([hidden])");
    said.value = `${found.size} of ${entries.length} terms`;
  };
  field.addEventListener("input", show);
  addEventListener("hashchange", () => { // a link may lead to a term that is left out
    field.value = "";
    show();
    unfold();
  });
  glossary.querySelector(":scope > p").after(line);
  show();
}
addEventListener("DOMContentLoaded", findTerms);

// A link to a term says what it means: under the mouse, with the keyboard, and at the first tap.
function explainTerms() {
  const links = document.querySelectorAll('a[href*="glossary.html#"][title]');
  const box = document.createElement("div");
  Object.assign(box, { id: "meaning", role: "tooltip", hidden: true });
  if (links.length) document.body.append(box);
  let [shown, soon, touched] = [null, 0, false];
  const hide = () => { box.hidden = true; shown = null; };
  const hideSoon = () => { soon = setTimeout(hide, 200); }; // the mouse may go to the box
  const stay = () => clearTimeout(soon);
  function show(link) {
    stay();
    box.textContent = link.dataset.meaning;
    box.hidden = false;
    shown = link;
    const [at] = link.getClientRects(); // of its first line
    const left = Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 8);
    const above = at.bottom + box.offsetHeight + 6 > innerHeight;
    box.style.left = `${Math.max(8, left) + scrollX}px`;
    box.style.top = `${(above ? at.top - box.offsetHeight - 3 : at.bottom + 3) + scrollY}px`;
  }
  for (const link of links) {
    link.dataset.meaning = link.title;
    link.removeAttribute("title");
    link.setAttribute("aria-describedby", box.id);
    link.addEventListener("mouseenter", () => show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("mouseleave", hideSoon);
    link.addEventListener("blur", hide);
    link.addEventListener("pointerdown", ({ pointerType }) => {
      touched = pointerType === "touch" && shown !== link;
    });
    link.addEventListener("click", (event) => {
      if (touched) event.preventDefault();
      touched = false;
    });
  }
  box.addEventListener("mouseenter", stay);
  box.addEventListener("mouseleave", hideSoon);
  addEventListener("keydown", ({ key }) => { if (key === "Escape") hide(); });
}
addEventListener("DOMContentLoaded", explainTerms);
