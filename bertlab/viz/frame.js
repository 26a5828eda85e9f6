// Runs in every frame: takes the theme of the page around it and the height of its content.
(() => {
  const root = document.documentElement;
  const main = document.querySelector("main");
  let frame = null; // the <iframe> around us; null when the page was opened by itself
  try {
    frame = window.frameElement;
  } catch {
    // A page from elsewhere holds us: keep the given height and the reader's own theme.
  }
  if (!frame) return;

  const alt = frame.previousElementSibling;
  if (alt && alt.classList.contains("bertlab-alt")) alt.hidden = true;

  const fit = () => {
    if (root.clientWidth === 0) return; // in a hidden tab: measured again when it is shown
    frame.style.height = `${Math.ceil(main.getBoundingClientRect().height)}px`;
  };
  new ResizeObserver(fit).observe(main);
  fit();

  const page = frame.ownerDocument.body;
  const followTheme = () => {
    const light = page.dataset.jpThemeLight; // JupyterLab and its exports say "true" or "false"
    if (light) root.dataset.theme = light === "true" ? "light" : "dark";
  };
  new MutationObserver(followTheme).observe(page, { attributeFilter: ["data-jp-theme-light"] });
  followTheme();
})();
