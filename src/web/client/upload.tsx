// The upload page: zips folders, shows the plan, sends with progress, and survives a lost
// connection. Without this script the page is a plain form.
import { type ComponentChildren, render } from "preact";
import { Notice } from "../components.js";
import { counted, countText, durationText, sizeText } from "../words.js";
import { isReadme, suggestedDescription } from "../../model/described-folder.js";
import {
  type Brought,
  dropped,
  type Item,
  METADATA,
  metadataOf,
  relative,
  zipped,
} from "./upload/archive.js";
import { DescribeForm } from "./upload/describe.js";
import { type Plan, PlanView } from "./upload/plan.js";
import {
  allowEmptyLinked,
  type Answer,
  dryRun,
  isSessionOver,
  refusal,
  submissionPage,
  upload,
} from "./upload/registry.js";

/** Larger archives are sent without a plan: it would send all of their bytes twice. */
const LARGEST_PLANNED_BYTES = 200_000_000;
/** Attempts to send before somebody has to press a button, and the pause before the next. */
const [ATTEMPTS, PAUSE_MS] = [8, 2000];
/** Bytes of a README that are read for its title and first paragraph. */
const LONGEST_README = 100_000;

const steps = document.getElementById("steps")!;
const form = document.getElementById("upload-form") as HTMLFormElement;
const drop = document.getElementById("drop")!;
const fileInput = document.getElementById("file") as HTMLInputElement;
const folderInput = document.getElementById("folder") as HTMLInputElement;

const show = (step: ComponentChildren): void => render(step, steps);

function Actions({ text, act }: { text: string; act: () => void }) {
  return (
    <p class="actions">
      <button type="button" onClick={act}>
        {text}
      </button>
    </p>
  );
}

/** @param done of `total`; absent: it cannot be said */
function Working(props: {
  children: ComponentChildren;
  label: string;
  done?: number;
  total?: number;
}) {
  const { children, label, done, total } = props;
  return (
    <>
      <p>{children}</p>
      <progress aria-label={label} value={done} max={total && Math.max(1, total)} />
    </>
  );
}

async function bring({ items, folder }: Brought): Promise<void> {
  if (items.length === 0)
    return show(<Notice tone="warning">There is no file in what you chose.</Notice>);
  if (items.length === 1 && /\.(?:zip|eln)$/i.test(items[0]!.path))
    return plan(items[0]!.file, items[0]!.path);
  if (!items.some(({ path }) => path === METADATA || /^[^/]+\/ro-crate-metadata\.json$/.test(path)))
    return askForMetadata({ items, folder });
  await pack(items);
}

/** Makes one archive of the files, and shows how far it is by the slower of files and bytes. */
async function pack(items: readonly Item[]): Promise<void> {
  const total = items.reduce((sum, { file }) => sum + file.size, 0);
  const packing = (bytes: number, files: number): void =>
    show(
      <Working
        label="Packing"
        done={Math.min(total === 0 ? 1 : bytes / total, files / items.length)}
        total={1}
      >
        Packing: {countText(files)} of {counted(items.length, "file")}, {sizeText(bytes)} of{" "}
        {sizeText(total)}
      </Working>,
    );
  packing(0, 0);
  try {
    await plan(await zipped(items, packing), "crate.zip");
  } catch (error) {
    show(
      <Notice tone="danger">
        A file could not be read: {(error as Error).message}. Choose again.
      </Notice>,
    );
  }
}

async function askForMetadata({ items, folder }: Brought): Promise<void> {
  const readme = items.find(({ path }) => isReadme(path))?.file;
  const text = await readme
    ?.slice(0, LONGEST_README)
    .text()
    .catch(() => undefined);
  show(
    <DescribeForm
      items={items}
      suggested={suggestedDescription(folder, text)}
      onDescribed={(fields, chosen) => {
        if (chosen.length === 0)
          return show(<Notice tone="warning">No file is left. Choose again.</Notice>);
        void pack([{ path: METADATA, file: metadataOf(chosen, fields) }, ...chosen]);
      }}
    />,
  );
  steps.querySelector("input")!.focus();
}

/** Says why something was refused, and tries it again on request: the files are still chosen. */
function showRefusal(answer: Answer, again: () => void): void {
  show(
    <>
      {isSessionOver(answer) ? (
        <Notice tone="warning">
          Your session has ended. What you chose is still here:{" "}
          <a href="/signin?to=/my/uploads" target="_blank">
            sign in
          </a>{" "}
          in another tab, come back and try again.
        </Notice>
      ) : (
        <Notice tone="danger">{refusal(answer)}</Notice>
      )}
      <Actions text="Try again" act={again} />
    </>,
  );
}

/** Does a dry run, and shows what an upload would come to. */
async function plan(archive: Blob, name: string): Promise<void> {
  const again = (): void => void plan(archive, name);
  const onUpload = (): void => void send(archive, name);
  if (archive.size > LARGEST_PLANNED_BYTES)
    return show(
      <>
        <Notice>{sizeText(archive.size)}: the archive is validated while it is ingested.</Notice>
        <Actions text="Upload" act={onUpload} />
      </>,
    );
  show(<Working label="Validating">Validating, without storing anything…</Working>);
  let answer: Answer;
  try {
    answer = await dryRun(archive, name);
  } catch {
    return show(
      <>
        <Notice tone="warning">The connection was lost.</Notice>
        <Actions text="Try again" act={again} />
      </>,
    );
  }
  if (answer.status !== 200) return showRefusal(answer, again);
  show(
    <PlanView
      plan={JSON.parse(answer.text) as Plan}
      size={archive.size}
      onUpload={onUpload}
      onEmptyLinked={() => {
        allowEmptyLinked();
        again();
      }}
    />,
  );
  steps.scrollIntoView({ block: "start" });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Shows how much was sent, and how long the rest will take. */
function sending(total: number): (sent: number) => void {
  const began = performance.now();
  return (sent) => {
    const left = ((performance.now() - began) / sent) * (total - sent);
    show(
      <Working label="Sending" done={sent} total={total}>
        Sending: {sizeText(sent)} of {sizeText(total)}
        {left > 3000 && `, about ${durationText(left)} left`}
      </Working>,
    );
  };
}

/** Sends the archive; the same archive sent again is the same upload, so that retries are safe. */
async function send(archive: Blob, name: string): Promise<void> {
  const again = (): void => void send(archive, name);
  show(<Working label="Sending">Sending…</Working>);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const answer = await upload(archive, name, sending(archive.size));
      if (answer.status < 300) {
        const { submissionUUID } = JSON.parse(answer.text) as { submissionUUID: string };
        location.href = submissionPage(submissionUUID);
        return;
      }
      if (answer.status !== 429 && answer.status !== 503) return showRefusal(answer, again);
    } catch {
      // The connection was lost: wait for it and send again.
    }
    show(
      <Working label="Sending">
        The connection was lost. Trying again ({attempt} of {ATTEMPTS})…
      </Working>,
    );
    if (!navigator.onLine)
      await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
    await pause(PAUSE_MS * Math.min(attempt, 5));
  }
  show(
    <>
      <Notice tone="danger">
        The registry could not be reached. Nothing is lost: try again when it can be.
      </Notice>
      <Actions text="Try again" act={again} />
    </>,
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
  const items = [...(fileInput.files ?? [])].map((file) => ({ path: file.name, file }));
  void bring({ items, folder: "" });
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
