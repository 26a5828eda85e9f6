// At the end of BertViz's script; a function marked "again" replaces BertViz's. Here: the lines of
// the heads that are switched on, and squares that work with a keyboard.

function renderAttention(svg, attention) { // again
  const group = svg.append("g").attr("id", "attention");
  group
    .selectAll(".headAttention")
    .data(attention)
    .enter()
    .append("g")
    .classed("headAttention", true)
    .attr("head-index", (d, head) => head)
    .attr("stroke", (d, head) => headColors(head));
  updateAttention(svg);
}

function updateAttention(svg) { // again
  const share = activeHeads();
  const lines = { x1: BOXWIDTH, x2: BOXWIDTH + MATRIX_WIDTH, top: TEXT_TOP, step: BOXHEIGHT };
  svg.selectAll(".headAttention").each(function (attention, head) {
    const drawn = { ...lines, share, group: "tokenAttention" };
    this.innerHTML = config.headVis[head] ? linesMarkup(attention, drawn) : "";
  });
  const view = config.attention[config.filter];
  const named = view.attn[config.layer_seq].map((attention, head) => {
    return { name: `Head ${config.layer}.${head}`, attention };
  });
  sayInWords(named.filter((_, head) => config.headVis[head]), view.left_text, view.right_text);
}

function drawCheckboxes(top, svg) { // again
  const squares = svg
    .append("g")
    .attr("role", "group")
    .attr("aria-label", "Heads")
    .selectAll("rect")
    .data(config.headVis)
    .enter()
    .append("rect")
    .attr("x", (d, head) => head * CHECKBOX_SIZE)
    .attr("y", top)
    .attr("width", CHECKBOX_SIZE)
    .attr("height", CHECKBOX_SIZE)
    .attr("role", "checkbox")
    .attr("aria-label", (d, head) => `Head ${head}`);
  const show = (visible) => {
    const count = visible.filter(Boolean).length;
    const most = params["most_heads"];
    $("#too-many").text(count > most ? `For so many tokens at most ${most} at a time.` : "");
    if (count === 0 || count > most) return;
    config.headVis = visible;
    paint();
    updateAttention(svg);
  };
  const paint = () =>
    squares
      .data(config.headVis)
      .attr("aria-checked", (on) => on)
      .attr("fill", (on, head) => headColors(head))
      .attr("fill-opacity", (on) => (on ? 1 : 0.3));
  squares.on("click", (d, head) =>
    show(config.headVis.map((on, other) => (other === head ? !on : on))),
  );
  squares.on("dblclick", (d, head) => {
    const alone = config.headVis[head] && activeHeads() === 1;
    show(config.headVis.map((on, other) => alone || other === head));
  });
  paint();
  reachByKeyboard(squares.nodes());
  for (const side of ["#left", "#right"]) {
    const texts = svg.selectAll(`${side} text`).nodes();
    reachByKeyboard(texts.map((text) => text.parentNode));
  }
}
