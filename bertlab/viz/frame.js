// Runs in every frame: tells the page around it (frames_page.js) the height of its content.
(() => {
  const main = document.querySelector("main");
  const fit = () => {
    if (document.documentElement.clientWidth === 0) return; // in a hidden tab: later
    const { height } = main.getBoundingClientRect();
    if (height === 0) setTimeout(fit, 100); // not laid out yet
    window.parent.postMessage({ height }, "*");
  };
  if (window.parent === window) return; // the page was opened by itself
  new ResizeObserver(fit).observe(main);
  window.addEventListener("load", fit); // out of sight, a browser may observe no size
})();
