// On every page: copy buttons, menus, and forms that keep what was typed.

import { dateText } from "../words.js";

/** Copies the text of a button, and says so. */
function enableCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset["copy"]!);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Copying is not allowed here";
      }
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
}

/** Menus close when somebody clicks elsewhere or presses Escape. */
function closeMenus(): void {
  const menus = [...document.querySelectorAll<HTMLDetailsElement>("details[data-menu]")];
  document.addEventListener("click", ({ target }) => {
    for (const menu of menus) if (!menu.contains(target as Node)) menu.open = false;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    const open = menus.find((menu) => menu.open);
    if (!open) return;
    open.open = false;
    open.querySelector("summary")?.focus();
  });
}

/** On phones the row of tabs scrolls: the current one is in view. */
function showCurrentTab(): void {
  const current = document.querySelector(".tabs [aria-current]");
  current?.scrollIntoView({ block: "nearest", inline: "center" });
}

const SENT = "form sent";

/**
 * Forms with `data-keep` keep what was typed in this tab until they were sent with success: a
 * session that ends while a form is filled loses nothing. Passwords are not kept.
 */
function keepForms(): void {
  forgetSent();
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-keep]")) {
    const key = `form ${form.dataset["keep"]!}`;
    const stored = JSON.parse(sessionStorage.getItem(key) ?? "{}") as Record<string, string>;
    const fields = [...form.elements].filter(
      (field): field is HTMLInputElement =>
        "name" in field &&
        "value" in field &&
        !["hidden", "password", "file", "submit", "checkbox", "radio"].includes(
          (field as HTMLInputElement).type,
        ),
    );
    for (const field of fields) {
      const value = stored[field.name];
      const untouched = field.defaultValue === undefined || field.value === field.defaultValue;
      if (value !== undefined && untouched) field.value = value;
      field.addEventListener("input", () => {
        stored[field.name] = field.value;
        sessionStorage.setItem(key, JSON.stringify(stored));
      });
    }
    form.addEventListener("submit", () => sessionStorage.setItem(SENT, key));
  }
}

/** A form that was sent is done with when a page without it follows that is no error. */
function forgetSent(): void {
  const key = sessionStorage.getItem(SENT);
  if (key === null) return;
  sessionStorage.removeItem(SENT);
  const forms = [...document.querySelectorAll<HTMLFormElement>("form[data-keep]")];
  const again = forms.some((form) => `form ${form.dataset["keep"]!}` === key);
  // The page says it itself: not every browser tells the status.
  const failed = document.body.dataset["error"] !== undefined;
  if (!failed && !again) sessionStorage.removeItem(key);
}

/** Buttons of `data-confirm` ask before their form is sent. */
function askBefore(): void {
  document.addEventListener("submit", (event) => {
    const question = event.submitter?.dataset["confirm"];
    if (question !== undefined && !confirm(question)) event.preventDefault();
  });
}

/** Says how many boxes of a list are checked; the box `all` stands for those of other pages too. */
function countChosen(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-choose]")) {
    const shown = form.querySelector<HTMLElement>("[data-chosen]")!;
    const buttons = form.querySelectorAll<HTMLButtonElement>("button[name=choose]");
    const count = (): void => {
      const all = form.querySelector<HTMLInputElement>("input[name=all]");
      const name = CSS.escape(form.dataset["choose"]!);
      const boxes = form.querySelectorAll(`input[name="${name}"]:checked`).length;
      const chosen = all?.checked ? Number(all.dataset["total"]) : boxes;
      shown.textContent =
        chosen === 0 ? "Choose records" : `${chosen.toLocaleString("en-US")} chosen`;
      for (const button of buttons) button.disabled = chosen === 0;
    };
    form.addEventListener("change", count);
    // A browser that goes back checks the boxes again.
    window.addEventListener("pageshow", count);
    count();
  }
}

/** A box that checks all boxes of a name. */
function checkAll(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>("[data-check-all]"))
    box.addEventListener("change", () => {
      const name = CSS.escape(box.dataset["checkAll"]!);
      for (const one of document.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`))
        if (one.type === "checkbox") one.checked = box.checked;
    });
}

/** Parts that work only with scripts, or are needed only without them. */
function showScripted(): void {
  for (const part of document.querySelectorAll<HTMLElement>("[data-script]")) part.hidden = false;
  for (const part of document.querySelectorAll<HTMLElement>("[data-without-script]"))
    part.hidden = true;
}

/** A choice of `data-send` sends its form at once. */
function sendChoices(): void {
  document.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement && target.matches("[data-send]"))
      target.form?.requestSubmit();
  });
}

/** What is wrong with a date, as soon as the browser knows. */
function dateFault({ validity, min, max }: HTMLInputElement): string {
  if (validity.badInput) return "This is no day of the calendar.";
  if (validity.rangeUnderflow) return `The first possible day is ${dateText(min)}.`;
  if (validity.rangeOverflow) return `The last possible day is ${dateText(max)}.`;
  return "";
}

function checkDates(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[type=date]")) {
    const line = document.createElement("p");
    line.className = "error";
    line.setAttribute("aria-live", "polite");
    field.after(line);
    field.addEventListener("input", () => {
      line.textContent = dateFault(field);
      field.setAttribute("aria-invalid", String(line.textContent !== ""));
    });
  }
}

/** What is offered for a minute only. */
function endOffers(): void {
  for (const offer of document.querySelectorAll<HTMLElement>("[data-for-a-minute]"))
    setTimeout(() => offer.remove(), 60_000);
}

enableCopyButtons();
endOffers();
checkDates();
checkAll();
countChosen();
showScripted();
sendChoices();
closeMenus();
showCurrentTab();
keepForms();
askBefore();
