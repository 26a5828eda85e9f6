// Runs in every frame: sends the height of its content to the enclosing page (frames_page.js), and
// has the theme that the page answers, until then the browser's guess.
(() => {
  const main = document.querySelector("main");
  const fit = () => {
    if (document.documentElement.clientWidth === 0) return; // in a hidden tab: later
    const { height } = main.getBoundingClientRect();
    if (height === 0) setTimeout(fit, 100); // not laid out yet
    window.parent.postMessage({ height }, "*");
  };
  const paint = (dark) => { document.documentElement.dataset.theme = dark ? "dark" : "light"; };
  const system = matchMedia("(prefers-color-scheme: dark)");
  paint(system.matches);
  if (window.parent === window) { // the page was opened directly
    system.addEventListener("change", () => paint(system.matches));
    return;
  }
  window.addEventListener("message", ({ source, data }) => {
    if (source === window.parent && typeof data?.dark === "boolean") paint(data.dark);
  });
  new ResizeObserver(fit).observe(main);
  window.addEventListener("load", fit); // a browser may not observe the size of a hidden frame
})();
