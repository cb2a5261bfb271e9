"use strict";
(() => {
  const byId = id => document.getElementById(id);
  const tables = [...document.querySelectorAll("table.board")];
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (one, other) => {
    const [a, b] = [Number(one), Number(other)];
    if (one !== "" && other !== "" && !Number.isNaN(a) && !Number.isNaN(b)) return a - b;
    if ((one === "") !== (other === "")) return one === "" ? 1 : -1;
    return one.localeCompare(other);
  };

  const sort = (table, header) => {
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (descending ? -1 : 1) * compare(value(a, header.cellIndex), value(b, header.cellIndex)));
    table.tBodies[0].append(...rows);
    byId("told").textContent = "Sorted by " + header.textContent.trim() + ", " + header.getAttribute("aria-sort") + ".";
  };

  for (const table of tables) {
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sort(table, header));
    }
  }

  const filter = () => {
    const text = byId("text").value.trim().toLowerCase();
    const outcome = byId("outcome").value;
    let shown = 0, all = 0;
    for (const table of tables) {
      for (const row of table.tBodies[0].rows) {
        const fits = row.textContent.toLowerCase().includes(text) && (!outcome || row.dataset.outcome === outcome);
        row.hidden = !fits;
        shown += fits;
        all += 1;
      }
    }
    byId("told").textContent = shown + " of " + all + " papers shown.";
  };
  byId("text").addEventListener("input", filter);
  byId("outcome").addEventListener("change", filter);
  byId("controls").hidden = false;
})();
