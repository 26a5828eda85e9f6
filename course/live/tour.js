// The tour: a worker runs bert.js on the typed text, and each station shows a part of the result.

/** Starts one tour of the page; `room` is the element with its stations. */
function bertTour(room) {
  const find = (selector) => room.querySelector(selector);
  const [form, status, stations] = [find("form"), find("[role=status]"), find("ol")];
  const [field, button] = [find("input[name=text]"), find("button")];
  const sliders = [find("input[name=layer]"), find("input[name=head]")];
  const LONGEST = 128; // positions that the model was trained on
  let ask; // sends a message to the model
  let loading = false;
  let loaded = false;
  let busy = false;
  let started = 0;
  let answer;
  let chosen = 0; // the selected piece
  const row = (x, i) => x.data.subarray(i * x.columns, (i + 1) * x.columns); // of the model's results
  const percent = (share) => `${(100 * share).toFixed(1)} %`;

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
    say("Loading the model …");
    loading = true; // a disabled button would lose the keyboard's focus
    try {
      ask ??= start(receive); // it compiles while the weights arrive
      const files = await readFiles();
      if (adler32(new Uint8Array(files.weights)) !== +room.dataset.sum) throw new Error("the file is not whole");
      ask({ files }, [files.weights]);
      loaded = true;
      button.textContent = "Read the sentence";
      read();
    } catch (error) {
      const why = error.message ?? `${room.dataset.weights} is not there`;
      say(`The model could not be loaded: ${why}. Reload the page to try again.`);
    }
    loading = false;
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
    if (tokens.join(" ") !== answer?.tokens.join(" ")) chosen = Math.max(tokens.indexOf("[MASK]"), 0);
    answer = data.answer;
    const note = tokens.length > LONGEST ? ` It was trained on ${LONGEST} at most.` : "";
    say(`The model read ${tokens.length} pieces in ${time} ms.${note}`);
    stations.hidden = false;
    show();
  }

  function element(name, text, attributes = {}) {
    const made = Object.assign(document.createElement(name), { textContent: text });
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function show() {
    const { tokens, ids, hidden, guesses } = answer;
    find(".pieces").replaceChildren(
      ...tokens.map((token, place) => {
        const piece = element("button", token, { type: "button", "aria-pressed": place === chosen });
        piece.addEventListener("click", () => {
          chosen = place;
          show();
          find(".pieces").children[place].focus();
        });
        return piece;
      }),
    );
    find(".id").textContent = `${tokens[chosen]} is entry ${ids[chosen].toLocaleString("en")}.`;
    find(".strip").replaceChildren(strip(hidden[0], `${tokens[chosen]}, before the first layer`));
    find(".strips").replaceChildren(
      ...hidden.slice(1).map((state, layer) => strip(state, `${tokens[chosen]}, after layer ${layer}`)),
    );
    showShares();
    find(".guesses").replaceChildren(
      ...(guesses.length
        ? guesses.map(({ position, best }) => bars(`[MASK] at place ${position}`, best))
        : [element("p", "The sentence has no [MASK], so there is nothing to guess. Type one in place of a word.")]),
    );
  }

  function showShares() {
    const [layer, head] = sliders.map((slider) => +slider.value);
    for (const slider of sliders) slider.nextElementSibling.value = slider.value;
    const shares = row(answer.attention[layer][head], chosen);
    find(".caption").textContent = `What ${answer.tokens[chosen]} collects in layer ${layer}, head ${head}:`;
    find(".shares").replaceChildren(
      ...answer.tokens.map((token, k) => {
        const item = element("li", token, { style: `--share: ${shares[k].toFixed(3)}` });
        item.append(" ", element("small", percent(shares[k])));
        return item;
      }),
    );
  }

  /** A table of words and shares, with bars from 0 to 100 %. */
  function bars(caption, rows) {
    const table = element("table", "");
    const body = element("tbody", "");
    for (const [word, share] of rows) {
      const line = element("tr", "");
      const bar = element("td", "", { class: "bar" });
      bar.append(element("span", "", { style: `width:${(100 * share).toFixed(2)}%` }));
      line.append(element("th", word, { scope: "row" }), bar, element("td", percent(share)));
      body.append(line);
    }
    table.append(element("caption", caption), body);
    return table;
  }

  /** A vector as a strip of colours, and its first numbers as text. */
  function strip(state, name) {
    const vector = row(state, chosen);
    const ends = Array.from(vector.subarray(0, 3), (value) => value.toFixed(2)).join(", ");
    const figure = element("figure", "");
    const label = `${name}: ${vector.length} numbers, the first ${ends}`;
    const canvas = element("canvas", "", { width: vector.length, height: 1, role: "img", "aria-label": label });
    const pen = canvas.getContext("2d");
    vector.forEach((value, k) => {
      pen.fillStyle = value > 0 ? "#0072b2" : "#d55e00";
      pen.globalAlpha = Math.min(1, Math.abs(value) / 2);
      pen.fillRect(k, 0, 1, 1);
    });
    figure.append(canvas, element("figcaption", `${name}: ${ends}, …`));
    return figure;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (loaded) read();
    else if (!loading) load();
  });
  field.addEventListener("input", () => loaded && read());
  for (const slider of sliders) slider.addEventListener("input", showShares);
}

for (const room of document.querySelectorAll(".bert-tour:not([data-ready])")) {
  room.dataset.ready = "";
  bertTour(room);
}
