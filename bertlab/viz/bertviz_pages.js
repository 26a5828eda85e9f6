// BertViz's scripts request d3 and jQuery from require.js. Both are already loaded: return them.
window.require = { config() {} };
window.requirejs = (names, run) => run(...names.map((name) => ({ jquery: $, d3 })[name]));

// Turn the text from Python's `pack` into nested arrays.
function unpack({ shape, characters, low, step, text }) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const valueOf = new Uint8Array(128);
  [...digits].forEach((digit, value) => (valueOf[digit.charCodeAt(0)] = value));
  let place = 0;
  const next = () => {
    let number = 0;
    for (let i = 0; i < characters; i++) number = number * 64 + valueOf[text.charCodeAt(place++)];
    return low + step * number;
  };
  const nested = ([size, ...inner]) =>
    Array.from({ length: size }, inner.length ? () => nested(inner) : next);
  return nested(shape);
}

// Give every view its own rows and columns of the numbers, selected at the first request.
function readParameters(parameters) {
  d3.schemeCategory10 = parameters.colours;
  const wholes = parameters.parts.map((part) =>
    Object.fromEntries(Object.entries(part).map(([name, packed]) => [name, unpack(packed)])),
  );
  const once = (view, name, cut) => {
    let kept;
    Object.defineProperty(view, name, { get: () => (kept ??= cut()) });
  };
  const tokens = (layers, range) => layers.map((heads) => heads.map((rows) => rows.slice(...range)));
  for (const view of parameters.attention) {
    const whole = wholes[view.part];
    once(view, "attn", () =>
      tokens(whole.attn, view.rows).map((heads) =>
        heads.map((rows) => rows.map((row) => row.slice(...view.columns))),
      ),
    );
    if (!whole.queries) continue;
    once(view, "queries", () => tokens(whole.queries, view.rows));
    once(view, "keys", () => tokens(whole.keys, view.columns));
  }
  return parameters;
}

// Half of the smallest step between two colours: a fainter line would be invisible.
const FAINTEST = 1 / 512;

// Lines from every query (left) to every key (right), one group per query: the larger the share, the
// wider and the stronger. Written as markup, 50,000 lines take a tenth of the time of single insertions.
function linesMarkup(attention, { x1, x2, top, step, share = 1, group }) {
  const middle = (i) => top + (i + 0.5) * step;
  return attention
    .map((row, query) => {
      const ends = `x1="${x1}" y1="${middle(query)}" x2="${x2}"`;
      const lines = row.map((weight, key) =>
        weight / share < FAINTEST
          ? ""
          : `<line ${ends} y2="${middle(key)}" stroke-opacity="${+(weight / share).toFixed(6)}"` +
            ` stroke-width="${(1 + 3 * weight).toFixed(1)}" left-token-index="${query}" right-token-index="${key}"/>`,
      );
      return `<g class="${group}" left-token-index="${query}">${lines.join("")}</g>`;
    })
    .join("");
}

// Below a drawing, in words and as a table, for those who cannot see its lines.
// heads: [{ name, attention }], all of the same tokens.
function sayInWords(heads, left, right) {
  const text = (tag, words) => $(`<${tag}>`).text(words);
  const said = heads.map(({ name, attention }) => text("p", habit(name, attention, left, right)));
  const table = heads.slice(0, 1).map(({ name, attention }) => {
    const rows = attention.map((row, query) => {
      const order = d3.range(row.length).sort((a, b) => row[b] - row[a]).slice(0, 3);
      const largest = order.map((key) => `${right[key]} ${percent(row[key])}`).join(", ");
      return $("<tr>").append(text("th", left[query]).attr("scope", "row"), text("td", largest));
    });
    const caption = text("caption", `${name}: the three largest shares of each token`);
    return $("<table>").append(caption, $("<tbody>").append(rows));
  });
  const summary = said.length === 1 ? said.shift().text() : "The heads in words";
  $("#words").toggle(heads.length > 0).empty().append(text("summary", summary), said, table);
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

// A head's largest habit: a place beside the token, or a token that all look at.
function habit(name, attention, left, right) {
  const means = new Map(); // of the share that each gets
  if (left.join(" ") === right.join(" ")) {
    const places = { "the token after": 1, "the token itself": 0, "the token before": -1 };
    for (const [place, step] of Object.entries(places)) {
      means.set(place, d3.mean(attention, (row, query) => row[query + step]) ?? 0);
    }
  }
  right.forEach((token, key) => {
    const place = `“${token}”`; // all its occurrences together
    means.set(place, (means.get(place) ?? 0) + d3.mean(attention, (row) => row[key]));
  });
  const [place, most] = [...means].reduce((best, next) => (next[1] > best[1] ? next : best));
  return most >= 0.3
    ? `${name} looks mostly at ${place}: ${percent(most)} of its attention on average.`
    : `${name} spreads its attention; the largest part, ${percent(most)} on average, goes to ${place}.`;
}

// One stop of the Tab key for a group of SVG elements: arrows move inside, Enter is a click and
// Shift+Enter a double click. The focused element behaves as if the mouse pointed at it.
function reachByKeyboard(elements, { columns = 1 } = {}) {
  const send = (element, type) => element.dispatchEvent(new MouseEvent(type));
  elements.forEach((element, number) => {
    element.setAttribute("tabindex", number === 0 ? 0 : -1);
    element.addEventListener("focus", () => {
      if (element.matches(":focus-visible")) send(element, "mouseover");
    });
    element.addEventListener("blur", () => {
      for (let e = element; e && e.localName !== "svg"; e = e.parentNode) send(e, "mouseleave");
    });
    element.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
      const other = elements[number + steps[event.key]];
      if (other) {
        elements.forEach((e) => e.setAttribute("tabindex", e === other ? 0 : -1));
        other.focus();
      } else if (event.key === "Enter" || event.key === " ") {
        send(element, event.shiftKey ? "dblclick" : "click");
      } else if (!(event.key in steps)) {
        return;
      }
      event.preventDefault();
    });
  });
}

// A narrow page shows the whole drawing smaller; below half its size it scrolls.
function fit() {
  const room = $("#vis").parent().width() / parseFloat($("#vis").css("min-width"));
  $("#vis").css("zoom", Math.max(0.4, Math.min(1, room)));
}
addEventListener("resize", fit);
fit();
