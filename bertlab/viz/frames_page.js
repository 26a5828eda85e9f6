// Runs in the page around frames, once. A frame is sealed off (`sandbox`) and can only send
// messages: how high its content is, and what was chosen in it, which the frame that replaces it
// asks for. Nothing else that arrives has any effect.
(() => {
  if (window.bertlabFrames) return; // another output of ours was here before
  window.bertlabFrames = true;
  const TALLEST = 20000; // pixels; a frame that holds more scrolls
  const chosen = new Map(); // a frame's key -> its numbers and words, joined by commas
  const plain = (text) => typeof text === "string" && /^[\w[\],]{1,99}$/.test(text);

  window.addEventListener("message", ({ source, data }) => {
    if (source === window || !data) return;
    const frames = [...document.querySelectorAll(".bertlab-frame > iframe")];
    const frame = frames.find(({ contentWindow }) => contentWindow === source);
    if (!frame) return;
    const { height, key, choice } = data;
    frame.previousElementSibling.hidden = true; // the words that stand in for it: it runs
    if (Number.isFinite(height) && height > 0)
      frame.style.height = `${Math.min(Math.ceil(height), TALLEST)}px`;
    if (!plain(key)) return;
    if (plain(choice)) chosen.set(key, choice);
    else source.postMessage({ kept: chosen.get(key) }, "*");
  });
})();
