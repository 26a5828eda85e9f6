// Questions of earlier lectures: three of them, first those that this reader did not know. A blank
// of an earlier lecture is among them if it was missed there; its page kept the answer.
const BLANK = "bertlab blank_"; // and its number: what was typed, and if it was missed [label, answer]
const STORE = "bertlab earlier"; // key -> [times known in a row, day of the answer, rank before it]
const [MISSED, DUE, NEW, KNOWN] = [0, 1, 2, 3]; // ranks; a question known n times rests 2^n days
const today = Math.floor(Date.now() / 864e5);

function record(key) {
  const kept = stored((store) => JSON.parse(store.getItem(key)));
  return kept && typeof kept === "object" ? kept : {};
}
const answers = () => record(STORE);

// The labels of blanks that were missed, each with its answer.
function missed() {
  const keys = stored((store) => Object.keys(store)) ?? [];
  const found = keys.filter((key) => key.startsWith(BLANK)).map((key) => record(key).missed);
  return new Map(found.filter((pair) => pair?.length === 2));
}

function rank({ key, label }) {
  const [times, day, before] = [answers()[key]].flat();
  if (!Number.isFinite(times)) return label ? MISSED : NEW;
  if (day === today) return before; // it stays where it was asked
  return times === 0 ? MISSED : today >= day + 2 ** times ? DUE : KNOWN;
}

// Three, of at least two lectures.
function choose(folds) {
  const inOrder = folds
    .map((fold, place) => ({ fold, place, rank: rank(fold.dataset) }))
    .sort((one, other) => one.rank - other.rank || one.place - other.place)
    .map(({ fold }) => fold);
  const lecture = ({ dataset }) => dataset.key.split(" ")[0];
  const chosen = inOrder.slice(0, ASKED - 1);
  const rest = inOrder.slice(ASKED - 1);
  const other = rest.find((fold) => chosen.some((one) => lecture(one) !== lecture(fold)));
  return [...chosen, other ?? rest[0]];
}

function addButtons(fold) {
  const row = document.createElement("p");
  const { key } = fold.dataset;
  const press = (button, pressed) => {
    button.ariaPressed = String(pressed);
    button.textContent = `${pressed ? "✓ " : ""}${button.name}`;
  };
  const buttons = [["I knew it", true], ["Not yet", false]].map(([label, knew]) => {
    const button = document.createElement("button");
    button.name = label;
    press(button, false);
    button.addEventListener("click", () => {
      const all = answers();
      const [times = 0, day, before] = [all[key]].flat();
      const earlier = day === today ? before : rank(fold.dataset);
      const known = day === today ? Math.max(times - 1, 0) : times; // a changed mind counts once
      all[key] = [knew ? known + 1 : 0, today, earlier];
      keep(STORE, JSON.stringify(all));
      for (const one of buttons) press(one, one === button);
    });
    return button;
  });
  row.append("Did you know it? ", buttons[0], " ", buttons[1]);
  fold.append(row);
}

for (const box of document.querySelectorAll(".bertlab-earlier:not([data-ready])")) {
  box.dataset.ready = "";
  const again = missed();
  for (const turn of box.querySelectorAll("details[data-label]")) {
    if (!again.has(turn.dataset.label)) turn.remove();
    else turn.querySelector(".answer").textContent = again.get(turn.dataset.label);
  }
  const folds = [...box.querySelectorAll("details")];
  const chosen = choose(folds);
  for (const fold of folds) fold.hidden = !chosen.includes(fold);
  box.append(...chosen); // in the order of their rank
  folds.forEach(addButtons);
}
