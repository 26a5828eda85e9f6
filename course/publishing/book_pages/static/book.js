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
