// BERT, from a text to its predictions, in plain JavaScript: no library, no server, no Python.
//
// Function by function this is the formal algorithm of lecture 6 (Phuong & Hutter, 2022, arXiv
// 2207.09238, Algorithm 9, ETransformer), for one text at a time. A matrix is {rows, columns,
// data}, row after row; its comment gives its shape: L tokens, D dimensions, d of a head, F of the
// feed-forward layer, V entries of the vocabulary. Numbers are stored in single precision, sums are
// computed in double precision.
"use strict";

const matrix = (rows, columns, data = new Float32Array(rows * columns)) => ({ rows, columns, data });
const row = (x, i) => x.data.subarray(i * x.columns, (i + 1) * x.columns);

// ---- From a text to ids: WordPiece (lecture 2) ----

const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
const REMOVED = /[\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const SPACE = /[\t\n\r\p{Z}]/u;
const PUNCTUATION = /[!-/:-@[-`{-~\p{P}]/u;
const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;

/** One character: control characters are removed, accents stripped, letters lower-cased. */
function normalize(character) {
  if (SPACE.test(character)) return " ";
  if (REMOVED.test(character)) return "";
  const plain = character.normalize("NFD").replace(/\p{Mn}/gu, "");
  const small = [...plain].map((letter) => letter.toLowerCase()).join("");
  return CHINESE.test(character) ? ` ${small} ` : small;
}

/** The words of a text; a punctuation mark is a separate word. */
function splitWords(text) {
  const normalized = [...text].map(normalize).join("");
  const apart = [...normalized].map((c) => (PUNCTUATION.test(c) ? ` ${c} ` : c)).join("");
  return apart.split(" ").filter((word) => word);
}

/** The longest piece of the vocabulary that fits, then the longest that fits the rest. */
function longestMatch(word, vocab, longestWord = 100) {
  const letters = [...word];
  if (letters.length > longestWord) return ["[UNK]"];
  const pieces = [];
  for (let start = 0, end; start < letters.length; start = end) {
    const pieceTo = (end) => (start ? "##" : "") + letters.slice(start, end).join("");
    for (end = letters.length; end > start && !vocab.has(pieceTo(end)); ) end -= 1;
    if (end === start) return ["[UNK]"];
    pieces.push(pieceTo(end));
  }
  return pieces;
}

/** The tokens of a text, between [CLS] and [SEP]; `[MASK]` in the text is the special token. */
function tokenize(text, vocab) {
  const parts = text.split(SPECIAL);
  const pieces = parts.flatMap((part) =>
    SPECIAL.test(part) ? [part] : splitWords(part).flatMap((word) => longestMatch(word, vocab)),
  );
  return ["[CLS]", ...pieces, "[SEP]"];
}

// ---- The pieces of the model (lectures 4 to 6) ----

/** x: [L, n], weight: [m, n], bias: [m]. Returns x weight^T + bias: [L, m].
 *
 * y[i][j] = bias[j] + dot(x[i], weight[j]). Four rows of x (a to d) meet two rows of weights (v, w)
 * at a time, so that a number is read once for two or four products, which makes it fast. */
function linear(x, { weight, bias }) {
  const [length, n, m] = [x.rows, x.columns, weight.rows];
  const y = matrix(length, m);
  const [from, by, to] = [x.data, weight.data, y.data];
  const last = length - 1; // used again where fewer than four are left
  for (let v = 0; v < m; v += 2) {
    const w = Math.min(v + 1, m - 1);
    for (let a = 0; a < length; a += 4) {
      const b = Math.min(a + 1, last), c = Math.min(a + 2, last), d = Math.min(a + 3, last);
      let av = bias[v], bv = av, cv = av, dv = av;
      let aw = bias[w], bw = aw, cw = aw, dw = aw;
      for (let k = 0; k < n; k++) {
        const one = by[v * n + k], other = by[w * n + k];
        const atA = from[a * n + k], atB = from[b * n + k];
        const atC = from[c * n + k], atD = from[d * n + k];
        av += atA * one; aw += atA * other;
        bv += atB * one; bw += atB * other;
        cv += atC * one; cw += atC * other;
        dv += atD * one; dw += atD * other;
      }
      to[a * m + v] = av; to[a * m + w] = aw;
      to[b * m + v] = bv; to[b * m + w] = bw;
      to[c * m + v] = cv; to[c * m + w] = cw;
      to[d * m + v] = dv; to[d * m + w] = dw;
    }
  }
  return y;
}

function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

/** Each row gets mean 0 and variance 1, then scale and shift (Algorithm 6). x: [L, D], changed. */
function layerNorm(x, { weight, bias }, eps) {
  for (let i = 0; i < x.rows; i++) {
    const values = row(x, i);
    const mean = values.reduce((sum, value) => sum + value, 0) / x.columns;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.columns;
    const scale = 1 / Math.sqrt(variance + eps);
    for (let k = 0; k < x.columns; k++) values[k] = (values[k] - mean) * scale * weight[k] + bias[k];
  }
  return x;
}

/** The error function, to 1.5e-7 (Abramowitz & Stegun, 1964, 7.1.26). */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}

/** x times the share of a standard normal distribution below x. Changes x. */
function gelu(x) {
  x.data.forEach((value, k) => (x.data[k] = (value * (1 + erf(value / Math.SQRT2))) / 2));
  return x;
}

/** Positive numbers that sum to 1; larger scores get larger shares. Changes scores. */
function softmax(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  let sum = 0;
  for (let k = 0; k < scores.length; k++) sum += scores[k] = Math.exp(scores[k] - most);
  for (let k = 0; k < scores.length; k++) scores[k] /= sum;
  return scores;
}

/** x: [L, D]. Returns the blended values [L, D] and each head's shares [L, L] (Algorithm 5). */
function multiHeadAttention(x, weights, heads) {
  const [length, width] = [x.rows, x.columns / heads];
  const [query, key, value] = ["query", "key", "value"].map((name) => linear(x, weights[name]));
  const blended = matrix(length, x.columns);
  const attention = [];
  for (let h = 0; h < heads; h++) {
    const part = (y, i) => row(y, i).subarray(h * width, (h + 1) * width); // of this head: [d]
    const shares = matrix(length, length);
    for (let i = 0; i < length; i++) {
      for (let j = 0; j < length; j++) {
        row(shares, i)[j] = dot(part(query, i), part(key, j)) / Math.sqrt(width);
      }
      softmax(row(shares, i)).forEach((share, j) => {
        const from = part(value, j);
        const to = part(blended, i);
        for (let k = 0; k < width; k++) to[k] += share * from[k];
      });
    }
    attention.push(shares);
  }
  return { blended: linear(blended, weights.output), attention };
}

function add(x, y) {
  return matrix(x.rows, x.columns, x.data.map((value, k) => value + y.data[k]));
}

// ---- The whole model (Algorithm 9) ----

/** Reads a text: tokens, hidden states (embeddings, then each layer) [L, D], attention by layer
 * and head [L, L], and for each [MASK] the `top` most probable tokens with their shares. */
function readText(model, text, top = 5) {
  const tokens = tokenize(text, model.vocab);
  const { longest, heads, eps } = model;
  if (tokens.length > longest) {
    throw new RangeError(`The text has ${tokens.length} tokens; the model reads at most ${longest}.`);
  }
  const ids = tokens.map((token) => model.vocab.get(token));
  const { words, positions, segments, norm } = model.embeddings;
  let x = matrix(ids.length, words.columns);
  ids.forEach((id, i) => {
    const [word, position, segment] = [row(words, id), row(positions, i), row(segments, 0)];
    row(x, i).set(word.map((value, k) => value + position[k] + segment[k]));
  });
  x = layerNorm(x, norm, eps);
  const hidden = [x];
  const attention = [];
  for (const layer of model.layers) {
    const attended = multiHeadAttention(x, layer.attention, heads);
    x = layerNorm(add(x, attended.blended), layer.attentionNorm, eps);
    x = layerNorm(add(x, linear(gelu(linear(x, layer.wide)), layer.narrow)), layer.norm, eps);
    hidden.push(x);
    attention.push(attended.attention);
  }
  return { tokens, ids, hidden, attention, guesses: guess(model, tokens, x, top) };
}

/** The vocabulary's probabilities at the [MASK]s only, best first: position, then [token, share]. */
function guess(model, tokens, x, top) {
  const places = [...tokens.keys()].filter((i) => tokens[i] === "[MASK]");
  const masked = matrix(places.length, x.columns);
  places.forEach((place, i) => row(masked, i).set(row(x, place)));
  const { transform, norm, bias } = model.predictions;
  const vectors = layerNorm(gelu(linear(masked, transform)), norm, model.eps);
  const logits = linear(vectors, { weight: model.embeddings.words, bias }); // [masks, V]
  return places.map((position, i) => {
    const shares = softmax(row(logits, i));
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, top);
    return { position, best: order.map((id) => [model.tokens[id], shares[id]]) };
  });
}

// ---- From files to the model ----

/** config: of config.json; vocab: the text of vocab.txt; weights: the bytes of model.safetensors,
 * in half precision under the names of Hugging Face (lecture 6). */
function loadBert(config, vocab, weights) {
  const read = readSafetensors(weights);
  const tokens = vocab.trimEnd().split("\n");
  const pair = (name) => ({ weight: read(`${name}.weight`), bias: read(`${name}.bias`).data });
  const norm = (name) => ({ weight: read(`${name}.weight`).data, bias: read(`${name}.bias`).data });
  const embedding = (kind) => read(`bert.embeddings.${kind}_embeddings.weight`);
  const layers = [...Array(config.num_hidden_layers).keys()].map((number) => {
    const layer = `bert.encoder.layer.${number}`;
    const own = (name) => pair(`${layer}.attention.self.${name}`);
    return {
      attention: {
        query: own("query"),
        key: own("key"),
        value: own("value"),
        output: pair(`${layer}.attention.output.dense`),
      },
      attentionNorm: norm(`${layer}.attention.output.LayerNorm`),
      wide: pair(`${layer}.intermediate.dense`),
      narrow: pair(`${layer}.output.dense`),
      norm: norm(`${layer}.output.LayerNorm`),
    };
  });
  return {
    tokens,
    vocab: new Map(tokens.map((token, id) => [token, id])),
    longest: config.max_position_embeddings,
    heads: config.num_attention_heads,
    eps: config.layer_norm_eps,
    embeddings: {
      words: embedding("word"),
      positions: embedding("position"),
      segments: embedding("token_type"),
      norm: norm("bert.embeddings.LayerNorm"),
    },
    layers,
    predictions: {
      transform: pair("cls.predictions.transform.dense"),
      norm: norm("cls.predictions.transform.LayerNorm"),
      bias: read("cls.predictions.bias").data,
    },
  };
}

/** A function from a tensor's name to the tensor: [rows, columns], or [1, n] for a vector. */
function readSafetensors(bytes) {
  const view = new DataView(bytes);
  const start = 8 + Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, start - 8)));
  const numbers = Float32Array.from({ length: 65536 }, (_, half) => fromHalf(half));
  return (name) => {
    if (header[name]?.dtype !== "F16") throw new Error(`The weights hold no ${name} in half precision.`);
    const { shape, data_offsets: [first, last] } = header[name];
    const halves = new Uint16Array(bytes.slice(start + first, start + last));
    const data = new Float32Array(halves.length);
    for (let k = 0; k < data.length; k++) data[k] = numbers[halves[k]];
    return shape.length === 2 ? matrix(...shape, data) : matrix(1, shape[0], data);
  };
}

/** The value of 16 bits: sign, 5 bits of exponent, 10 of fraction (IEEE 754). */
function fromHalf(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}
