"use strict";
(() => {
  const byId = id => document.getElementById(id);
  const cells = [...document.querySelectorAll(".cell")];
  const marks = new Map([...document.querySelectorAll("rect[data-of]")].map(mark => [mark.dataset.of, mark]));
  const lines = new Map([...document.querySelectorAll("li[data-line]")].map(line => [line.dataset.line, line]));
  let picked = null, shown = null;

  const original = cell => marks.get(cell.id) || lines.get(cell.dataset.at);
  const show = cell => {
    if (shown) { original(shown)?.classList.remove("here"); shown.classList.remove("here"); }
    shown = cell;
    if (!cell) return;
    cell.classList.add("here");
    const place = original(cell);
    if (place) {
      place.classList.add("here");
      const list = place.closest(".lines");  // scrolled by itself: the page stays where it is
      if (list) list.scrollTop = place.offsetTop - list.clientHeight / 2;
    }
  };

  const quoted = text => /^[\w@%+=:,.\/-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\"'\"'") + "'";
  const compose = () => {
    byId("command").textContent = picked.dataset.command +
      " " + quoted("--value=" + byId("value").value) + " " + quoted("--reason=" + byId("reason").value);
  };
  const pick = cell => {
    picked?.classList.remove("picked");
    picked?.removeAttribute("aria-selected");
    picked = cell;
    byId("panel").hidden = !cell;
    if (!cell) return;
    cell.classList.add("picked");
    cell.setAttribute("aria-selected", "true");
    const text = cell.querySelector(".text").textContent;
    byId("picked-name").textContent = cell.dataset.name;
    byId("picked-text").textContent = (text ? "reads " + text : "is empty") + (cell.dataset.by
      ? "; corrected by " + cell.dataset.by + " from " + (cell.dataset.was || "nothing") + ": " + cell.dataset.why : "");
    byId("value").value = text;
    compose();
  };

  const focus = cell => {
    for (const other of cell.closest("table").querySelectorAll(".cell[tabindex='0']")) other.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  };
  const place = cell => { const box = cell.getBoundingClientRect(); return [box.x + 1, box.y + 1]; };
  const next = (cell, down, right) => {
    const row = cell.parentElement;
    if (right) return right > 0 ? cell.nextElementSibling : cell.previousElementSibling;
    const [x] = place(cell);
    let other = down > 0 ? row.nextElementSibling : row.previousElementSibling;
    while (other && !other.children.length) other = down > 0 ? other.nextElementSibling : other.previousElementSibling;
    return other && [...other.children].reduce((best, one) =>
      Math.abs(place(one)[0] - x) < Math.abs(place(best)[0] - x) ? one : best);
  };
  const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

  for (const cell of cells) {
    cell.addEventListener("mouseenter", () => show(cell));
    cell.addEventListener("mouseleave", () => show(picked));
    cell.addEventListener("focus", () => show(cell));
    cell.addEventListener("click", () => { focus(cell); pick(cell); });
    cell.addEventListener("keydown", event => {
      if (steps[event.key]) {
        const other = next(cell, ...steps[event.key]);
        if (other) focus(other);
      } else if (event.key === "Enter" || event.key === " ") {
        pick(cell);
        byId("value").focus();
        byId("value").select();
      } else return;
      event.preventDefault();
    });
  }
  for (const [id, mark] of marks) {
    mark.addEventListener("mouseenter", () => show(byId(id)));
    mark.addEventListener("mouseleave", () => show(picked));
    mark.addEventListener("click", () => { focus(byId(id)); pick(byId(id)); });
  }
  const close = () => { const cell = picked; pick(null); show(null); if (cell) focus(cell); };
  byId("value").addEventListener("input", compose);
  byId("reason").addEventListener("input", compose);
  byId("close").addEventListener("click", close);
  byId("panel").addEventListener("keydown", event => { if (event.key === "Escape") close(); });
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("command").textContent);
      byId("copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(byId("command"));
      byId("copied").textContent = "Selected: copy it with the keyboard.";
    }
  });
})();
