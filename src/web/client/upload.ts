// The upload page: zips folders, shows the plan, sends with progress, and survives a lost
// connection. Without this script the page is a plain form.
import { strToU8, Zip, ZipDeflate, ZipPassThrough } from "fflate";

interface Item {
  path: string;
  file: File;
}
interface PlanFinding {
  code: string;
  message: string;
  fix: string;
  file: string | null;
}
interface Plan {
  conforms: boolean;
  records: { kind: string; count: number }[];
  counts: { minted: number; kept: number; known: number; conflicting: number };
  refused: PlanFinding[];
  warned: PlanFinding[];
  conflicting: (PlanFinding & { identifier: string; entity: string })[];
  changes: Changes | null;
}
interface PlannedRecord {
  identifier: string;
  kind: string;
  entity?: string;
}
interface Difference {
  pointer: string;
  kind: "ADDED" | "REMOVED" | "CHANGED";
  before: unknown;
  after: unknown;
  shortened: boolean;
}
interface ChangedRecord extends PlannedRecord {
  name: string | null;
  differences: Difference[] | null;
  furtherDifferences: number | null;
}
interface Changes {
  counts: Record<string, number>;
  created: PlannedRecord[];
  changed: ChangedRecord[];
  removed: PlannedRecord[];
  revived: PlannedRecord[];
}

const METADATA = "ro-crate-metadata.json";
/** Larger archives are sent without a plan: it would send all of their bytes twice. */
const LARGEST_PLANNED = 200_000_000;
/** Attempts to send before somebody has to press a button, and the pause before the next, in ms. */
const [ATTEMPTS, PAUSE] = [8, 2000];
/** These are compressed already. */
const COMPRESSED =
  /\.(?:zip|gz|bz2|xz|7z|zst|png|jpe?g|gif|webp|avif|mp4|mov|mp3|parquet|h5|pdf)$/i;

const root = document.getElementById("upload")!;
const steps = document.getElementById("steps")!;
const form = document.getElementById("upload-form") as HTMLFormElement;
const drop = document.getElementById("drop")!;
const fileInput = document.getElementById("file") as HTMLInputElement;
const folderInput = document.getElementById("folder") as HTMLInputElement;
/** Of the session; another one after somebody has signed in again. */
let csrf = root.dataset["csrf"] ?? "";
const crate = root.dataset["crate"] ?? "";
/** Whether the update may remove all statements of linked crates: after the user has agreed. */
let emptyLinked = root.dataset["emptyLinked"] === "true";
const query = (): string =>
  crate === ""
    ? ""
    : `?${new URLSearchParams({ update: "true", crate, ...(emptyLinked && { emptyLinked: "true" }) }).toString()}`;

/** Kinds whose names are not those of their types. */
const KINDS: Record<string, [string, string]> = {
  ROCrate: ["crate", "crates"],
  DataDownload: ["file", "files"],
  Software: ["software", "software"],
  Entity: ["other object", "other objects"],
  MLModel: ["model", "models"],
};
const kindText = (kind: string, count: number): string =>
  (KINDS[kind] ?? [kind.toLowerCase(), `${kind.toLowerCase()}s`])[count === 1 ? 0 : 1];

type Child = Node | string | null | false;

/** An element with attributes and children, lists of them too; text is never markup. */
function el(
  name: string,
  attributes: Record<string, string> = {},
  ...children: (Child | Child[])[]
): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  for (const child of children.flat()) if (child) element.append(child);
  return element;
}

const number = (value: number): string => value.toLocaleString("en-US");
function sizeText(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]!}`;
}

function button(text: string, action: () => void, kind = ""): HTMLElement {
  const made = el("button", { type: "button", class: kind }, text);
  made.addEventListener("click", action);
  return made;
}

const notice = (tone: string, ...children: Child[]) =>
  el("div", { class: `notice ${tone}`, role: tone === "danger" ? "alert" : "status" }, ...children);

function show(...children: Child[]): void {
  steps.replaceChildren();
  for (const child of children) if (child) steps.append(child);
}

/** The files of what was dropped, with their paths; folders are walked. */
async function dropped(transfer: DataTransfer): Promise<Item[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const items: Item[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      );
      items.push({ path: path + entry.name, file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (batch.length === 0) return;
      for (const inner of batch) await walk(inner, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return items;
}

/** Paths below the one folder that holds everything, without files that systems leave behind. */
function relative(items: Item[]): Item[] {
  const kept = items.filter(
    ({ path }) => !/(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX\/.*)$/.test(path),
  );
  const first = kept[0]?.path.split("/", 1)[0];
  const isBelow = kept.every(({ path }) => path.startsWith(`${first}/`));
  return isBelow
    ? kept.map(({ path, file }) => ({ path: path.slice(first!.length + 1), file }))
    : kept;
}

/** One archive of the files, made piece by piece: the page stays usable. */
async function zipped(items: readonly Item[], progress: (done: number) => void): Promise<Blob> {
  const chunks: BlobPart[] = [];
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => (fail = reject));
  const archive = new Zip((error, chunk) => {
    if (error) fail(error);
    else chunks.push(chunk);
  });
  let done = 0;
  const write = async (): Promise<void> => {
    for (const { path, file } of items) {
      const entry = COMPRESSED.test(path)
        ? new ZipPassThrough(path)
        : new ZipDeflate(path, { level: 6 });
      archive.add(entry);
      const reader = file.stream().getReader();
      for (;;) {
        const { done: isEnd, value } = await reader.read();
        if (isEnd) break;
        entry.push(value);
        progress((done += value.length));
      }
      entry.push(new Uint8Array(0), true);
    }
    archive.end();
  };
  await Promise.race([write(), broken]);
  return new Blob(chunks, { type: "application/zip" });
}

/** RO-Crate 1.1 metadata for files that have none. */
function describe(items: readonly Item[], fields: Record<string, string>): string {
  const words = fields["keywords"]!.split(",").map((word) => word.trim());
  return JSON.stringify({
    "@context": "https://w3id.org/ro/crate/1.1/context",
    "@graph": [
      {
        "@id": METADATA,
        "@type": "CreativeWork",
        about: { "@id": "./" },
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name: fields["name"],
        description: fields["description"],
        license: { "@id": fields["licence"] },
        keywords: words.filter((word) => word !== ""),
        datePublished: new Date().toISOString().slice(0, 10),
        hasPart: items.map(({ path }) => ({ "@id": encodeURI(path) })),
      },
      ...items.map(({ path, file }) => ({
        "@id": encodeURI(path),
        "@type": "File",
        name: path.split("/").at(-1),
        contentSize: String(file.size),
        ...(file.type === "" ? {} : { encodingFormat: file.type }),
      })),
    ],
  });
}

const LICENCES: [string, string][] = [
  ["https://creativecommons.org/licenses/by/4.0/", "CC BY 4.0: others may use it and name you"],
  ["https://creativecommons.org/publicdomain/zero/1.0/", "CC0: no conditions"],
  ["https://creativecommons.org/licenses/by-nc/4.0/", "CC BY-NC 4.0: not for commercial use"],
  ["https://spdx.org/licenses/MIT", "MIT (software)"],
  ["https://spdx.org/licenses/Apache-2.0", "Apache 2.0 (software)"],
];

function field(label: string, control: HTMLElement): HTMLElement {
  control.id = `describe-${control.getAttribute("name")!}`;
  return el("div", { class: "field" }, el("label", { for: control.id }, label), control);
}

/** Asks for what a crate must say about itself. */
function askForMetadata(items: Item[]): void {
  const licence = el("select", { name: "licence" });
  for (const [value, text] of LICENCES) licence.append(el("option", { value }, text));
  const questions = el(
    "form",
    { class: "panel" },
    el("h2", {}, "Describe what you bring"),
    el("p", {}, `${number(items.length)} files without ${METADATA}: say what they are.`),
    field("Title", el("input", { name: "name", required: "", maxlength: "300" })),
    field("Description", el("textarea", { name: "description", required: "", rows: "4" })),
    field("Keywords, separated by commas", el("input", { name: "keywords" })),
    field("Licence", licence),
    el("p", { class: "actions" }, el("button", {}, "Continue")),
  );
  questions.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(questions as HTMLFormElement)) as Record<
      string,
      string
    >;
    const metadata = new File([strToU8(describe(items, fields))], METADATA);
    void bring([{ path: METADATA, file: metadata }, ...items]);
  });
  show(questions);
  questions.querySelector("input")!.focus();
}

async function bring(items: Item[]): Promise<void> {
  if (items.length === 0) return show(notice("warning", "There is no file in what you chose."));
  if (items.length === 1 && /\.(?:zip|eln)$/i.test(items[0]!.path))
    return plan(items[0]!.file, items[0]!.path);
  if (!items.some(({ path }) => path === METADATA || /^[^/]+\/ro-crate-metadata\.json$/.test(path)))
    return askForMetadata(items);
  const total = items.reduce((sum, { file }) => sum + file.size, 0);
  const bar = el("progress", {
    max: String(Math.max(1, total)),
    value: "0",
    "aria-label": "Packing",
  });
  show(el("p", {}, `Packing ${number(items.length)} files, ${sizeText(total)}…`), bar);
  try {
    const archive = await zipped(items, (done) => ((bar as HTMLProgressElement).value = done));
    await plan(archive, "crate.zip");
  } catch (error) {
    show(notice("danger", `A file could not be read: ${(error as Error).message}. Choose again.`));
  }
}

/** What the server says of a refusal, as one sentence. */
function refusal({ status, text }: Answer): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    if (typeof detail === "string") return detail;
    return (detail as { msg: string }[]).map(({ msg }) => msg).join(" ");
  } catch {
    return `The registry answered with ${status}.`;
  }
}

interface Answer {
  status: number;
  text: string;
}

/** The session has ended, or the browser has another one than when the page was loaded. */
const isSessionOver = ({ status, text }: Answer): boolean =>
  status === 401 || (status === 403 && text.includes("CSRF_REFUSED"));

/** Takes the token of the session that the browser has now. @returns false where it is no other */
async function renewed(): Promise<boolean> {
  const response = await fetch("/session", { headers: { Accept: "application/json" } });
  const { csrf: now } = (await response.json()) as { csrf?: string | null };
  if (!response.ok || !now || now === csrf) return false;
  csrf = now;
  return true;
}

/** Sends, once more with the token of a new session where that is why it was refused. */
async function inSession(sendIt: () => Promise<Answer>): Promise<Answer> {
  const answer = await sendIt();
  return isSessionOver(answer) && (await renewed()) ? sendIt() : answer;
}

/** Says why something was refused, and tries it again on request: the files are still chosen. */
function showRefusal(answer: Answer, again: () => void): void {
  const signIn = el("a", { href: "/signin?to=/my/uploads", target: "_blank" }, "sign in");
  show(
    isSessionOver(answer)
      ? notice(
          "warning",
          "Your session has ended. What you chose is still here: ",
          signIn,
          " in another tab, come back and try again.",
        )
      : notice("danger", refusal(answer)),
    el("p", { class: "actions" }, button("Try again", again)),
  );
}

/** Does a dry run, and shows what an upload would come to. */
async function plan(archive: Blob, name: string): Promise<void> {
  if (archive.size > LARGEST_PLANNED)
    return show(
      notice("info", `${sizeText(archive.size)}: the archive is validated while it is ingested.`),
      el(
        "p",
        { class: "actions" },
        button("Upload", () => void send(archive, name)),
      ),
    );
  show(
    el("p", {}, "Validating, without storing anything…"),
    el("progress", { "aria-label": "Validating" }),
  );
  try {
    const answer = await inSession(async () => {
      const body = new FormData();
      body.set("file", archive, name);
      const response = await fetch(`/rocrate/validate${query()}`, {
        method: "POST",
        headers: { "X-CSRF-Token": csrf, Accept: "application/json" },
        body,
      });
      return { status: response.status, text: await response.text() };
    });
    if (answer.status === 200) showPlan(JSON.parse(answer.text) as Plan, archive, name);
    else showRefusal(answer, () => void plan(archive, name));
  } catch {
    show(
      notice("warning", "The connection was lost."),
      el(
        "p",
        { class: "actions" },
        button("Try again", () => void plan(archive, name)),
      ),
    );
  }
}

function grouped(
  title: string,
  findings: readonly PlanFinding[],
  open: boolean,
): HTMLElement | null {
  if (findings.length === 0) return null;
  const groups = new Map<string, PlanFinding[]>();
  for (const finding of findings)
    groups.set(finding.code, [...(groups.get(finding.code) ?? []), finding]);
  return el(
    "section",
    {},
    el("h3", {}, title),
    [...groups].map(([code, group]) =>
      el(
        "details",
        { class: "more", ...(open ? { open: "" } : {}) },
        el("summary", {}, `${code.toLowerCase().replaceAll("_", " ")} (${number(group.length)})`),
        el("p", {}, el("strong", {}, "Fix: "), group[0]!.fix),
        el(
          "ul",
          {},
          group
            .slice(0, 50)
            .map(({ message, file }) => el("li", {}, message, file ? ` (${file})` : null)),
        ),
        group.length > 50 && el("p", {}, `and ${number(group.length - 50)} more`),
      ),
    ),
  );
}

/** Records of each list, and entries of each value, that are shown. */
const [RECORDS, ENTRIES] = [100, 20];

/** What an update would do to the crate, folded by record. */
function changesOf(changes: Changes): HTMLElement {
  const { counts, created, changed, removed, revived } = changes;
  const lists: [string, PlannedRecord[], number][] = [
    ["Withdrawn: the upload does not describe them any more", removed, counts["removed"]!],
    ["Back again", revived, counts["revived"]!],
    ["New", created, counts["created"]!],
  ];
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([change, count]) => `${number(count)} ${change}`);
  return el(
    "section",
    { id: "changes" },
    el("h3", {}, "What changes"),
    el("p", {}, `${parts.join(", ")}.`),
    changed.slice(0, RECORDS).map(changedRecord),
    further(counts["changed"]! - Math.min(changed.length, RECORDS)),
    lists.map(
      ([title, records, count]) =>
        records.length > 0 &&
        el(
          "details",
          { class: "more" },
          el("summary", {}, `${title} (${number(count)})`),
          el(
            "ul",
            {},
            records
              .slice(0, RECORDS)
              .map(({ identifier, kind, entity }) =>
                el("li", {}, `${kindText(kind, 1)}: `, el("bdi", {}, entity ?? identifier)),
              ),
          ),
          further(count - Math.min(records.length, RECORDS)),
        ),
    ),
  );
}

const further = (count: number): HTMLElement | null =>
  count > 0 ? el("p", { class: "quiet" }, `and ${number(count)} more`) : null;

function changedRecord(record: ChangedRecord): HTMLElement {
  const { name, entity, identifier, kind, differences, furtherDifferences } = record;
  const title = el("bdi", {}, name ?? entity ?? identifier);
  if (differences === null)
    return el("p", {}, title, el("span", { class: "quiet" }, ` (${kindText(kind, 1)}) changes`));
  const count = differences.length + (furtherDifferences ?? 0);
  return el(
    "details",
    { class: "more" },
    el(
      "summary",
      {},
      title,
      el(
        "span",
        { class: "quiet" },
        ` ${kindText(kind, 1)}, ${number(count)} ${count === 1 ? "change" : "changes"}`,
      ),
    ),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences" },
      el(
        "table",
        { class: "wide differences" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["Term", "Stored", "Upload"].map((text) => el("th", { scope: "col" }, text)),
          ),
        ),
        el("tbody", {}, differences.map(differenceRow)),
      ),
    ),
    further(furtherDifferences ?? 0),
  );
}

const WORDS = { ADDED: "added", REMOVED: "removed", CHANGED: "changed" } as const;

function differenceRow({ pointer, kind, before, after, shortened }: Difference): HTMLElement {
  const same = kind === "CHANGED" && JSON.stringify(before) === JSON.stringify(after);
  const lists = shortened && Array.isArray(before) && Array.isArray(after);
  return el(
    "tr",
    { class: kind.toLowerCase() },
    el(
      "th",
      { scope: "row" },
      el("bdi", {}, termText(pointer)),
      el("br"),
      el("small", { class: "quiet" }, WORDS[kind], lists ? ", entries that differ" : null),
    ),
    // A file with other bytes at the same place.
    same && pointer === "/contentUrl"
      ? el("td", { colspan: "2" }, "The bytes of the file differ.")
      : [
          el("td", {}, kind !== "ADDED" && valueOf(before)),
          el("td", {}, kind !== "REMOVED" && valueOf(after)),
        ],
  );
}

/** `/dateModified` as `Date modified`. */
function termText(pointer: string): string {
  const term = pointer.slice(1).replaceAll("~1", "/").replaceAll("~0", "~");
  const name = /([^:#/]+)[:#/]*$/.exec(term)?.[1] ?? term;
  const words = name
    .replace(
      /([a-z\d])([A-Z])/g,
      (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
    )
    .replace(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value of a document, as text; an object that names another stands as its identifier. */
function valueOf(value: unknown): Child {
  if (Array.isArray(value)) {
    if (value.length === 0) return el("span", { class: "quiet" }, "none");
    const more = value.length - ENTRIES;
    return el(
      "ul",
      { class: "plain" },
      value.slice(0, ENTRIES).map((item) => el("li", {}, valueOf(item))),
      more > 0 && el("li", { class: "quiet" }, `and ${number(more)} more`),
    );
  }
  if (value === null || value === undefined) return el("span", { class: "quiet" }, "none");
  if (typeof value === "string") return el("bdi", { class: "text" }, value);
  if (typeof value !== "object") return JSON.stringify(value);
  const { "@id": id, ...rest } = value as Record<string, unknown>;
  return typeof id === "string" && Object.keys(rest).length === 0
    ? el("bdi", { class: "text" }, id)
    : el("code", {}, JSON.stringify(value));
}

const recordsText = (records: Plan["records"]): string =>
  records.map(({ kind, count }) => `${number(count)} ${kindText(kind, count)}`).join(", ");

function showPlan(answer: Plan, archive: Blob, name: string): void {
  const { conforms, records, refused, warned, conflicting, counts, changes } = answer;
  const problems = refused.length + conflicting.length;
  const emptied = conflicting.filter(({ code }) => code === "CRATE_EMPTIED");
  const taken = conflicting.filter(({ code }) => code !== "CRATE_EMPTIED");
  show(
    el(
      "div",
      { class: "panel" },
      el("h2", {}, conforms ? "This is what will happen" : "This cannot be uploaded yet"),
      records.length > 0 &&
        el(
          "p",
          {},
          `${sizeText(archive.size)}. ${recordsText(records)}. `,
          `${number(counts.minted)} new identifiers` +
            (counts.known > 0 ? `, ${number(counts.known)} records that you have already` : "") +
            ".",
        ),
      changes && changesOf(changes),
      grouped("What has to be corrected", refused, true),
      grouped("Linked crates that would lose every statement", emptied, true),
      taken.length > 0 &&
        el(
          "section",
          {},
          el("h3", {}, `Identifiers that are taken (${number(taken.length)})`),
          el(
            "ul",
            {},
            taken.slice(0, 50).map(({ identifier }) => el("li", {}, identifier)),
          ),
        ),
      grouped("Advice", warned, false),
      el(
        "p",
        { class: "actions" },
        conforms
          ? button("Upload", () => void send(archive, name))
          : button("Choose again", () => location.reload(), "secondary"),
        emptied.length > 0 &&
          emptied.length === problems &&
          button(
            "Remove these statements",
            () => {
              emptyLinked = true;
              void plan(archive, name);
            },
            "secondary",
          ),
        !conforms && el("span", { class: "quiet" }, `${number(problems)} to correct`),
      ),
    ),
  );
  steps.scrollIntoView({ block: "start" });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends once. @returns the answer; throws when the connection is lost */
function sendOnce(archive: Blob, name: string, progress: (sent: number) => void) {
  return new Promise<Answer>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/rocrate/upload-async${query()}`);
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", ({ loaded }) => progress(loaded));
    request.addEventListener("load", () =>
      resolve({ status: request.status, text: request.responseText }),
    );
    request.addEventListener("error", () => reject(new Error("lost")));
    const body = new FormData();
    body.set("file", archive, name);
    request.send(body);
  });
}

/** Sends the archive; the same archive sent again is the same upload, so that retries are safe. */
async function send(archive: Blob, name: string): Promise<void> {
  const bar = el("progress", {
    max: String(archive.size),
    value: "0",
    "aria-label": "Sending",
  }) as HTMLProgressElement;
  const state = el("p", {}, "Sending…");
  show(state, bar);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const began = performance.now();
    try {
      const progress = (sent: number): void => {
        bar.value = sent;
        const left = ((performance.now() - began) / sent) * (archive.size - sent);
        state.textContent = `Sending: ${sizeText(sent)} of ${sizeText(archive.size)}${
          left > 3000 ? `, about ${number(Math.ceil(left / 1000))} seconds left` : ""
        }`;
      };
      const answer = await inSession(() => sendOnce(archive, name, progress));
      const { status, text } = answer;
      if (status < 300) {
        const { submissionUUID } = JSON.parse(text) as { submissionUUID: string };
        location.href = `/upload/${submissionUUID}`;
        return;
      }
      if (status !== 429 && status !== 503) {
        return showRefusal(answer, () => void send(archive, name));
      }
    } catch {
      // The connection was lost: wait for it and send again.
    }
    state.textContent = `The connection was lost. Trying again (${attempt} of ${ATTEMPTS})…`;
    bar.removeAttribute("value");
    if (!navigator.onLine)
      await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
    await pause(PAUSE * Math.min(attempt, 5));
  }
  show(
    notice(
      "danger",
      "The registry could not be reached. Nothing is lost: try again when it can be.",
    ),
    el(
      "p",
      { class: "actions" },
      button("Try again", () => void send(archive, name)),
    ),
  );
}

for (const element of document.querySelectorAll<HTMLElement>("[data-script]"))
  element.hidden = false;
document.getElementById("send-plain")!.hidden = true;
folderInput.webkitdirectory = true;
document.getElementById("choose-folder")!.addEventListener("click", () => folderInput.click());
folderInput.addEventListener("change", () => {
  const items = [...(folderInput.files ?? [])].map((file) => ({
    path: file.webkitRelativePath || file.name,
    file,
  }));
  void bring(relative(items));
});
document.querySelector(".file-label")!.textContent = "Files or an archive";
fileInput.removeAttribute("accept");
fileInput.multiple = true;
fileInput.addEventListener("change", () => {
  void bring([...(fileInput.files ?? [])].map((file) => ({ path: file.name, file })));
});
form.addEventListener("submit", (event) => event.preventDefault());
for (const name of ["dragenter", "dragover"])
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
for (const name of ["dragleave", "drop"])
  drop.addEventListener(name, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer) void dropped(event.dataTransfer).then((items) => bring(relative(items)));
});
