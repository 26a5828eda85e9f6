// What a reader has answered stays in the browser's storage, for the next day. A program around the
// page may listen, to keep it elsewhere, too.
// Some browsers refuse storage, as for a file or in a private window: then nothing is kept.
function stored(use) {
  try {
    return use(window.localStorage) ?? undefined;
  } catch {
    return undefined;
  }
}

function keep(key, text) {
  stored((store) => store.setItem(key, text));
  window.dispatchEvent(new Event("bertlab-kept"));
}
