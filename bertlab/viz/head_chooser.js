// Draws the head that the sliders choose, from the numbers in the page.
(() => {
  const values = unpack(FACTS.packed);
  const find = (id) => document.getElementById(id);
  const [layer, head, choice] = [find("layer"), find("head"), find("measure")];
  const switches = [...document.querySelectorAll('input[name="hide"]')];
  const [box, reading] = [document.querySelector(".map"), document.querySelector(".reading")];
  const [caption, note] = [document.querySelector(".caption"), document.querySelector(".note")];
  const main = document.querySelector("main");
  const percent = (share) => `${Math.round(100 * share)} %`;

  // Typing creates a new frame; the enclosing page keeps the choices of the last one.
  const send = (message) => {
    if (FACTS.key) window.parent.postMessage({ key: FACTS.key, ...message }, "*");
  };
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent) return;
    if (data?.kept) recall(data.kept);
    main.style.visibility = "";
  });

  function recall(kept) {
    let hidden;
    [layer.value, head.value, choice.value, ...hidden] = kept.split(",");
    for (const field of switches) field.checked = hidden.includes(field.value);
    show();
  }

  function explain(seen, hidden) {
    const alike = FACTS.causal ? "all keys that the query can see" : `all ${seen.places.length} keys`;
    const what = {
      probability: "Every row sums to 100 %.",
      chance: `1 is chance: what each key gets if the head attends to ${alike} alike.`,
      key: "1 is what this key gets from a query on average: a token that all attend to fades.",
    }[choice.value];
    if (!hidden.length) return what;
    const names = hidden.join(" and ");
    return `${what} Rows and columns of ${names} are left out, and every row was made to sum to ` +
      `100 % again; ${names} had ${percent(seen.lost)} of the attention that the rows shown give.`;
  }

  function show() {
    const hidden = switches.filter((field) => field.checked).map((field) => field.value);
    const measure = MEASURES[choice.value];
    const seen = seenOfHead(values, +layer.value, +head.value, new Set(hidden));
    drawTable(box, reading, seen.names, measured(seen.rows, measure), measure);
    for (const slider of [layer, head]) slider.nextElementSibling.value = slider.value;
    caption.textContent = `Layer ${layer.value}, head ${head.value}`;
    note.textContent = explain(seen, hidden);
    for (const strip of document.querySelectorAll(".legend"))
      strip.style.display = strip.dataset.kind === measure.kind ? "flex" : "none";
    return [layer.value, head.value, choice.value, ...hidden].join();
  }

  const choose = () => send({ choice: show() });

  for (const slider of [layer, head]) slider.addEventListener("input", choose);
  for (const field of [choice, ...switches]) field.addEventListener("change", choose);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === choice) return;
    const [slider, by] = {
      ArrowLeft: [head, -1], ArrowRight: [head, 1], ArrowUp: [layer, -1], ArrowDown: [layer, 1],
    }[event.key] || [];
    if (!slider || (event.target === layer && slider === head)) return; // the browser moves it
    slider.value = +slider.value + by; // the slider keeps the value in its range
    choose();
    event.preventDefault(); // otherwise the notebook would scroll, and the slider move twice
  });

  recall(`${FACTS.layer},${FACTS.head},probability`);
  if (FACTS.key && window.parent !== window) {
    main.style.visibility = "hidden"; // until the page has answered, or a short timeout
    setTimeout(() => (main.style.visibility = ""), 500);
    send({});
  }
})();
