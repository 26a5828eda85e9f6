// The course in JupyterLab: opens where you were, sets one task back, tells a term's meaning beside
// its link, and keeps answers. Written as JupyterLab loads it, so that nothing has to be built.
(() => {
  const NAME = "bertlab-course";
  const FIRST = "lectures/00_start_here.ipynb";
  const GLOSSARY = "lectures/glossary.md";
  const ENTRY = /^### (?:<a id="([^"]*)"><\/a>)?(.*)\n\n(.*?) Lecture \[/gm;

  let modules; // JupyterLab's own, by name and version
  const shared = async (name) => (await Object.values(modules[name])[0].get())();
  const page = JSON.parse(document.getElementById("jupyter-config-data").textContent);

  // Opens lecture 0 for who has nothing open: otherwise JupyterLab opens what was open last.
  function openFirst(app, notebooks) {
    app.restored.then(() => {
      const asked = location.pathname.includes("/tree/");
      if (!notebooks.size && !asked) app.commands.execute(`${NAME}:start`);
    });
  }

  // A kernel's start notes Python's version in the notebook; only cells are worth saving.
  async function keepSaved(panel) {
    const cells = () => JSON.stringify(panel.content.model.toJSON().cells);
    await panel.context.ready;
    const before = cells();
    await panel.sessionContext.ready;
    const kernel = panel.sessionContext.session?.kernel;
    await Promise.all([kernel?.info, kernel?.spec]);
    await new Promise((resolve) => setTimeout(resolve)); // after JupyterLab has noted both
    if (!panel.isDisposed && cells() === before) panel.content.model.dirty = false;
  }

  // nbgrader's button tells that a page without tests passes all of them.
  async function hideValidate(panel) {
    await panel.context.ready;
    const isTest = (cell) => cell.metadata.nbgrader?.grade;
    if (panel.content.model.toJSON().cells.some(isTest)) return;
    const items = [...panel.toolbar.children()];
    items.find((item) => item.node.dataset.jpItemName === "runAll")?.hide(); // nbgrader's name
  }

  // What a check says is prose, and so are comments: whole words, and 4.5 to 1 on dark cells.
  function readable() {
    const style = document.createElement("style");
    style.textContent = `
      .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
      [data-jp-theme-light="false"] { --jp-mirror-editor-comment-color: #6fb5b5; }
      .jp-RenderedHTMLCommon details + p { margin-top: 1em; }`;
    document.head.append(style);
  }

  const released = (cell) => cell?.model.getMetadata("bertlab")?.released;

  // The task as it was released, with what was there below it, as comments; undo takes it back.
  function reset(cell) {
    const old = cell.model.sharedModel.getSource();
    const kept = old.split("\n").map((line) => `# ${line}`.trimEnd()).join("\n");
    cell.model.sharedModel.setSource(`${released(cell)}\n\n\n# Before the reset:\n${kept}`);
  }

  let meanings; // of the glossary's terms, by the end of their address
  async function explained(contents) {
    const { content } = await contents.get(GLOSSARY, { content: true });
    const formula = /\$[^$]*\\[^$]*\$/g; // cannot be drawn there
    const link = /\[([^\]]*)\]\([^)]*\)/g;
    const words = (text) => text.replace(formula, "…").replace(link, "$1").replace(/[*`$]/g, "");
    const found = content.matchAll(ENTRY);
    return new Map(
      [...found].map(([, id, term, text]) => [id ?? term.replaceAll(" ", "-"), words(text)]),
    );
  }
  function explainTerms(contents) {
    document.addEventListener("mouseover", async ({ target }) => {
      const link = target.closest?.('a[href*="glossary.md"]');
      if (!link || link.title) return;
      meanings ??= explained(contents).catch(() => new Map()); // a folder without the lectures
      const term = decodeURIComponent(link.hash.slice(1));
      link.title = (await meanings).get(term) ?? "";
    });
  }

  // What pages keep in this browser (`kept.js`) is also in progress.json, which another browser reads
  // before it opens a page. A server that has no such file answers 404.
  const keptHere = (error) => console.warn("Answers are kept in this browser alone:", error);
  async function keepAnswers({ ServerConnection }, settings) {
    const address = `${settings.baseUrl}bertlab/answers`;
    const ask = (given) => ServerConnection.makeRequest(address, given, settings);
    const answer = await ask({});
    if (!answer.ok) return;
    const there = new Map(Object.entries(await answer.json()));
    for (const [key, text] of there) localStorage.setItem(key, text);
    async function send() {
      const isNew = ([key, text]) => key.startsWith("bertlab ") && there.get(key) !== text;
      const changed = Object.entries(localStorage).filter(isNew);
      if (!changed.length) return;
      const body = JSON.stringify(Object.fromEntries(changed));
      if (!(await ask({ method: "PUT", body })).ok) return; // with the next answer again
      for (const [key, text] of changed) there.set(key, text);
    }
    window.addEventListener("bertlab-kept", () => send().catch(keptHere));
    await send();
  }

  function activate(app, notebooks, launcher) {
    const { commands, contextMenu, serviceManager } = app;
    const clicked = () => {
      const node = app.contextMenuHitTest((one) => one.classList.contains("jp-Cell"));
      return notebooks.currentWidget?.content.widgets.find((cell) => cell.node === node);
    };
    commands.addCommand(`${NAME}:start`, {
      label: "Start Here",
      caption: "Lecture 0: the map, what has passed, what is next",
      iconClass: "jp-NotebookIcon",
      execute: () => commands.execute("docmanager:open", { path: FIRST }),
    });
    launcher.add({ command: `${NAME}:start`, category: "Course", rank: 0 });
    commands.addCommand(`${NAME}:reset`, {
      label: "Reset This Task",
      caption: "The cell as it was released; yours stays below it, as comments",
      isVisible: () => Boolean(released(clicked())),
      execute: () => reset(clicked()),
    });
    contextMenu.addItem({ command: `${NAME}:reset`, selector: ".jp-CodeCell", rank: 0 });
    notebooks.widgetAdded.connect((_, panel) => {
      keepSaved(panel);
      hideValidate(panel);
    });
    readable();
    openFirst(app, notebooks);
    explainTerms(serviceManager.contents);
  }

  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB[NAME] = {
    init: (given) => {
      modules = given;
    },
    get: async () => {
      // Notebook 7 on the same server has modules of its own, and no launcher.
      if (page.appName !== "JupyterLab") return () => ({ __esModule: true, default: [] });
      const { INotebookTracker } = await shared("@jupyterlab/notebook");
      const { ILauncher } = await shared("@jupyterlab/launcher");
      const services = await shared("@jupyterlab/services");
      const requires = [INotebookTracker, ILauncher];
      const plugin = { id: `${NAME}:plugin`, autoStart: true, requires, activate };
      const answers = {
        id: `${NAME}:answers`,
        autoStart: true,
        activate: ({ serviceManager }) =>
          keepAnswers(services, serviceManager.serverSettings).catch(keptHere),
      };
      return () => ({ __esModule: true, default: [plugin, answers] });
    },
  };
})();
