// Shows one page at a time. One slider: a list of pages. Two sliders: rows and columns of pages.
(() => {
  const pages = [...document.querySelectorAll(".page")];
  const room = document.querySelector(".pages");
  const caption = document.querySelector(".caption");
  const play = document.getElementById("play");
  const sliders = [...document.querySelectorAll(".axis input")];
  const across = sliders.at(-1); // left and right move this one, up and down the first
  const inFocus = () => sliders.find((one) => one.parentElement.contains(document.activeElement));
  const MILLISECONDS_A_PAGE = 1600;
  let timer = null;

  const number = () =>
    sliders.reduce((index, slider) => index * (+slider.max + 1) + +slider.value, 0);

  function show() {
    const shown = pages[number()];
    pages.forEach((page) => page.classList.toggle("shown", page === shown));
    caption.textContent = shown.dataset.label;
    for (const slider of sliders) {
      const axis = slider.parentElement;
      slider.setAttribute("aria-valuetext", shown.dataset.label);
      axis.querySelector(".back").disabled = slider.value === slider.min;
      axis.querySelector(".forward").disabled = slider.value === slider.max;
    }
  }

  function move(slider, value) {
    room.style.minHeight = `${room.offsetHeight}px`; // it may grow, and does not jump back
    slider.value = value; // the slider keeps the value in its range
    show();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    if (play) play.textContent = "Play";
  }

  function start() {
    if (across.value === across.max) move(across, 0);
    timer = setInterval(() => {
      move(across, +across.value + 1);
      if (across.value === across.max) stop();
    }, MILLISECONDS_A_PAGE);
    play.textContent = "Pause";
  }

  const toggle = () => (timer ? stop() : start());

  for (const slider of sliders) {
    const axis = slider.parentElement;
    const step = (by) => { stop(); move(slider, +slider.value + by); };
    axis.querySelector(".back").addEventListener("click", () => step(-1));
    axis.querySelector(".forward").addEventListener("click", () => step(1));
    slider.addEventListener("input", () => { stop(); move(slider, slider.value); });
  }
  if (play) play.addEventListener("click", toggle);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") {
      if (!play || event.target.tagName === "BUTTON") return; // a button handles it itself
      toggle();
    } else {
      const beside = inFocus() ?? across; // the arrows are those of the slider in focus
      const [slider, value] = {
        ArrowLeft: [beside, +beside.value - 1],
        ArrowRight: [beside, +beside.value + 1],
        ArrowUp: [sliders[0], +sliders[0].value - 1],
        ArrowDown: [sliders[0], +sliders[0].value + 1],
        Home: [beside, beside.min],
        End: [beside, beside.max],
      }[event.key] || [];
      if (!slider) return;
      stop();
      move(slider, value);
    }
    event.preventDefault(); // otherwise the notebook would scroll, and the slider move twice
  });

  show(); // after a reload, a browser may keep the sliders' values
})();
