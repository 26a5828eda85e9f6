// Runs once in the page around frames. A frame is isolated (`sandbox`) and can only send messages:
// the height of its content, and the reader's choices, which the frame that replaces it requests.
// The page answers with its theme, and tells every frame when it changes.
// What a reader has typed is kept (`kept.js`).
// Other messages have no effect.
(() => {
  if (window.bertlabFrames) return; // another output of ours ran before
  window.bertlabFrames = true;
  const TALLEST = 20000; // pixels; a taller frame scrolls
  const LONGEST = 1000; // characters of an answer; a longer one is not kept
  const chosen = new Map(); // a frame's key -> its numbers and words, joined by commas
  const plain = (text) => typeof text === "string" && /^[\w[\],]{1,99}$/.test(text);

  const STORE = "bertlab "; // before the keys of what was typed

  const allFrames = () => [...document.querySelectorAll(".bertlab-frame > iframe")];
  function tellTheme(frame) {
    const dark = getComputedStyle(frame).colorScheme === "dark";
    frame.contentWindow?.postMessage({ dark }, "*");
  }
  const themes = new MutationObserver(() => allFrames().forEach(tellTheme));
  for (const root of [document.documentElement, document.body])
    themes.observe(root, { attributeFilter: ["data-theme", "data-jp-theme-light"] });

  window.addEventListener("message", ({ source, data }) => {
    if (source === window || !data) return;
    const frame = allFrames().find(({ contentWindow }) => contentWindow === source);
    if (!frame) return;
    const { height, key, choice, typed } = data;
    frame.previousElementSibling.hidden = true; // the words in its place: it runs
    tellTheme(frame);
    if (Number.isFinite(height) && height > 0)
      frame.style.height = `${Math.min(Math.ceil(height), TALLEST)}px`;
    if (!plain(key)) return;
    if (plain(choice)) chosen.set(key, choice);
    else if (typeof typed === "string") {
      if (typed.length <= LONGEST) keep(STORE + key, typed);
    } else {
      const kept = chosen.get(key) ?? stored((store) => store.getItem(STORE + key));
      source.postMessage({ kept }, "*");
    }
  });
})();
