// At the end of BertViz's script; a function marked "again" replaces BertViz's. A model has 500,000
// lines and more: the thumbnails are painted on canvases, some at a time, so that the page remains
// responsive. An opened one is drawn with lines.

function initialize() { // again
  config.attention = params["attention"];
  config.filter = params["default_filter"];
  config.layers = params["include_layers"];
  config.heads = params["include_heads"];
  config.totalHeads = params["columns"];
  config.rootDivId = params["root_div_id"];
  Object.defineProperty(config, "thumbnailBoxHeight", {
    get: () => {
      const longest = Math.max(config.leftText.length, config.rightText.length);
      return Math.min(84 / config.totalHeads, params["thumbnail_height"] / longest);
    },
    set: () => {}, // BertViz's own height ignores the number of tokens
  });
  config.waiting = []; // thumbnails not painted yet
  $(`#${config.rootDivId} #filter`).on("change", (event) => {
    config.filter = event.currentTarget.value;
    render();
  });
}

function renderThumbnailAttn(x, y, attention, layer, head) { // again
  const first = layer === 0 && head === 0;
  if (first) startOver();
  const box = config.svg
    .append("rect")
    .attr("x", x)
    .attr("y", y)
    .attr("height", config.thumbnailHeight)
    .attr("width", config.thumbnailWidth)
    .attr("fill", "transparent")
    .attr("stroke", getLayerColor(layer))
    .attr("stroke-width", 2)
    .attr("stroke-opacity", 0)
    .attr("role", "button")
    .attr("aria-expanded", false)
    .attr("aria-label", `Layer ${config.layers[layer]}, head ${config.heads[head]}`);
  box.on("click", () => toggleDetail(box, attention, layer, head));
  config.boxes.push(box.node());

  const canvas = document.createElement("canvas");
  canvas.dataset.layer = config.layers[layer];
  canvas.dataset.head = config.heads[head];
  canvas.style.left = `${x}px`;
  canvas.style.top = `${y}px`;
  config.svg.node().before(canvas);
  config.waiting.push(() => paint(canvas, attention, getLayerColor(layer)));
  if (first) setTimeout(paintWaiting);
  if (config.boxes.length === config.numLayers * config.numHeads) {
    reachByKeyboard(config.boxes, { columns: config.numHeads });
  }
}

function startOver() {
  config.waiting.length = 0;
  config.boxes = [];
  config.opened = null;
  sayInWords([], [], []);
}

function paintWaiting() {
  const stop = performance.now() + 40;
  while (config.waiting.length && performance.now() < stop) config.waiting.shift()();
  if (config.waiting.length) setTimeout(paintWaiting);
}

// All lines of a head at once. They have one colour, so a pixel under lines of opacity p, q, ... has
// the opacity 1 - (1 - p)(1 - q)...: sum log(1 - p). In a column of pixels a line is an interval:
// record the change of the sum at its start and end; a running sum of the changes gives the sums.
function paint(canvas, attention, colour) {
  const sharpness = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.ceil(config.thumbnailWidth * sharpness);
  const height = Math.ceil(config.thumbnailHeight * sharpness);
  const [left, right] = [THUMBNAIL_PADDING * sharpness, width - 9 * sharpness];
  const step = config.thumbnailBoxHeight;
  const middle = (i) => (THUMBNAIL_PADDING + (i + 0.5) * step) * sharpness;
  const changes = new Float32Array(width * (height + 2)); // column by column
  const change = (start, y, amount) => {
    const row = Math.floor(y);
    changes[start + row] += amount * (row + 1 - y); // part of a pixel
    changes[start + row + 1] += amount * (y - row);
  };
  attention.forEach((row, query) =>
    row.forEach((weight, key) => {
      if (weight < FAINTEST) return;
      const amount = Math.log(1 - Math.min(weight, 0.999));
      const start = middle(query);
      const slope = (middle(key) - start) / (right - left);
      const half = 1.1 * sharpness * Math.hypot(1, slope); // of a line 2.2 pixels wide
      for (let x = Math.round(left); x < right; x++) {
        const y = start + slope * (x + 0.5 - left);
        change(x * (height + 2), Math.max(y - half, 0), amount);
        change(x * (height + 2), Math.min(y + half, height), -amount);
      }
    }),
  );
  const image = new ImageData(width, height);
  const { data } = image;
  const { r, g, b } = d3.rgb(colour);
  for (let x = 0; x < width; x++) {
    for (let y = 0, sum = 0; y < height; y++) {
      sum += changes[x * (height + 2) + y];
      const pixel = 4 * (y * width + x);
      data[pixel] = r;
      data[pixel + 1] = g;
      data[pixel + 2] = b;
      data[pixel + 3] = 255 * (1 - Math.exp(sum));
    }
  }
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / sharpness}px`;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function toggleDetail(box, attention, layer, head) {
  config.svg.selectAll(".detail").remove();
  config.svg
    .selectAll("[role=button]")
    .attr("stroke-opacity", 0)
    .attr("fill", "transparent")
    .attr("aria-expanded", false);
  const opens = config.opened !== box;
  config.opened = opens ? box : null;
  const name = `Head ${config.layers[layer]}.${config.heads[head]}`;
  sayInWords(opens ? [{ name, attention }] : [], config.leftText, config.rightText);
  if (!opens) return;
  box
    .attr("stroke-opacity", 0.8)
    .attr("fill", "rgb(128 128 128 / 0.15)")
    .attr("aria-expanded", true);
  renderDetail(attention, layer, head);
  reachByKeyboard(config.svg.select("g.detail").selectAll("g").nodes()); // the query tokens
}

function renderDetailAttn(x, y, attention, layer) { // again
  config.svg
    .append("g")
    .classed("detail", true)
    .attr("pointer-events", "none")
    .attr("stroke", getLayerColor(layer))
    .html(
      linesMarkup(attention, {
        x1: x,
        x2: x + DETAIL_ATTENTION_WIDTH,
        top: y,
        step: DETAIL_BOX_HEIGHT,
        group: "attn-line-group",
      }),
    );
}

function getLayerColor(layer) { // again
  return LAYER_COLORS[config.layers[layer] % LAYER_COLORS.length];
}

function getTextColor() { // again
  return "var(--ink)";
}

function getBackgroundColor() { // again
  return "var(--paper)";
}
