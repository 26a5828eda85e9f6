// A picture or a view is as large as the room below its claim allows; text keeps its size. It may
// still be loading when its slide is first shown.
const ROOM = { width: 1280 - 2 * 64, height: 720 - 44 };
const LARGEST = 2.5;

function fit(slide) {
  const parts = [...slide.querySelectorAll("img, iframe")];
  for (const part of parts) part.style.zoom = 0.01;
  const top = Math.max(...[...slide.children].map((child) => child.offsetTop + child.offsetHeight));
  const left = (ROOM.height - top) / parts.length;
  for (const part of parts) {
    part.style.zoom = 1;
    const { offsetWidth, offsetHeight } = part;
    part.style.zoom = Math.min(LARGEST, ROOM.width / offsetWidth, left / offsetHeight);
  }
}

const growing = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => fit(target.closest("section"))),
);

function show(slide) {
  fit(slide);
  slide.querySelectorAll("img, iframe").forEach((part) => growing.observe(part));
}

for (const event of ["ready", "slidechanged"]) {
  Reveal.on(event, ({ currentSlide }) => show(currentSlide));
}
Reveal.on("pdf-ready", () => document.querySelectorAll("section:not(.stack)").forEach(fit));
