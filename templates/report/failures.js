"use strict";
/* From a failure to paths with it, where the page has them. */
for (const button of document.querySelectorAll("#failures .failures-trace")) {
  button.hidden = !ailb.paths;
  button.addEventListener("click", () => {
    document.getElementById("paths").scrollIntoView();
    ailb.paths.choose(button.dataset.failure, button.dataset.leaf, button.dataset.owner);
  });
}
