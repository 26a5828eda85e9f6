// Computes the formula in FACTS, which comes from parameter_calculators.py.
(() => {
  const preset = document.getElementById("preset");
  const summary = document.querySelector(".summary");
  const problem = document.querySelector(".problem");
  const table = document.querySelector(".parameters");
  const inputs = Object.keys(FACTS.inputs).map((name) => document.getElementById(name));
  const say = (number) => number.toLocaleString("en-US");

  const sizes = () => ({
    ...FACTS.sizes,
    ...Object.fromEntries(inputs.map((input) => [input.id, Number(input.value)])),
  });

  // Why these sizes are impossible for a BERT, or "" if they are possible.
  function fault(chosen) {
    for (const [name, label] of Object.entries(FACTS.inputs)) {
      const size = chosen[name];
      if (!Number.isInteger(size) || size < 1 || size > FACTS.largest)
        return `${label}: please enter a whole number from 1 to ${say(FACTS.largest)}.`;
    }
    const { d_model: width, n_heads: heads } = chosen;
    if (width % heads === 0) return "";
    const below = width - (width % heads);
    const near = below ? `${say(below)} or ${say(below + heads)}` : say(heads);
    return (
      `The ${say(heads)} heads share d_model evenly, and ${say(width)} cannot be divided by ` +
      `${say(heads)}. Try d_model = ${near}, or another number of heads.`
    );
  }

  function formula(part, chosen) {
    const products = part.shapes.map((shape) =>
      shape.map((factor) => say(chosen[factor] ?? factor)).join(" × "));
    const added = products.join(" + ");
    if (!part.in_layers) return added;
    return `${say(chosen.n_layers)} × ${products.length > 1 ? `(${added})` : added}`;
  }

  function count(part, chosen) {
    const product = (shape) => shape.reduce((all, factor) => all * (chosen[factor] ?? factor), 1);
    const one = part.shapes.reduce((sum, shape) => sum + product(shape), 0);
    return one * (part.in_layers ? chosen.n_layers : 1);
  }

  function show() {
    const chosen = sizes();
    const same = ([, values]) => Object.keys(values).every((name) => values[name] === chosen[name]);
    preset.value = (Object.entries(FACTS.presets).find(same) || [""])[0];
    const why = fault(chosen);
    problem.textContent = why;
    problem.hidden = !why;
    table.classList.toggle("stale", Boolean(why));
    if (why) {
      summary.textContent = "No such BERT.";
      return;
    }
    const numbers = FACTS.parts.map((part) => count(part, chosen));
    const add = (wanted) =>
      numbers.reduce((sum, number, i) => (wanted(FACTS.parts[i]) ? sum + number : sum), 0);
    const everything = add(() => true);
    FACTS.parts.forEach((part, i) => {
      const row = table.querySelector(`[data-part="${part.component}"]`);
      row.querySelector(".formula").textContent = formula(part, chosen);
      row.querySelector(".number").textContent = say(numbers[i]);
      row.querySelector(".bar span").style.width = `${(100 * numbers[i]) / everything}%`;
    });
    summary.textContent =
      `${say(add((part) => part.component.startsWith("bert.")))} parameters in the encoder, ` +
      `${say(everything)} with both heads; ` +
      `${say(Math.round((everything * FACTS.bytes) / 1e6))} MB in 32-bit floats`;
  }

  preset.addEventListener("change", () => {
    const values = FACTS.presets[preset.value];
    if (values) for (const input of inputs) input.value = values[input.id];
    show();
  });
  for (const input of inputs) input.addEventListener("input", show);
  show(); // after a reload, a browser may keep the numbers
})();
