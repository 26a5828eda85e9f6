// Shared by the frames with heat maps: the numbers of all heads, the visible part of one, the table.
// FACTS comes from head_choosers.py.

// What can be shown for a probability, with the cell's chance level. kind: the colours' class.
const MEASURES = {
  probability: {
    kind: "v",
    caption: "Percent",
    show: (probability) => probability,
    place: (value) => value,
    short: (value) => Math.round(100 * value),
    say: (value) => `${(100 * value).toFixed(1)} %`,
  },
  chance: {
    kind: "d",
    caption: "Times chance",
    show: (probability, chance) => probability / chance,
    place: (value) => 0.5 + Math.log2(value) / (2 * FACTS.octaves),
    short: (value) => (value < 9.95 ? value.toFixed(1) : Math.round(value)),
    say: (value) => `${value.toFixed(2)} times chance`,
  },
  key: {
    kind: "d",
    caption: "Times the key's mean",
    show: (probability, _, mean) => probability / mean,
    place: (value) => 0.5 + Math.log2(value) / (2 * FACTS.octaves),
    short: (value) => (value < 9.95 ? value.toFixed(1) : Math.round(value)),
    say: (value) => `${value.toFixed(2)} times this key's mean`,
  },
};

// All probabilities in one array, [n_layers, H, L, L], transferred as 16-bit square roots.
const unpack = (packed) => {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return Float64Array.from(new Uint16Array(bytes.buffer), (root) => (root / 65535) ** 2);
};

// One head without the hidden tokens. rows[i][j]: the probability, rows normalised to sum to 1;
// null if the query cannot see the key, or has no attention left. lost: the mean share of the
// hidden tokens.
function seenOfHead(values, layer, head, hidden = new Set()) {
  const length = FACTS.tokens.length;
  const start = (layer * FACTS.n_heads + head) * length * length;
  const places = [...FACTS.tokens.keys()].filter((place) => !hidden.has(FACTS.tokens[place]));
  const visible = (query) => places.filter((key) => !FACTS.causal || key <= query);
  let lost = 0;
  const rows = places.map((query) => {
    const row = values.subarray(start + query * length, start + (query + 1) * length);
    const all = row.reduce((sum, value) => sum + value, 0);
    const left = visible(query).reduce((sum, key) => sum + row[key], 0);
    lost += (all - left) / all / places.length;
    return places.map((key) =>
      (FACTS.causal && key > query) || left < 1e-9 ? null : row[key] / left);
  });
  return { places, names: places.map((place) => FACTS.tokens[place]), rows, lost };
}

// The values of a measure for a head's probabilities.
function measured(rows, measure) {
  const given = (numbers) => numbers.filter((number) => number !== null);
  const means = rows.map((_, key) => {
    const column = given(rows.map((row) => row[key]));
    return column.reduce((sum, value) => sum + value, 0) / column.length;
  });
  return rows.map((row) => {
    const chance = 1 / given(row).length;
    return row.map((value, key) =>
      value === null ? null : measure.show(value, chance, means[key]) || 0); // 0 / 0 is 0 here
  });
}

// Fill the table of `box` (.map); `reading` shows the cell under the pointer.
function drawTable(box, reading, names, values, measure) {
  const make = (tag, text = "", attributes = {}) =>
    Object.assign(document.createElement(tag), { textContent: text }, attributes);
  const many = names.length > FACTS.numbersUpTo;
  const size = !many ? "numbers" : names.length <= FACTS.smallUpTo ? "small" : "tiny";
  const table = make("table", "", { className: `heat ${size}`, tabIndex: 0 });
  const axes = `${measure.caption}. Row: query token (attends). Column: key token (is attended to).`;
  table.setAttribute("aria-label", axes);
  const top = document.createElement("tr");
  top.append(make("td"), ...names.map((name) => {
    const head = make("th", "", { scope: "col" });
    head.append(make("span", name));
    return head;
  }));
  table.createTHead().append(top);
  const body = table.createTBody();
  values.forEach((row, query) => {
    const line = body.insertRow();
    line.append(make("th", names[query], { scope: "row" }), ...row.map((value) => {
      if (value === null) return make("td", many ? "" : "–", { className: "none" });
      const place = Math.min(1, Math.max(0, measure.place(value)));
      const colour = `${measure.kind}${Math.round(100 * place)}`;
      return make("td", many ? "" : measure.short(value), { className: colour });
    }));
  });

  const at = (query, key) => body.rows[query].cells[key + 1];
  function point(query, key) {
    for (const lit of table.querySelectorAll(".lit, .here")) lit.classList.remove("lit", "here");
    box.here = [query, key]; // the cell in `reading`, also after another head is drawn
    at(query, key).classList.add("here");
    body.rows[query].cells[0].classList.add("lit");
    top.cells[key + 1].classList.add("lit");
    const value = values[query][key];
    const said = value === null ? "nothing to give" : measure.say(value);
    reading.textContent = `${names[query]} → ${names[key]}: ${said}`;
  }
  table.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("tbody td");
    if (cell) point(cell.parentElement.sectionRowIndex, cell.cellIndex - 1);
  });
  table.addEventListener("focus", () => point(...(box.here || [0, 0])));
  table.addEventListener("keydown", (event) => {
    const [down, right] = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    }[event.key] || [];
    if (down === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = names.length - 1;
    const keep = (number) => Math.min(last, Math.max(0, number));
    point(keep(box.here[0] + down), keep(box.here[1] + right));
    event.preventDefault();
    event.stopPropagation(); // the frame's own arrow keys choose another head
  });

  const focused = box.contains(document.activeElement);
  if (box.names !== names.join()) box.here = null;
  box.names = names.join();
  box.replaceChildren(make("p", axes, { className: "axes" }), table);
  reading.textContent = READING;
  if (box.here) point(...box.here);
  if (focused) table.focus();
}

const READING =
  "Point at a cell to read it, or go to the table with the Tab key and move with the arrow keys.";
