// The tour: a sentence that Python has read is shown at once; for a typed one a worker runs bert.js.

/** Starts one tour of the page; `room` is the element with its stations. */
function bertTour(room) {
  const find = (selector) => room.querySelector(selector);
  const [form, status, field] = [find("form"), find("[role=status]"), find("input[name=text]")];
  const [heads, pieces, slider] = [find(".heads"), find(".pieces"), find("input[name=layer]")];
  const LONGEST = 128; // positions that the model was trained on
  const MOST_IN_A_ROW = 14; // pieces; more stand below each other
  const stored = JSON.parse(find(".stored").textContent);
  let ask; // sends a message to the model
  let loading = false;
  let loaded = false;
  let busy = false;
  let started = 0;
  let answer = stored[0] && unpack(stored[0]); // as drawn
  let chosen = answer ? answer.guesses[0].position : 0; // the selected piece
  const percent = (share, digits) => `${(100 * share).toFixed(digits)} %`;

  // ---- The model, in a worker if available, else in the page ----

  function serve(port) {
    let model;
    port.onmessage = ({ data: { files, text } }) => {
      try {
        if (files) model = loadBert(files.config, files.vocab, files.weights);
        else if (model) port.postMessage({ text, answer: readText(model, text) });
      } catch (error) {
        port.postMessage({ text, refused: error.message });
      }
    };
  }

  /** Returns a function that sends a message to the model; `receive` gets the reply. */
  function start(receive) {
    const source = `${document.querySelector(".bert-js").textContent}\n(${serve})(self)`;
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([source])));
      worker.onmessage = ({ data }) => receive(data);
      worker.onerror = ({ message }) => receive({ refused: `The model stopped: ${message}` });
      return (message, moved) => worker.postMessage(message, moved);
    } catch {
      const port = { postMessage: receive };
      new Function("self", source)(port);
      return (message) => port.onmessage({ data: message });
    }
  }

  // ---- The weights ----

  async function load() {
    if (loading) return; // once: after a failure the page must be loaded again
    loading = true;
    say("Loading the model …");
    try {
      ask ??= start(receive); // it compiles while the weights arrive
      const files = await readFiles();
      if (adler32(new Uint8Array(files.weights)) !== +room.dataset.sum) throw new Error("the file is not whole");
      ask({ files }, [files.weights]);
      loaded = true;
      if (field.value === answer?.text) say("The model is here: change the sentence.");
      else read();
    } catch (error) {
      const why = error.message ?? `${room.dataset.weights} is not there`;
      say(`The model could not be loaded: ${why}. Reload the page to try again.`);
    }
  }

  /** The config, the text of the vocabulary, and the bytes of the weights. They are in the page, or
   * in a script next to it, since a page from a file cannot fetch, or on a Jupyter server, which has
   * resolved the link to them. */
  async function readFiles() {
    const link = room.parentElement.querySelector("a.weights")?.href ?? "";
    if (!window.bertlabWeights && link.includes("/files/")) {
      const [config, vocab, weights] = await Promise.all(
        ["config.json", "vocab.txt", "model.safetensors"].map((name) => fetch(new URL(name, link))),
      );
      if (!weights.ok) throw new Error(`the server says ${weights.status}`);
      return { config: await config.json(), vocab: await vocab.text(), weights: await weights.arrayBuffer() };
    }
    if (!window.bertlabWeights) await loadScript(room.dataset.weights);
    const { config, vocab, weights } = window.bertlabWeights ?? {};
    return { config, vocab, weights: fromBase64(weights ?? "").buffer };
  }

  function loadScript(address) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      Object.assign(script, { src: address, onload: resolve, onerror: reject });
      document.head.append(script);
    });
  }

  function fromBase64(text) {
    const decoded = atob(text);
    const bytes = new Uint8Array(decoded.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = decoded.charCodeAt(k);
    return bytes;
  }

  /** The checksum adler32 of zlib, which detects a truncated or changed file. */
  function adler32(bytes) {
    let a = 1, b = 0;
    for (let start = 0; start < bytes.length; start += 2048) { // so the sums stay below 2 ** 31
      const end = Math.min(start + 2048, bytes.length);
      for (let k = start; k < end; k++) {
        a += bytes[k];
        b += a;
      }
      [a, b] = [a % 65521, b % 65521];
    }
    return b * 65536 + a;
  }

  // ---- Requests and display ----

  function say(words) {
    status.textContent = words;
  }

  function read() {
    if (busy) return; // `receive` calls again if the text has changed
    busy = true;
    started = performance.now();
    ask({ text: field.value });
  }

  function receive(data) {
    const time = Math.max(1, Math.round(performance.now() - started));
    busy = false;
    if (data.text !== undefined && data.text !== field.value) read();
    if (data.refused) return say(data.refused);
    const { tokens } = data.answer;
    const long = tokens.length > LONGEST ? ` It was trained on ${LONGEST} at most.` : "";
    say(`The model read ${tokens.length} pieces in ${time} ms.${long}`);
    const note = stored.find(({ text }) => text === data.text)?.note ?? "";
    draw({ ...rounded(data.answer), text: data.text, note });
  }

  // ---- Answers in the precision in which they are shown: percent of attention, tenths of values ----

  function unpack(packed) {
    const [shares, states] = [packed.shares, packed.states].map((text) => new Int8Array(fromBase64(text).buffer));
    return { ...packed, shares, states };
  }

  function rounded({ tokens, ids, hidden, attention, guesses }) {
    const shares = joined(attention.flat(), 100);
    return { tokens, ids, guesses, shares, states: joined(hidden, 10) };
  }

  function joined(matrices, scale) {
    const all = new Int8Array(matrices.reduce((sum, { data }) => sum + data.length, 0));
    let start = 0;
    for (const { data } of matrices) {
      all.set(data.map((x) => Math.max(-127, Math.min(127, Math.round(scale * x)))), start);
      start += data.length;
    }
    return all;
  }

  /** Each head's shares of a piece in the layer: percent, one for each piece. */
  function sharesOf(place) {
    const length = answer.tokens.length;
    return Array.from({ length: +room.dataset.heads }, (_, head) => {
      const start = ((+slider.value * room.dataset.heads + head) * length + place) * length;
      return [...answer.shares.subarray(start, start + length)];
    });
  }

  /** The chosen piece's vector before the first layer and after each: tenths. */
  function statesOfChosen() {
    const layers = +slider.max + 2;
    const width = answer.states.length / layers / answer.tokens.length;
    return Array.from({ length: layers }, (_, layer) => {
      const start = (layer * answer.tokens.length + chosen) * width;
      return [...answer.states.subarray(start, start + width)];
    });
  }

  // ---- Drawing, as in stored.py ----

  const escaped = (text) => text.replace(/[&<"]/g, (letter) => `&#${letter.charCodeAt()};`);
  const each = (list, markup) => list.map(markup).join("");

  /** Draws a new sentence; the piece chosen in it is the first [MASK], or stays. */
  function draw(next) {
    const same = next.tokens.join(" ") === answer?.tokens.join(" ");
    if (!same) chosen = Math.max(next.tokens.indexOf("[MASK]"), 0);
    answer = next;
    const { tokens, ids, guesses } = answer;
    const words = tokens.map(escaped);
    heads.style.setProperty("--n", tokens.length);
    heads.parentElement.classList.toggle("long", tokens.length > MOST_IN_A_ROW);
    pieces.innerHTML = each(words, (word, place) => {
      const [said] = guesses.find(({ position }) => position === place)?.best ?? [];
      const small = said ? `<small>${escaped(said[0])} ${percent(said[1], 0)}</small>` : "";
      return `<div><button type="button">${word}</button>${small}</div>`;
    });
    find(".arcs").innerHTML = each(sharesOf(chosen), (shares) => `<div>${each(shares, () => "<i></i>")}</div>`);
    find(".note").innerHTML = answer.note;
    find(".ids").innerHTML = each(words, (word, k) => `<li>${word} <small>${ids[k]}</small></li>`);
    find(".guesses").innerHTML = guesses.length
      ? each(guesses, bars)
      : "<p>The sentence has no [MASK], so there is nothing to guess. Type one in place of a word.</p>";
    for (const button of room.querySelectorAll("[data-example]")) {
      button.setAttribute("aria-pressed", stored[button.dataset.example].text === answer.text);
    }
    for (const part of [heads.parentElement, find("ol")]) part.hidden = false;
    choose(chosen);
  }

  /** Draws what depends on the chosen piece and layer. */
  function choose(place) {
    chosen = place;
    const words = answer.tokens.map(escaped);
    const [name, layer] = [words[chosen], slider.value];
    const [first, ...later] = statesOfChosen();
    slider.nextElementSibling.value = layer;
    pieces.querySelectorAll("button").forEach((piece, k) => piece.setAttribute("aria-current", k === chosen));
    moveArcs(chosen);
    const shares = sharesOf(chosen);
    find(".reading").innerHTML = `In layer ${layer}, <b>${name}</b> collects: ${shares
      .map((row, head) => {
        const most = Math.max(...row);
        return `<span>head ${head} mostly from <b>${words[row.indexOf(most)]}</b>, ${most} %</span>`;
      })
      .join("; ")}.`;
    find(".shares").innerHTML = `<caption>What ${name} collects in layer ${layer}</caption><thead><tr><td></td>${each(
      shares,
      (row, head) => `<th scope="col">head ${head}</th>`,
    )}</tr></thead><tbody>${each(
      words,
      (word, k) =>
        `<tr><th scope="row">${word}</th>${each(shares, (row) => `<td style="--share: ${row[k]}">${row[k]} %</td>`)}</tr>`,
    )}</tbody>`;
    find(".strip").innerHTML = strip(first, `${name}, before the first layer`);
    find(".strips").innerHTML = each(later, (state, k) => strip(state, `${name}, after layer ${k}`));
  }

  /** The arcs of a piece; their style sheet moves them there. */
  function moveArcs(place) {
    heads.style.setProperty("--from", place);
    sharesOf(place).forEach((row, head) => {
      const arcs = find(".arcs").children[head].children;
      row.forEach((share, k) => (arcs[k].style.cssText = `--to: ${k}; --share: ${share}`));
    });
  }

  /** A table of words and probabilities, with bars from 0 to 100 %. */
  function bars({ position, best }) {
    const rows = each(
      best,
      ([word, share]) =>
        `<tr><th scope="row">${escaped(word)}</th><td class="bar"><span style="width: ${(100 * share).toFixed(1)}%">` +
        `</span></td><td>${percent(share, 1)}</td></tr>`,
    );
    return `<table><caption>[MASK] at place ${position}</caption><tbody>${rows}</tbody></table>`;
  }

  /** A vector as bars, up if positive and down if negative, and its first numbers as text. */
  function strip(state, name) {
    const ends = state.slice(0, 3).map((value) => (value / 10).toFixed(1)).join(", ");
    const path = (sign) => each(state, (value, k) => (sign * value > 0 ? `M${k}.5 0v${-value}` : ""));
    return (
      `<figure><svg viewBox="0 -20 ${state.length} 40" preserveAspectRatio="none" role="img" ` +
      `aria-label="${name}: ${state.length} numbers, the first ${ends}">` +
      `<path d="${path(1)}"/><path d="${path(-1)}"/></svg><figcaption>${name}: ${ends}, …</figcaption></figure>`
    );
  }

  // ---- What the reader does ----

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (loaded) read();
    else load();
  });
  field.addEventListener("input", () => (loaded ? read() : load()));
  slider.addEventListener("input", () => choose(chosen));
  for (const kind of ["pointerover", "focusin", "click"]) {
    pieces.addEventListener(kind, ({ target }) => {
      const place = [...pieces.children].indexOf(target.closest(".pieces > div"));
      stopWalk();
      if (place >= 0 && place !== chosen) choose(place);
    });
  }
  find(".examples").addEventListener("click", ({ target }) => {
    const example = stored[target.dataset.example];
    if (!example) return;
    stopWalk();
    field.value = example.text;
    draw(unpack(example));
  });
  room.closest("details")?.addEventListener("toggle", load);
  if (stored.length) addEventListener("scroll", loadInView, { passive: true });

  /** Loads the model when the box is scrolled to, unless the reader saves data. */
  function loadInView() {
    if (navigator.connection?.saveData || form.getBoundingClientRect().top > innerHeight / 2) return;
    removeEventListener("scroll", loadInView);
    load();
  }

  // The arcs walk once through the sentence, for at most five seconds, to the chosen piece.
  let walking = answer && !matchMedia("(prefers-reduced-motion: reduce)").matches ? setInterval(walk, 450) : 0;
  let at = 0;

  function walk() {
    if (at >= chosen) stopWalk();
    else moveArcs(at++);
  }

  function stopWalk() {
    if (walking) moveArcs(chosen);
    clearInterval(walking);
    walking = 0;
  }
}

for (const room of document.querySelectorAll(".bert-tour:not([data-ready])")) {
  room.dataset.ready = "";
  bertTour(room);
}
