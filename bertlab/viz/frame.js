// Runs in every frame: sends the height of its content to the enclosing page (frames_page.js).
(() => {
  const main = document.querySelector("main");
  const fit = () => {
    if (document.documentElement.clientWidth === 0) return; // in a hidden tab: later
    const { height } = main.getBoundingClientRect();
    if (height === 0) setTimeout(fit, 100); // not laid out yet
    window.parent.postMessage({ height }, "*");
  };
  if (window.parent === window) return; // the page was opened directly
  new ResizeObserver(fit).observe(main);
  window.addEventListener("load", fit); // a browser may not observe the size of a hidden frame
})();
