// At the end of BertViz's script; a function marked "again" replaces BertViz's. Here: colours of the
// page's theme, a keyboard, a token that stays selected after a click, readable numbers, and lines
// only for the selected token.

function initialize() { // again
  config.attention = params["attention"];
  config.filter = params["default_filter"];
  const { attn, queries } = config.attention[config.filter];
  config.nLayers = attn.length;
  config.nHeads = attn[0].length;
  config.vectorSize = queries[0][0][0].length;
  config.initialTextLength = Math.max(
    ...config.attention.flatMap((view) => [view.left_text.length, view.right_text.length]),
  );
  config.expanded = true;
  Object.defineProperty(config, "bidirectional", {
    get: () => config.attention[config.filter].bidirectional,
  });
  config.layer = params["layer"];
  config.head = params["head"];
  config.rootDivId = params["root_div_id"];
  const choose = (menu, names, chosen, choice) => {
    names.forEach((name, place) => $(menu).append($("<option>").val(place).text(name)));
    $(menu).val(chosen).on("change", (event) => {
      config[choice] = +event.currentTarget.value;
      render();
    });
  };
  choose("#layer", params["include_layers"], config.layer, "layer");
  choose("#att_head", params["include_heads"], config.head, "head");
  $("#filter").on("change", (event) => {
    config.filter = event.currentTarget.value;
    render();
  });
  $("#expand").on("click", () => {
    config.expanded = !config.expanded;
    (config.expanded ? showExpanded : showCollapsed)();
  });
  $("#vis").on("mouseover", (event) => $("#reading").text(reading(event.target)));
}

function getColor(name) { // again
  return `var(--neuron-${name})`;
}

function showCollapsed() { // again
  bertviz_showCollapsed();
  $("#expand").text("Show queries and keys");
}

function showExpanded() { // again
  bertviz_showExpanded();
  $("#expand").text("Show attention only");
}

function renderHeadingsExpanded(svg, ...places) { // again
  bertviz_renderHeadingsExpanded(svg, ...places);
  const headings = svg.selectAll("#heading text").nodes();
  const move = (heading, by) => heading.setAttribute("x", +heading.getAttribute("x") + by);
  move(headings[2], -22);
  move(headings[3], -24);
  headings[3].lastChild.textContent = " ∙ k / √d"; // the box shows the score
}

function renderText(svg, text, id, leftPos, expanded) { // again
  bertviz_renderText(svg, text, id, leftPos, expanded);
  if (id === "leftText") reachByKeyboard(svg.select("#leftText").selectAll("g").nodes());
}

function hideComputation(svg) { // again
  const focused = document.activeElement.closest("#leftText > g");
  const tokens = svg.select("#leftText").selectAll("g").nodes();
  if (tokens.includes(focused)) {
    highlightSelection(svg, tokens.indexOf(focused));
    showComputation(svg, tokens.indexOf(focused));
  } else {
    bertviz_hideComputation(svg);
  }
}

function showComputation(svg, query) { // again
  svg.selectAll(`[source-index="${query}"]`).each(function () {
    if (this.write) this.innerHTML = this.write();
    this.write = null;
  });
  bertviz_showComputation(svg, query);
}

function renderAttn(svg, start, end) { // again
  const view = config.attention[config.filter];
  const attention = view.attn[config.layer][config.head];
  const name = `Head ${params["include_layers"][config.layer]}.${params["include_heads"][config.head]}`;
  sayInWords([{ name, attention }], view.left_text, view.right_text);
  svg
    .append("g")
    .attr("stroke", getColor("attn"))
    .html(
      linesMarkup(attention, {
        x1: start,
        x2: end,
        top: HEADING_HEIGHT,
        step: BOXHEIGHT,
        group: "attn-line-group",
      }),
    );
}

function renderHorizLines(svg, id, start, end) { // again
  writeWhenSelected(svg, id, "horiz-line-group", (query, key) => {
    const y = key * BOXHEIGHT + HEADING_HEIGHT + BOXHEIGHT / 2;
    return `<line x1="${start}" y1="${y}" x2="${end}" y2="${y}"`;
  });
}

function renderQueryKeyLines(svg, start, end) { // again
  writeWhenSelected(svg, "query-key-lines", "qk-line-group", (query, key) => {
    const [y1, y2] = [query, key].map((i) => i * BOXHEIGHT + HEADING_HEIGHT + BOXHEIGHT / 2);
    return `<path fill="none" d="M${start},${y1}H${(start + end) / 2 + 1}V${y2}H${end}"`;
  });
}

function renderVectorHighlights(svg, id, start) { // again
  writeWhenSelected(svg, id, "vector-highlight-group", (query, key) => {
    const y = key * BOXHEIGHT + HEADING_HEIGHT;
    const size = `height="${BOXHEIGHT - 5}" width="${MATRIX_WIDTH + 3}"`;
    return `<rect fill="none" x="${start - 1}" y="${y}" ${size}`;
  });
}

// One group per query, empty until it is selected; `shape` begins the markup of one key's shape.
function writeWhenSelected(svg, id, name, shape) {
  svg
    .append("g")
    .attr("id", id)
    .attr("stroke", getColor("connector"))
    .attr("stroke-width", 2)
    .selectAll("g")
    .data(config.attention[config.filter].attn[config.layer][config.head])
    .enter()
    .append("g")
    .classed(name, true)
    .style("opacity", 0)
    .attr("source-index", (row, query) => query)
    .each(function (row, query) {
      this.write = () =>
        row
          .map((weight, key) => [shape(query, key), Math.tanh(1.8 * weight)])
          .map(([start, opacity]) => `${start} stroke-opacity="${opacity}"/>`)
          .join("");
    });
}

function renderVectors(svg, id, vectors, left) { // again
  const width = MATRIX_WIDTH / config.vectorSize;
  const markup = vectors.map((vector, token) => {
    const y = token * BOXHEIGHT + HEADING_HEIGHT;
    const border = `x="${left - 1}" y="${y}" width="${MATRIX_WIDTH + 2}" height="${BOXHEIGHT - 6}"`;
    const elements = vector.map(
      (value, i) =>
        `<rect class="element" x="${left + i * width}" y="${y}" width="${width}" rx="0.7"` +
        ` height="${BOXHEIGHT - 6}" data-value="${+value.toPrecision(6)}"` +
        ` style="fill:${getColor(value >= 0 ? "pos" : "neg")};` +
        `opacity:${Math.tanh(Math.abs(value) / 4)}"/>`,
    );
    return (
      `<g class="vector" data-index="${token}"><rect class="vectorborder" ${border} rx="1"` +
      ` style="fill-opacity:0;stroke:${getColor("vector_border")}"/>${elements.join("")}</g>`
    );
  });
  svg
    .append("g")
    .attr("id", id)
    .style("opacity", id === "product" ? 0 : 1)
    .html(`<g>${markup.join("")}</g>`);
}

// The number under the mouse, in words.
function reading(target) {
  const value = target.dataset.value;
  if (value === undefined) return "";
  const { left_text, right_text, attn } = config.attention[config.filter];
  const round = (number) => (+number).toPrecision(3);
  if (target.matches(".dotproduct")) {
    const key = [...target.parentNode.children].indexOf(target);
    const weight = attn[config.layer][config.head][config.index ?? focusedQuery()]?.[key];
    return `q · k / √d with “${right_text[key]}”: ${round(value)}; after the softmax: ${round(weight)}`;
  }
  const vector = target.parentNode;
  const token = vector.dataset.index;
  const dimension = [...vector.querySelectorAll(".element")].indexOf(target);
  const kind = vector.parentNode.parentNode.id;
  const words = {
    queries: `query of “${left_text[token]}”`,
    keys: `key of “${right_text[token]}”`,
    product: `query × key of “${right_text[token]}”`,
  };
  return `${words[kind]}, dimension ${dimension}: ${round(value)}`;
}

function focusedQuery() {
  const focused = document.activeElement.closest("#leftText > g");
  return focused ? [...focused.parentNode.children].indexOf(focused) : null;
}
