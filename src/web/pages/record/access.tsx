import type { ComponentChildren } from "preact";
import { isWebAddress } from "../../components.js";
import { Agent, type Named, RecordLink } from "../../record-components.js";
import { dateText, shortened, sizeText } from "../../words.js";
import { AskLink } from "./ask.js";
import { ownValue } from "../../../own.js";

/** Stored bytes of a record, as GraphQL shows them. */
export interface Stored {
  state: "STORED" | "DAMAGED" | "DELETED" | "NONE";
  mediaType: string | null;
  size: number | null;
  sha256?: string | null;
  address: string | null;
  readable: boolean;
}

interface AccessProps {
  /** Identifier of the record. */
  id: string;
  /** The reader has asked for access, and nobody has decided. */
  isAsked: boolean;
  content: Stored | undefined;
  status: string | null;
  embargoEndsAt: string | null;
  owner: Named | null;
  signedIn: boolean;
  /** Where signing in returns to. */
  here: string;
  /** As the record states it: where the bytes are elsewhere. */
  contentUrl: string | null;
  /** Where people get it besides: source code, or a page of the object. */
  elsewhere: string | null;
  /** Files of the record. */
  files: number;
  /** People expect data of it. */
  isData: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  "application/zip": "ZIP",
  "application/json": "JSON",
  "application/ld+json": "JSON-LD",
  "application/pdf": "PDF",
  "application/vnd.apache.parquet": "Parquet",
  "text/csv": "CSV",
  "text/tab-separated-values": "TSV",
  "text/plain": "text",
  "text/x-python": "Python",
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/svg+xml": "SVG",
};

/** A media type in a word; one that is not known has none. */
export const typeText = (mediaType: string | null): string =>
  ownValue(TYPES, (mediaType ?? "").split(";", 1)[0]!.trim().toLowerCase()) ?? "";

/** The one way to the content: the download, or what to do to get it. */
export function Access(props: AccessProps) {
  const { content, contentUrl, elsewhere, files, isData } = props;
  if (content?.state === "STORED" && content.readable && content.address)
    return <Download content={content} />;
  if (content?.state === "STORED") return <Refused {...props} />;
  if (content?.state === "DAMAGED")
    return <Instead>The stored content is damaged and cannot be downloaded at the moment.</Instead>;
  if (content?.state === "DELETED")
    return <Instead>The content was deleted. Its description is preserved.</Instead>;
  if (files > 0)
    return (
      <a class="button" href="#files">
        {files === 1 ? "See its file" : "See its files"}
      </a>
    );
  const address = [contentUrl, elsewhere].find((one) => one !== null && isWebAddress(one));
  if (address && URL.canParse(address))
    return (
      <a class="button" href={address} rel="nofollow noopener">
        {isData ? "The data are at" : "Open at"} {shortened(new URL(address).host, 40)}
      </a>
    );
  if (content && contentUrl !== null)
    return <Instead>The content is not stored here. The record states where it is.</Instead>;
  return isData ? (
    <Instead>A description only: the record has no file, and names none elsewhere.</Instead>
  ) : null;
}

export const Download = ({ content, label }: { content: Stored; label?: string }) => (
  <a class="button" href={content.address!} download>
    {downloadText(label ?? "Download", content)}
    <DownloadSize content={content} />
  </a>
);

const downloadText = (what: string, { mediaType }: Stored): string =>
  [what, typeText(mediaType)].filter(Boolean).join(" ");

const DownloadSize = ({ content: { size } }: { content: Stored }) =>
  size === null ? null : <span class="size"> · {sizeText(size)}</span>;

function Refused(props: AccessProps) {
  const { id, isAsked, content, status, embargoEndsAt, owner, signedIn, here } = props;
  return (
    <>
      {!signedIn && (
        <a class="button" href={`/signin?to=${encodeURIComponent(here)}`}>
          {downloadText("Sign in to download", content!)}
          <DownloadSize content={content!} />
        </a>
      )}
      <WhoReads
        record={{ id, publicationStatus: status, embargoEndsAt, owner }}
        signedIn={signedIn}
        isAsked={isAsked}
      />
    </>
  );
}

interface WhoReadsProps {
  record: {
    id: string;
    publicationStatus: string | null;
    embargoEndsAt: string | null;
    owner: Named | null;
  };
  signedIn: boolean;
  /** The reader has asked for access, and nobody has decided. */
  isAsked: boolean;
}

/** For whom files are that the reader may not read. */
export function WhoReads({ record, signedIn, isAsked }: WhoReadsProps) {
  const { publicationStatus: status, embargoEndsAt, owner } = record;
  return (
    <>
      {!isAsked && <AskLink id={record.id} signedIn={signedIn} />}
      <Instead>
        The content{" "}
        {status === "EMBARGOED" && embargoEndsAt
          ? `becomes public on ${dateText(embargoEndsAt)}. Until then it is`
          : "is"}{" "}
        for its owner
        {owner && (
          <>
            {" "}
            (<RecordLink record={owner} />)
          </>
        )}{" "}
        and their group.
      </Instead>
    </>
  );
}

const Instead = ({ children }: { children: ComponentChildren }) => (
  <p class="instead">{children}</p>
);

/** Of more people GraphQL reads the first only, and nobody knows how many follow. */
const MOST_PEOPLE = 200;

/** People in a line. */
export function People({
  people,
}: {
  people: readonly { id: string | null; name: string | null }[];
}) {
  return (
    <>
      {people.slice(0, 12).map((person, index) => (
        <>
          {index > 0 && ", "}
          <Agent agent={{ ...person, name: person.name && shortened(person.name, 240) }} />
        </>
      ))}
      {people.length > 12 &&
        (people.length < MOST_PEOPLE ? ` and ${people.length - 12} more` : " and many more")}
    </>
  );
}
