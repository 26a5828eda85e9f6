// Opens and closes the drawings inside boxes. Without scripts all are open.
(() => {
  const boxes = [...document.querySelectorAll("[aria-controls]")];
  const inside = (box) => document.getElementById(box.getAttribute("aria-controls"));
  const isOpen = (box) => box.getAttribute("aria-expanded") === "true";

  function set(box, open) {
    box.setAttribute("aria-expanded", open);
    inside(box).hidden = !open;
    if (!open) boxes.filter((b) => inside(box).contains(b)).forEach((inner) => set(inner, false));
  }

  document.addEventListener("click", ({ target }) => {
    const box = target.closest("[aria-controls]");
    if (box && String(getSelection()) === "") set(box, !isOpen(box)); // otherwise text was being selected
  });
  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (event.key === "Escape") {
      const box = isOpen(at) ? at : boxes.find((box) => inside(box).contains(at));
      if (!box) return;
      set(box, false);
      box.focus();
    } else if (boxes.includes(at) && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault(); // a space would scroll
      set(at, !isOpen(at));
    }
  });
  // A separate page is printed with everything open; in a notebook its height is fixed.
  if (window.parent === window)
    addEventListener("beforeprint", () => boxes.forEach((box) => set(box, true)));
})();
