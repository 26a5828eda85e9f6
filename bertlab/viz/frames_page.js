// Runs once in the page around frames. A frame is isolated (`sandbox`) and can only send messages:
// the height of its content, and the reader's choices, which the frame that replaces it requests.
// Other messages have no effect.
(() => {
  if (window.bertlabFrames) return; // another output of ours ran before
  window.bertlabFrames = true;
  const TALLEST = 20000; // pixels; a taller frame scrolls
  const chosen = new Map(); // a frame's key -> its numbers and words, joined by commas
  const plain = (text) => typeof text === "string" && /^[\w[\],]{1,99}$/.test(text);

  window.addEventListener("message", ({ source, data }) => {
    if (source === window || !data) return;
    const frames = [...document.querySelectorAll(".bertlab-frame > iframe")];
    const frame = frames.find(({ contentWindow }) => contentWindow === source);
    if (!frame) return;
    const { height, key, choice } = data;
    frame.previousElementSibling.hidden = true; // the words in its place: it runs
    if (Number.isFinite(height) && height > 0)
      frame.style.height = `${Math.min(Math.ceil(height), TALLEST)}px`;
    if (!plain(key)) return;
    if (plain(choice)) chosen.set(key, choice);
    else source.postMessage({ kept: chosen.get(key) }, "*");
  });
})();
