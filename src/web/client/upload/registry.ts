// What the upload page asks of the registry, with the session that the browser has now.

export interface Answer {
  status: number;
  text: string;
}

const root = document.getElementById("upload")!;
/** Of the session; another one after somebody has signed in again. */
let csrf = root.dataset["csrf"] ?? "";
const crate = root.dataset["crate"] ?? "";
/** Whether the update may remove all statements of linked crates: after the user has agreed. */
let emptyLinked = root.dataset["emptyLinked"] === "true";

export function allowEmptyLinked(): void {
  emptyLinked = true;
}

function addressOf(path: string): string {
  if (crate === "") return path;
  const query = { update: "true", crate, ...(emptyLinked && { emptyLinked: "true" }) };
  return `${path}?${new URLSearchParams(query).toString()}`;
}

/** A new crate is private as the box says; a new version is as its crate. */
function uploadAddress(): string {
  const path = "/rocrate/upload-async";
  if (crate !== "") return addressOf(path);
  const { checked } = document.getElementById("private") as HTMLInputElement;
  return `${path}?visibility=${checked ? "private" : "open"}`;
}

/** The page of a submission. */
export const submissionPage = (id: string): string =>
  crate === "" ? `/upload/${id}` : `/upload/${id}?${new URLSearchParams({ crate }).toString()}`;

/** The session has ended, or the browser has another one than when the page was loaded. */
export const isSessionOver = ({ status, text }: Answer): boolean =>
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

function formOf(archive: Blob, name: string): FormData {
  const body = new FormData();
  body.set("file", archive, name);
  return body;
}

/** Asks what an upload would do, without storing anything. @throws where the connection is lost */
export const dryRun = (archive: Blob, name: string): Promise<Answer> =>
  inSession(async () => {
    const response = await fetch(addressOf("/rocrate/validate"), {
      method: "POST",
      headers: { "X-CSRF-Token": csrf, Accept: "application/json" },
      body: formOf(archive, name),
    });
    return { status: response.status, text: await response.text() };
  });

/** Uploads. @throws where the connection is lost */
export const upload = (
  archive: Blob,
  name: string,
  progress: (sent: number) => void,
): Promise<Answer> =>
  inSession(
    () =>
      new Promise<Answer>((resolve, reject) => {
        // Unlike `fetch` it reports how much was sent.
        const request = new XMLHttpRequest();
        request.open("POST", uploadAddress());
        request.setRequestHeader("X-CSRF-Token", csrf);
        request.setRequestHeader("Accept", "application/json");
        request.upload.addEventListener("progress", ({ loaded }) => progress(loaded));
        request.addEventListener("load", () =>
          resolve({ status: request.status, text: request.responseText }),
        );
        request.addEventListener("error", () => reject(new Error("lost")));
        request.send(formOf(archive, name));
      }),
  );

/** What the registry says of a refusal, as one sentence. */
export function refusal({ status, text }: Answer): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    if (typeof detail === "string") return detail;
    return (detail as { msg: string }[]).map(({ msg }) => msg).join(" ");
  } catch {
    return `The registry answered with ${status}.`;
  }
}
