// Sorts the small maps by the scores in the page, and draws one of them large.
(() => {
  const values = unpack(FACTS.packed);
  const [by, reverse] = [document.getElementById("by"), document.getElementById("reverse")];
  const gallery = document.querySelector(".gallery");
  const items = [...gallery.children];
  const buttons = [...gallery.querySelectorAll("button")];
  const [box, reading] = [document.querySelector(".map"), document.querySelector(".reading")];
  const [which, caption] = [document.querySelector(".which"), document.querySelector(".caption")];
  const number = (item) => +item.querySelector("button").dataset.head;
  const name = (head) => `${Math.floor(head / FACTS.n_heads)}.${head % FACTS.n_heads}`;

  function say(score) {
    const { unit } = FACTS.orders[by.value];
    if (!unit) return "";
    return unit === "%" ? `${Math.round(100 * score)} %` : `${score.toFixed(2)} ${unit}`;
  }

  function sort() {
    const order = FACTS.orders[by.value];
    const scores = FACTS.scores[by.value];
    const sign = order.highest_first === reverse.checked ? 1 : -1;
    const before = (a, b) =>
      sign * (scores[number(a)] - scores[number(b)]) || number(a) - number(b);
    gallery.append(...[...items].sort(before));
    for (const item of items)
      item.querySelector(".score").textContent = say(scores[number(item)]);
    gallery.scrollTop = 0;
    const first = reverse.checked ? "the other way round" : `${order.first} first`;
    const chance = order.unit &&
      ` A head that attends to all tokens alike has ${say(FACTS.chance[by.value])}.`;
    caption.textContent = `Sorted by ${order.name}: ${first}.${chance}`;
    const shown = buttons.find((button) => button.getAttribute("aria-pressed") === "true");
    if (shown) show(shown);
  }

  function show(button) {
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    const head = +button.dataset.head;
    const score = say(FACTS.scores[by.value][head]);
    which.textContent =
      `Head ${name(head)}` + (score && `, ${FACTS.orders[by.value].name}: ${score}`);
    const seen = seenOfHead(values, Math.floor(head / FACTS.n_heads), head % FACTS.n_heads);
    drawTable(box, reading, seen.names, seen.rows, MEASURES.probability);
  }

  by.addEventListener("change", sort);
  reverse.addEventListener("change", sort);
  for (const button of buttons)
    button.addEventListener("click", () => show(button));
  // Left and right go to the neighbours in this order; Enter shows the head, as on any button.
  gallery.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const item = event.target.closest("li");
    if (!step || !item) return;
    const next = step > 0 ? item.nextElementSibling : item.previousElementSibling;
    if (next) next.querySelector("button").focus();
    event.preventDefault();
  });
  sort();
})();
