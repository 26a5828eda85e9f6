// Questions of earlier lectures: three of them, first those that this reader did not know.
const STORE = "bertlab earlier"; // key -> [times known in a row, day of the answer, rank before it]
const [MISSED, DUE, NEW, KNOWN] = [0, 1, 2, 3]; // ranks; a question known n times rests 2^n days
const today = Math.floor(Date.now() / 864e5);

// Some browsers refuse storage, as for a file or in a private window: then nothing is kept.
function stored(use) {
  try {
    return use(window.localStorage);
  } catch {
    return null;
  }
}

function answers() {
  const kept = stored((store) => JSON.parse(store.getItem(STORE)));
  return kept && typeof kept === "object" ? kept : {};
}

function rank(key) {
  const [times, day, before] = [answers()[key]].flat();
  if (!Number.isFinite(times)) return NEW;
  if (day === today) return before; // it stays where it was asked
  return times === 0 ? MISSED : today >= day + 2 ** times ? DUE : KNOWN;
}

// Three, of at least two lectures.
function choose(folds) {
  const inOrder = folds
    .map((fold, place) => ({ fold, place, rank: rank(fold.dataset.key) }))
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
      const earlier = day === today ? before : rank(key);
      const known = day === today ? Math.max(times - 1, 0) : times; // a changed mind counts once
      all[key] = [knew ? known + 1 : 0, today, earlier];
      stored((store) => store.setItem(STORE, JSON.stringify(all)));
      for (const one of buttons) press(one, one === button);
    });
    return button;
  });
  row.append("Did you know it? ", buttons[0], " ", buttons[1]);
  fold.append(row);
}

for (const box of document.querySelectorAll(".bertlab-earlier:not([data-ready])")) {
  box.dataset.ready = "";
  const folds = [...box.querySelectorAll("details")];
  const chosen = choose(folds);
  for (const fold of folds) fold.hidden = !chosen.includes(fold);
  box.append(...chosen); // in the order of their rank
  folds.forEach(addButtons);
}
