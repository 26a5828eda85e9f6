// BertViz's script asks require.js for d3 and jQuery. Both are already here: hand them over.
window.require = { config() {} };
window.requirejs = (names, run) => run(...names.map((name) => ({ jquery: $, d3 })[name]));

// Twelve colours, one for each of BERT-base's heads; BertViz's own ten tell red from green.
d3.schemeCategory10 = [
  "#6a5bc9", "#cc6677", "#5fb4dd", "#2b8a4b", "#d9a520", "#aa4499",
  "#44aa99", "#b03a72", "#4477aa", "#999933", "#ee7733", "#888888",
];
