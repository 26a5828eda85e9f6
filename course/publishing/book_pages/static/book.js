// A lecture's frames ask the page whether it is light, in the way that JupyterLab tells it.
(() => {
  const root = document.documentElement;
  const tell = () => {
    document.body.dataset.jpThemeLight = String(root.dataset.theme !== "dark");
  };
  new MutationObserver(tell).observe(root, { attributeFilter: ["data-theme"] });
  tell();
})();
