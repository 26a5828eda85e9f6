// Answers for a test: reads {what, texts} from standard input and prints JSON.
const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");

const [script, folder] = process.argv.slice(2);
runInThisContext(readFileSync(script, "utf8"));
const text = (name) => readFileSync(`${folder}/${name}`, "utf8");
const bytes = new Uint8Array(readFileSync(`${folder}/model.safetensors`)).buffer;
const model = loadBert(JSON.parse(text("config.json")), text("vocab.txt"), bytes);
const { what, texts } = JSON.parse(readFileSync(0, "utf8"));
const packed = (x) => Buffer.from(x.data.buffer, x.data.byteOffset, 4 * x.data.length).toString("base64");
const answers = {
  ids: (typed) => tokenize(typed, model.vocab).map((token) => model.vocab.get(token)),
  all: (typed) => {
    const { ids, hidden, attention, guesses } = readText(model, typed);
    return { ids, hidden: hidden.map(packed), attention: attention.flat().map(packed), guesses };
  },
};
console.log(JSON.stringify(texts.map(answers[what])));
