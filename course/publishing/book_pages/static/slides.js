// No slide is higher or wider than the screen: content that does not fit is scaled down. A picture
// or a view may still be loading when its slide is first shown.
const ROOM = { width: 1280, height: 720 };

function fit(slide) {
  for (const zoom of [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4]) {
    slide.style.zoom = zoom;
    slide.style.width = `${ROOM.width / zoom}px`;
    if (slide.scrollHeight * zoom <= ROOM.height && slide.scrollWidth * zoom <= ROOM.width + 1) return;
  }
}

const growing = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => fit(target.closest("section"))),
);

function show(slide) {
  fit(slide);
  slide.querySelectorAll("img, iframe, mjx-container").forEach((part) => growing.observe(part));
}

for (const event of ["ready", "slidechanged"]) {
  Reveal.on(event, ({ currentSlide }) => show(currentSlide));
}
Reveal.on("pdf-ready", () => document.querySelectorAll("section:not(.stack)").forEach(fit));
