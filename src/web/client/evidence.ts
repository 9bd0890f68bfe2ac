// Makes the drawn picture of evidence easier to explore; without this script it is a picture with
// links, beside a list. Each module of the folder is one comfort.
import { changeInPlace } from "./evidence/change.js";
import { enableDetails } from "./evidence/details.js";
import { announce, drawing, DRAWN } from "./evidence/drawing.js";
import { enableArrowKeys } from "./evidence/keys.js";
import { enableMinimap } from "./evidence/minimap.js";
import { savePng } from "./evidence/png.js";
import { enableSearch } from "./evidence/search.js";
import { enableNearArrows } from "./evidence/ways.js";
import { enableDragging, enableZoom, fadeEdges, open } from "./evidence/viewport.js";

if (drawing()) {
  for (const hidden of document.querySelectorAll<HTMLElement>("[data-script]"))
    hidden.hidden = false;
  enableZoom();
  enableDragging();
  fadeEdges();
  enableMinimap();
  enableSearch();
  enableArrowKeys();
  enableDetails();
  enableNearArrows();
  changeInPlace();
  document.querySelector("[data-save='png']")?.addEventListener("click", () => void savePng());
  announce(DRAWN);
  open();
}
