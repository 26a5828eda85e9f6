// A blank: reads what was typed, says at once whether it is right, and keeps it in this browser.
(() => {
  const box = document.querySelector("input");
  const said = document.querySelector("[role=status]");
  const fold = document.querySelector("details");
  const bytes = Uint8Array.from(atob(FACTS.answer), (letter) => letter.charCodeAt());
  const { answer, shown, within } = JSON.parse(new TextDecoder().decode(bytes));
  const inPercent = /percent|%/.test(FACTS.label);

  // A number with a decimal point or with a decimal comma; groups of thousands have another mark.
  const WRITTEN = [[".", ","], [",", "."]].map(([point, group]) => {
    const thousands = `[1-9]\\d{0,2}([\\${group}'’_\\s])\\d{3}(?:\\2\\d{3})*`;
    return new RegExp(`^(\\d*|${thousands})(?:\\${point}(\\d+))?(e[+-]?\\d+)?$`, "i");
  });
  const NUMBER = /^(?:\d(?:[,.'’_\s]?\d)*|[.,]\d+)(?:e[+-]?\d+)?/i;

  // The value of numbers joined by + - * / ^ and brackets; NaN if the text is something else.
  function value(text, written) {
    let rest = text.trim();
    const take = (pattern) => {
      const found = rest.match(pattern)?.[0] ?? "";
      rest = rest.slice(found.length).trimStart();
      return found;
    };
    function single() {
      if (take(/^[-−–]/)) return -single();
      let number;
      if (take(/^\(/)) {
        number = sum();
        if (!take(/^\)/)) return NaN;
      } else {
        const [found, whole, , part = "0", power = ""] = take(NUMBER).match(written) ?? [];
        number = found ? Number(`${whole.replace(/\D/g, "")}.${part}${power}`) : NaN;
      }
      if (take(/^%/) && !inPercent) number /= 100;
      return take(/^(\^|\*\*)/) ? number ** single() : number;
    }
    function product() {
      let number = single();
      for (;;) {
        if (take(/^[*×·x](?!\*)/i)) number *= single();
        else if (take(/^[/÷:]/)) number /= single();
        else return number;
      }
    }
    function sum() {
      let number = product();
      for (;;) {
        if (take(/^\+/)) number += product();
        else if (take(/^[-−–]/)) number -= product();
        else return number;
      }
    }
    const number = sum();
    return rest ? NaN : number;
  }

  // Every way to read a text as a number, that of these pages first: 1,234 is 1234, or 1.234.
  function readings(typed) {
    const shown = FACTS.label.match(/\p{L}{2,}/gu) ?? []; // such as a unit, which may be typed, too
    const words = new RegExp(`(?<!\\p{L})(?:${["about", ...shown].join("|")})(?!\\p{L})`, "giu");
    const bare = typed.replace(/per ?cent/gi, "%").replace(words, " ");
    const text = bare.replace(/^[\s≈~=]+|[\s.]+$/g, "");
    const found = WRITTEN.map((written) => value(text, written));
    return [...new Set(found.filter(Number.isFinite))];
  }

  function side(number) {
    const most = within * Math.max(Math.abs(number), Math.abs(answer));
    if (Math.abs(number - answer) <= Math.max(most, 1e-9)) return "right";
    return number > answer ? "high" : "low";
  }

  function ofNumber(typed) {
    const say = (number) => String(Number(number.toPrecision(6)));
    const [first, other = first] = readings(typed);
    if (first === undefined)
      return `A number is asked for; it may be a fraction, a product or have a %. “${typed}” is none.`;
    if (side(first) === "right") return `✓ You said ${say(first)}; it is ${shown}.`;
    if (side(other) !== side(first))
      return `“${typed}” can mean ${say(first)} or ${say(other)}. Type it without a mark of thousands.`;
    return `✗ ${say(first)} is too ${side(first)}. Try again, or unfold the answer.`;
  }

  function ofText(typed) {
    const plain = (text) => text.trim().replace(/\s+/g, " ").toLowerCase();
    return plain(typed) === plain(answer)
      ? `✓ ${answer} is right.`
      : `✗ Not ${typed}. Try again, or unfold the answer.`;
  }

  function respond() {
    const typed = box.value.trim();
    const verdict = typeof answer === "number" ? ofNumber : ofText;
    said.textContent = typed ? verdict(typed) : "Type your answer and press Enter.";
  }

  function read(kept) {
    try {
      return JSON.parse(kept);
    } catch {
      return null; // damaged
    }
  }

  const send = (message) => window.parent.postMessage({ key: FACTS.key, ...message }, "*");
  let missed; // once an answer was wrong, or looked up: what a later page asks again
  function keep(miss) {
    if (miss) missed = [FACTS.label, shown];
    send({ typed: JSON.stringify({ typed: box.value, missed }) });
  }
  const check = () => {
    respond();
    keep(said.textContent.startsWith("✗"));
  };
  box.addEventListener("keydown", ({ key }) => { if (key === "Enter") check(); });
  document.querySelector("button").addEventListener("click", check);
  fold.addEventListener("toggle", () => {
    fold.querySelector("p").textContent = shown;
    if (fold.open && !said.textContent.startsWith("✓")) keep(true);
  });
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || typeof data?.kept !== "string" || box.value) return;
    const kept = read(data.kept);
    if (typeof kept?.typed !== "string") return;
    missed = kept.missed;
    box.value = kept.typed;
    respond();
  });
  send({});
})();
