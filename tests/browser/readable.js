// Questions to a page or a frame: which texts are cut off or spill over, which are hard to read?
({
  // Every visible text with the element around it and the rectangle of each of its lines.
  texts(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node; (node = walker.nextNode()); ) {
      const element = node.parentElement;
      if (!node.data.trim() || element.closest("style, script, option, :disabled")) continue;
      if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
      if (boxes.length) found.push({ text: node.data.trim().slice(0, 40), element, boxes });
    }
    return found;
  },

  cut(root) {
    const edge = document.documentElement.clientWidth;
    return this.texts(root).flatMap(({ text, element, boxes }) => {
      const [left, right] = [Math.min(...boxes.map((b) => b.left)), Math.max(...boxes.map((b) => b.right))];
      for (let e = element; e && e !== document.documentElement; e = e.parentElement) {
        const box = e.getBoundingClientRect();
        const { overflowX } = getComputedStyle(e);
        if (/auto|scroll/.test(overflowX) && e !== element) return [];
        const bound = overflowX !== "visible" || e.matches("button, td, th, li");
        if (bound && (right > box.right + 1 || left < box.left - 1))
          return [`${text}: ${Math.round(right - box.right)} px beyond ${e.localName}.${e.getAttribute("class")}`];
      }
      return right > edge + 1 || left < -1 ? [`${text}: ${Math.round(right - edge)} px beyond the page`] : [];
    });
  },

  faint(root) {
    const parts = (colour) => {
      const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
      return colour.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => a * part + (1 - a) * under[i]);
    const luminance = (colour) => {
      const [r, g, b] = colour.map((part) =>
        part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paint = (element) => {
      const style = getComputedStyle(element);
      const shape = element.matches("rect, circle, path, polygon");
      const colour = shape ? style.fill : style.backgroundColor;
      if (colour === "none" || colour.startsWith("url")) return [0, 0, 0, 0];
      const [r, g, b, a] = parts(colour);
      return [r, g, b, a * (shape ? style.fillOpacity * style.opacity : style.opacity)];
    };
    return this.texts(root).flatMap(({ text, element, boxes: [box] }) => {
      const style = getComputedStyle(element);
      const stack = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      if (!stack.includes(element)) return []; // scrolled out of sight, or under another one
      const ground = stack.reduceRight((under, e) => over(paint(e), under), [255, 255, 255]);
      const [r, g, b, a] = parts(element.closest("svg") ? style.fill : style.color);
      let opacity = a;
      for (let e = element; e; e = e.parentElement) opacity *= getComputedStyle(e).opacity;
      const ink = over([r, g, b, opacity], ground);
      const [low, high] = [luminance(ink), luminance(ground)].sort((one, other) => one - other);
      const contrast = (high + 0.05) / (low + 0.05);
      return contrast < 4.5 ? [`${text}: ${contrast.toFixed(1)} to 1`] : [];
    });
  },
})
