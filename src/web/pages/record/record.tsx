import type { ComponentChildren } from "preact";
import { getOrInsert } from "../../../get-or-insert.js";
import { CONNECTIONS } from "../../../model/connections.js";
import { type JsonObject, referencesIn } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { COLLECTIVES, KINDS } from "../../../model/kinds.js";
import { labelOf as labelOfDocument, nameText } from "../../../model/labels.js";
import { plainLine, plainText, textOf } from "../../../model/texts.js";
import { CITED } from "../../../services/formats/facts.js";
import type { Place } from "../../../services/formats/format.js";
import { INDEXED, LEAST_DESCRIPTION } from "../../../services/formats/schema-org.js";
import { landingLinks } from "../../../services/formats/signposting.js";
import { askedArk } from "../../../services/records/find.js";
import { type Landmarks, landmarksOf } from "../../../services/records/list.js";
import { parseDocument, type RecordView } from "../../../services/records/view.js";
import { assetUrl } from "../../assets.js";
import {
  Facts,
  Identifier,
  isWebAddress,
  Keywords,
  Notice,
  Outside,
  PageParts,
  Section,
  When,
} from "../../components.js";
import {
  Agent,
  AGENTS,
  KindLabel,
  Licence,
  type Named,
  RecordCard,
  RecordLink,
  StatusBadge,
} from "../../record-components.js";
import {
  type AccessDecisionFragment,
  type CitationsFragment,
  type ContentPreviewFragment,
  type CratePartsFragment,
  RecordPageDocument,
  type RecordPageQuery,
} from "../../documents.js";
import {
  counted,
  countText,
  kindText,
  labelOf,
  licenceText,
  shortened,
  sizeText,
} from "../../words.js";
import { Markdown } from "../../markdown.js";
import type { Page, PageRequest } from "../../page.js";
import { feedLink, linkPicture, personPath, recordPath, withQuery } from "../../paths.js";
import { DoneNotice, OwnerActions, PublishButton } from "./owner.js";
import { orcidOf } from "../person.js";
import { type Origin, OriginLine, OriginSentence, readOrigin } from "./origin.js";
import { type Collective, Members, OwnedNumbers, readCollective, Rights } from "../collective.js";
import { AccessNotice, ownAccess } from "./ask.js";
import { Access, People, type Stored, WhoReads } from "./access.js";
import { Contents, Datasheet, hasDatasheet, OwnPage, Subcrates } from "./crate.js";
import { Scorecard } from "./score.js";
import { Cite, Details, headData, Metadata, type Names, withUrls } from "./details.js";
import { type FileOf, Files, FolderSection, Gallery, Preview } from "./files.js";
import { type Profiled, ProfileSections, readProfiles } from "./profile.js";
import { Readme, type ReadmeFile, readReadme } from "./readme.js";
import {
  countOf,
  hasAny,
  hasProvenance,
  MAX_BRIEF,
  type PageRecord,
  Provenance,
  type Related,
  Relation,
  relatedPath,
} from "./provenance.js";

/**
 * The page of a record, for people: what it is, whose it is, whether it may be used, how to get it
 * and where it came from.
 * @param view the record as REST has read it: the current one, or an earlier revision
 */
export async function recordPage(
  request: PageRequest,
  view: RecordView,
  place: Place,
): Promise<Page> {
  const { kind, ark: id } = view.record;
  const { activity = false } = KINDS[kind];
  const agent = AGENTS.has(kind);
  const thing = !activity && !agent;
  const asking = request.ask(RecordPageDocument, {
    id,
    activity,
    agent,
    thing,
    crate: kind === "rocrate",
    cited: CITED.includes(kind),
    indexed: INDEXED.includes(kind) && view.record.publicationStatus === "PUBLISHED",
    file: KINDS[kind].hasContent === true && kind !== "rocrate",
  });
  // Who may change the record has no request for it.
  const isOpen = agent || view.record.publicationStatus === "PUBLISHED";
  const [answer, origin, access, collective] = await Promise.all([
    asking,
    agent ? null : readOrigin(request, id),
    isOpen ? null : ownAccess(request, id),
    COLLECTIVES.has(kind) ? readCollective(request, id) : null,
  ]);
  const landmarks = landmarksOf({ ...view.record, document: view.bytes });
  const crate = crateOf(answer.record!);
  const document = parseDocument(view.bytes);
  const readme = crate ? await readReadme(request.ask, id, crate.folder) : null;
  const profiled = crate ? await readProfiles(request.ask, id, document) : null;
  const isReadable = hasOpenFiles({ request, record: answer.record!, access, landmarks });
  const metadataSize =
    crate && !(isReadable && hasFiles(crate.folder)) && isSmall(crate)
      ? await request.metadataSize(askedArk(id))
      : null;
  // A crate without a name is called as its archive, which the store knows.
  const title = nameText({ id, name: labelOfDocument(document) ?? landmarks.name, kind });
  return {
    title,
    description: plainLine(shortened(landmarks.description ?? "", MAX_SUMMARY)) || null,
    section: "browse",
    styles: [assetUrl("picture.css")],
    ...(agent ? {} : { image: linkPicture(id) }),
    links: [
      ...landingLinks(place, landmarks).map(({ rel, href, ...more }) => ({ rel, href, ...more })),
      ...feedsOf(kind, id),
    ],
    ...dataOf(answer.record!, document, view),
    body: (
      <Body
        {...{ request, landmarks, title, document, kind, metadataSize }}
        record={answer.record!}
        owned={answer.owned}
        collective={collective}
        holdings={answer.holdings}
        contents={answer.contents}
        subcrates={answer.subcrates}
        entities={answer.entities}
        pictures={answer.pictures}
        origin={origin}
        access={access}
        readme={readme}
        profiled={profiled}
        past={pastOf(request, answer.record!)}
      />
    ),
  };
}

/** The feed of what an agent owns. */
const feedsOf = (kind: KindName, id: string) =>
  AGENTS.has(kind) ? [feedLink(kind === "project" ? { project: id } : { owner: id })] : [];

/** Characters of a description of which the summary for search engines is made. */
const MAX_SUMMARY = 5_000;

/** Kinds whose pages say so when nothing is stated about their origin. */
const STATES_ORIGIN: ReadonlySet<KindName> = new Set([
  "dataset",
  "datadownload",
  "computation",
  "experiment",
  "mlmodel",
]);

const textMember = (document: JsonObject, name: string): string | null => textOf(document[name]);

/** For programs that read the page; search engines get public records in the terms of schema.org. */
function dataOf(
  { schemaOrg }: PageRecord,
  document: JsonObject,
  { bytes }: RecordView,
): Pick<Page, "data"> {
  const data = schemaOrg
    ? (JSON.parse(schemaOrg.text) as JsonObject)
    : headData(document, bytes.length);
  return data === undefined ? {} : { data };
}

/** The revision that is shown, where it is not the current one. */
function pastOf({ query }: PageRequest, { revision }: PageRecord): number | null {
  const asked = Number(query.get("revision") ?? "");
  return asked > 0 && asked !== revision ? asked : null;
}

interface BodyProps {
  request: PageRequest;
  record: PageRecord;
  owned: RecordPageQuery["owned"];
  /** Of a group, organization or project. */
  collective: Collective | null;
  holdings: RecordPageQuery["holdings"];
  contents: RecordPageQuery["contents"];
  subcrates: RecordPageQuery["subcrates"];
  entities: RecordPageQuery["entities"];
  pictures: RecordPageQuery["pictures"];
  /** Of a thing or an activity; null while the graph cannot be asked. */
  origin: Origin | null;
  /** The reader's own request for the content. */
  access: AccessDecisionFragment | null;
  readme: ReadmeFile | null;
  profiled: Profiled | null;
  /** Bytes of a crate's metadata, where its download is offered and they are few. */
  metadataSize: number | null;
  landmarks: Landmarks;
  document: JsonObject;
  kind: KindName;
  title: string;
  past: number | null;
}

function Body(props: BodyProps) {
  const { record, landmarks, document, kind, past, contents, readme, profiled } = props;
  const names = withUrls(
    new Map(
      [...record.references.nodes, ...record.backward.nodes].map(({ record: { id, ...known } }) => [
        id,
        known,
      ]),
    ),
    document,
    landmarks.record.crate ?? (kind === "rocrate" ? landmarks.record.ark : null),
  );
  const files = filesOf(record);
  const crate = crateOf(record);
  const isAgent = AGENTS.has(kind);
  return (
    <>
      <Crumb record={record} kind={kind} />
      {record.mayChange && <DoneNotice id={record.id} request={props.request} />}
      <Head {...props} names={names} files={files.length} />
      {past !== null && (
        <Notice tone="warning">
          This is revision {past} of {record.revision}.{" "}
          <a href={recordPath(record.id)}>See the current version</a> or{" "}
          <a href={recordPath(record.id, "history")}>what has changed</a>.
        </Notice>
      )}
      <ArchivedNotice record={record} />
      {props.access && !record.mayChange && <AccessNotice access={props.access} />}
      {landmarks.record.private && (
        <Notice>
          Private: until it is published, only those see this record who may change it, or have a
          review link.
        </Notice>
      )}
      {crate && <CrateParts record={record} crate={crate} profiled={profiled} />}
      <OriginPart {...props} />
      <div class="columns record">
        <div>
          {profiled && <ProfileSections profiled={profiled} />}
          <Preview id={record.id} name={props.title} preview={previewOf(record)} />
          {crate && (
            <>
              <FolderSection crate={record.id} folder={crate.folder} />
              <Gallery pictures={props.pictures} />
              {readme && <Readme crate={record.id} readme={readme} />}
              <Subcrates id={record.id} subcrates={props.subcrates} />
              <Datasheet sections={crate.datasheet} mayChange={record.mayChange} />
            </>
          )}
          <Details kind={kind} document={document} names={names} />
          {!crate && <FilesSection record={record} files={files} />}
          {contents && crate && (
            <Contents
              id={record.id}
              counts={crate.recordCounts}
              contents={contents}
              entities={props.entities}
            />
          )}
          {crate && <CrateChecks record={record} crate={crate} title={props.title} />}
          <MembersSection {...props} />
          {isAgent && <Holdings {...props} />}
          <Relations record={record} kind={kind} />
          <Metadata kind={kind} document={document} names={names} content={contentOf(record)} />
        </div>
        <aside>
          <Cite citations={citationsOf(record)} />
          <About {...props} />
          {landmarks.keywords.length > 0 && (
            <div class="panel">
              <h2>Keywords</h2>
              <Keywords words={landmarks.keywords} />
            </div>
          )}
          <Formats formats={record.formats} />
        </aside>
      </div>
    </>
  );
}

/** Where the record came from: in a sentence, in facts and as a picture. */
function OriginPart({ record, kind, origin }: BodyProps) {
  // Of a licence or an organization its other names stand beside it, without an arrow.
  const drawn = (origin?.picture.edges.length ?? 0) > 0;
  const isUnknown = origin === null && !AGENTS.has(kind);
  if (!hasProvenance(record) && !drawn && !isUnknown && !STATES_ORIGIN.has(kind)) return null;
  const crate = crateOf(record);
  return (
    <Provenance record={record} picture={origin?.picture}>
      {isUnknown && (
        <p class="quiet">
          The graph is not available now: its picture comes when you reload later.
        </p>
      )}
      {origin?.facts && (
        <>
          <OriginSentence origin={origin.facts} />
          <OriginLine
            id={record.id}
            origin={origin.facts}
            licence={licenceOf(record)}
            {...(crate && { score: crate.score ? scoreText(crate.score) : null })}
          />
        </>
      )}
    </Provenance>
  );
}

/** Why the record is archived, and what to use instead. */
function ArchivedNotice({ record: { tombstone } }: { record: PageRecord }) {
  if (!tombstone) return null;
  const { reason, successor } = tombstone;
  return (
    <Notice tone="warning">
      This record is archived
      {reason !== null && (
        <>
          : <bdi>{shortened(reason, 2000)}</bdi>
        </>
      )}
      .
      {successor !== null && (
        <>
          {" "}
          Use <RecordLink record={{ id: successor.text }} /> instead.
        </>
      )}
    </Notice>
  );
}

/** The files of a record that is no crate. */
function FilesSection({
  record,
  files,
}: {
  record: PageRecord;
  files: ReturnType<typeof filesOf>;
}) {
  if (files.length === 0) return null;
  const count = countOf(record.distribution!);
  return (
    <Section id="files" title="Files" count={countText(count)}>
      <Files files={files} />
      {count > files.length && (
        <p>
          <a href={relatedPath(record.id, "DISTRIBUTION")}>All files</a>
        </p>
      )}
    </Section>
  );
}

/** The score of a crate, its validation, and the page that came with it. */
function CrateChecks({
  record,
  crate,
  title,
}: {
  record: PageRecord;
  crate: NonNullable<ReturnType<typeof crateOf>>;
  title: string;
}) {
  return (
    <>
      <Scorecard
        id={record.id}
        score={crate.score}
        history={crate.scoreHistory}
        mayChange={record.mayChange}
      />
      <Section id="validation" title="Validation">
        <p>
          <a href={recordPath(record.id, "validation")}>Check the crate</a> and everything that it
          describes by the shapes of their kinds, or look for{" "}
          <a href={recordPath(record.id, "references")}>references that lead nowhere</a>.
        </p>
      </Section>
      {crate.addresses.page !== null && contentOf(record)?.readable && (
        <OwnPage address={crate.addresses.page} name={title} />
      )}
    </>
  );
}

/** Where the record is: in its crate, else among its kind. */
function Crumb({ record, kind }: { record: PageRecord; kind: KindName }) {
  return (
    <nav class="crumb" aria-label="Where this is">
      {record.crate ? (
        <RecordLink record={record.crate} glyph />
      ) : (
        <a href={browsePath(kind)}>{kindText(kind, true)}</a>
      )}{" "}
      <span aria-hidden="true">›</span>
    </nav>
  );
}

/** A licence in few words; one that is an address of another kind stands in the head. */
function licenceOf({ license }: PageRecord): string | null {
  const stated = license?.trim() ?? "";
  const text = stated === "" ? null : licenceText(stated);
  return text !== null && /^https?:/i.test(text) ? "licence stated" : text;
}

const browsePath = (kind: KindName): string => `/browse/${kind}`;

function Head(props: BodyProps & { names: Names; files: number }) {
  const { record, landmarks, document, kind, title, names } = props;
  const { owner } = record;
  // Nobody is shown by an identifier where a name should be.
  const creators = record.creators.filter(({ name }) => name !== null);
  const license = record.license?.trim() ?? "";
  const parts: ComponentChildren[] = [<KindLabel kind={record.kind} types={record.types} />];
  if (creators.length > 0)
    parts.push(
      <>
        by <People people={creators} />
      </>,
    );
  // Proved by a sign-in at ORCID, not stated in the record.
  if ("orcid" in record && record.orcid !== null)
    parts.push(<Agent agent={{ id: record.orcid, name: null }} />);
  if (owner)
    parts.push(
      <>
        owned by <RecordLink record={owner} />
      </>,
    );
  const orcid = kind === "entity" ? orcidOf(document) : null;
  if (orcid !== null) parts.push(<a href={personPath(orcid)}>All works of this person</a>);
  if (license !== "") parts.push(<Licence licence={license} known={knownAs(names, license)} />);
  return (
    <header class="record-head">
      <div class="over">
        <h1 dir="auto">{shortened(title, 300)}</h1>
        <p class="state">
          {!AGENTS.has(kind) && (
            <StatusBadge
              status={record.publicationStatus}
              visibility={record.visibility}
              embargoEndsAt={record.embargoEndsAt}
            />
          )}{" "}
          <a class="quiet" href={recordPath(record.id, "history")}>
            revision {record.revision}
          </a>{" "}
          <span class="quiet">
            · <When at={record.modifiedAt} />
          </span>
        </p>
      </div>
      <p class="byline">
        {parts.map((part, index) => (
          <>
            {index > 0 && <span class="dot"> · </span>}
            {part}
          </>
        ))}
      </p>
      <HeadActions {...props} />
      <Summary text={landmarks.description} />
      <SearchHint {...props} />
    </header>
  );
}

/** What one can do with the record: the owner first publishes a draft. */
function HeadActions(props: BodyProps & { files: number }) {
  const { request, record, document, kind, files, access } = props;
  const crate = crateOf(record);
  const editable = record.mayChange && request.viewer !== null && kind !== "user";
  // Groups and organizations are not published.
  const mine = editable && !AGENTS.has(kind);
  return (
    <div class={mine && record.publicationStatus === "DRAFT" ? "actions draft" : "actions"}>
      {mine && <PublishButton record={record} />}
      {crate ? (
        <CrateDownloads
          addresses={crate.addresses}
          content={contentOf(record)}
          folder={crate.folder}
          record={record}
          isOpen={hasOpenFiles(props)}
          isAsked={access?.state === "ASKED"}
          metadataSize={props.metadataSize}
          signIn={request.viewer ? null : signInPath(request)}
        />
      ) : (
        <Access
          id={record.id}
          isAsked={access?.state === "ASKED"}
          content={contentOf(record)}
          status={record.publicationStatus}
          embargoEndsAt={record.embargoEndsAt}
          owner={record.owner}
          signedIn={request.viewer !== null}
          here={request.req.url ?? "/"}
          contentUrl={textMember(document, "contentUrl")}
          elsewhere={elsewhereOf(kind, document)}
          isData={kind === "dataset" || kind === "datadownload"}
          files={files}
        />
      )}
      {citationsOf(record).citation && (
        <a class="button secondary" href="#cite">
          Cite
        </a>
      )}
      {!AGENTS.has(kind) && (
        <a class="button secondary" href={recordPath(record.id, "share")}>
          Share
        </a>
      )}
      {mine && <OwnerActions record={record} kind={kind} />}
      {editable && !mine && (
        <a class="button secondary" href={recordPath(record.id, "edit")}>
          Edit
        </a>
      )}
    </div>
  );
}

/** Where people get it besides: source code, or a page of the object; of a licence its text. */
const elsewhereOf = (kind: KindName, document: JsonObject): string | null =>
  textMember(document, "codeRepository") ??
  textMember(document, "url") ??
  (kind === "entity" ? referencesIn(document["sameAs"]).find(isWebAddress) : null) ??
  null;

/** The record that a URL or an identifier names, where one is known. */
function knownAs(names: Names, stated: string): Named | undefined {
  const known = names.get(stated);
  return known && { id: known.id ?? stated, name: known.name, kind: known.kind };
}

interface CratePartsProps {
  record: PageRecord;
  crate: CratePartsFragment;
  profiled: Profiled | null;
}

/** Links to the parts of the page of a crate. */
function CrateParts({ record, crate, profiled }: CratePartsProps) {
  const sheet = { sections: crate.datasheet, mayChange: record.mayChange };
  const parts: readonly (readonly [string, string])[] = [
    ...(profiled?.profiles ?? []).map(({ id, title }) => [`#${id}`, title] as const),
    ["#files", `Files (${countText(crate.folder.fileCount)})`],
    ...(hasDatasheet(sheet) ? [["#datasheet", "Datasheet"] as const] : []),
    ["#contents", "Contents"],
    [recordPath(record.id, "evidence"), "Evidence"],
    ["#score", crate.score ? `AI-readiness (${scoreText(crate.score)})` : "AI-readiness"],
    ["#validation", "Validation"],
    [recordPath(record.id, "history"), "History"],
  ];
  return <PageParts parts={parts} />;
}

const scoreText = ({ totals }: NonNullable<CratePartsFragment["score"]>): string =>
  `${totals.met} of ${totals.total}`;

const signInPath = ({ req }: PageRequest): string => withQuery("/signin", { to: req.url ?? "/" });

/** Whether the reader may have the files of a crate. */
function hasOpenFiles(props: Pick<BodyProps, "request" | "record" | "access" | "landmarks">) {
  const { request, record, access, landmarks } = props;
  const { review } = request;
  if (record.publicationStatus === "PUBLISHED" || record.mayChange) return true;
  // A private record is there for a reader by a link because the link shows it.
  const isReviewed =
    review !== undefined && (landmarks.record.private || review.record === record.id);
  return isReviewed || access?.state === "GRANTED";
}

type Amount = Pick<CratePartsFragment["folder"], "fileCount" | "size">;

const hasFiles = ({ fileCount, size }: Amount): boolean => fileCount > 0 && size > 0;

/** Most records of a crate whose metadata is written to say how large it is. */
const MAX_WRITTEN = 200;

const isSmall = ({ recordCounts }: Pick<CratePartsFragment, "recordCounts">): boolean =>
  recordCounts.reduce((sum, { count }) => sum + count, 0) <= MAX_WRITTEN;

interface CrateDownloadsProps {
  addresses: CratePartsFragment["addresses"];
  metadataSize: number | null;
  content: Stored | undefined;
  /** Its files and their bytes. */
  folder: Amount;
  record: PageRecord;
  /** The reader may have its files. Whether its archive is stored says nothing about them. */
  isOpen: boolean;
  /** The reader asked for access, and nobody has decided. */
  isAsked: boolean;
  /** Where one signs in; null where one has. */
  signIn: string | null;
}

/** What one gets stands on the button: files, or the metadata alone. */
function CrateDownloads(props: CrateDownloadsProps) {
  const { addresses, content, folder, record, isOpen, isAsked, signIn, metadataSize } = props;
  const size = <span class="size"> · {sizeText(folder.size)}</span>;
  const files = counted(folder.fileCount, "file");
  if (hasFiles(folder) && isOpen)
    return (
      <>
        <a class="button" href={addresses.current} download>
          Download {files}
          {size}
        </a>
        {addresses.uploaded !== null && content?.readable && (
          <a class="button secondary" href={addresses.uploaded} download>
            As uploaded
            {content.size !== null && <span class="size"> · {sizeText(content.size)}</span>}
          </a>
        )}
      </>
    );
  const isHidden = hasFiles(folder) && !isOpen;
  return (
    <>
      {isHidden && signIn !== null && (
        <a class="button" href={signIn}>
          Sign in to download {files}
          {size}
        </a>
      )}
      <a
        class={isHidden ? "button secondary" : "button"}
        // A browser would get the page of the crate without it.
        href={`${addresses.metadata}?format=rocrate`}
        download="ro-crate-metadata.json"
      >
        Download the metadata
        {metadataSize !== null && <span class="size"> · {sizeText(metadataSize)}</span>}
      </a>
      {isHidden && <WhoReads record={record} signedIn={signIn === null} isAsked={isAsked} />}
    </>
  );
}

/** Characters of a description that are shown at once, and at all. */
const [LEAD_CHARS, MAX_DESCRIPTION_CHARS] = [420, 20_000];

function Summary({ text }: { text: string | null }) {
  if (text === null || text.trim() === "") return null;
  const whole = text.trim();
  if (whole.length <= LEAD_CHARS + 100) return <Markdown text={whole} />;
  return (
    <>
      <p dir="auto" class="summary">
        {shortened(plainText(whole), LEAD_CHARS)}
      </p>
      <details class="more">
        <summary>The whole description</summary>
        <Markdown text={shortened(whole, MAX_DESCRIPTION_CHARS)} />
      </details>
    </>
  );
}

/** For those who may change it: what keeps the record out of search engines. */
function SearchHint({ record, landmarks, kind }: BodyProps) {
  const length = plainText(shortened(landmarks.description ?? "", MAX_SUMMARY)).length;
  if (!record.mayChange || !INDEXED.includes(kind) || length >= LEAST_DESCRIPTION) return null;
  return (
    <p class="quiet">
      {length === 0 ? "There is no description." : `The description has ${length} characters.`}{" "}
      Google Dataset Search lists data with {LEAST_DESCRIPTION} characters or more.
    </p>
  );
}

function About({ record, landmarks, document }: BodyProps) {
  const content = contentOf(record);
  const version = textMember(document, "version");
  return (
    <div class="panel" id="about">
      <h2>About</h2>
      <Facts
        rows={[
          ["Identifier", <Identifier id={record.id} />],
          ["DOI", doiOf(record)],
          ["Version", version !== null && <bdi>{shortened(version, 100)}</bdi>],
          ["Published", landmarks.datePublished !== null && <When at={landmarks.datePublished} />],
          ["Registered", <When at={record.createdAt} />],
          ["Changed", <When at={record.modifiedAt} />],
          [
            "Revision",
            <>
              {record.revision} · <a href={recordPath(record.id, "history")}>History</a>
            </>,
          ],
          ["Media type", content?.mediaType && shortened(content.mediaType, 80)],
          ["SHA-256", content?.sha256 && <code class="hash">{content.sha256}</code>],
        ]}
      />
    </div>
  );
}

/** The DOI of the record, or the way to one for those who may reserve it. */
function doiOf({ id, doi, doiReservation }: PageRecord): ComponentChildren {
  if (doi !== null) return <Outside href={`https://doi.org/${doi}`}>{shortened(doi, 100)}</Outside>;
  const page = recordPath(id, "reserve");
  if (doiReservation === "POSSIBLE") return <a href={page}>Reserve a DOI</a>;
  return (
    doiReservation === "NO_SERVICE" && (
      <>
        none, <a href={page}>why</a>
      </>
    )
  );
}

/** The metadata of the record for programs, each format with what it is for. */
function Formats({ formats }: { formats: PageRecord["formats"] }) {
  return (
    <div class="panel" id="formats">
      <h2>Formats</h2>
      <p>The metadata for programs:</p>
      <ul class="formats">
        {formats.filter(isForPrograms).map(({ label, description, address }) => (
          <li>
            <a href={address} title={description}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Not this page itself. */
const isForPrograms = ({ name }: PageRecord["formats"][number]): boolean => name !== "html";

const filesOf = (record: PageRecord): readonly FileOf[] => record.distribution?.nodes ?? [];

/** Of kinds that are cited. */
const citationsOf = (record: PageRecord): Partial<CitationsFragment> =>
  "citation" in record ? (record as unknown as CitationsFragment) : {};

/** What only crates have. */
const crateOf = (record: PageRecord): CratePartsFragment | undefined =>
  "addresses" in record ? (record as unknown as CratePartsFragment) : undefined;

/** Stored bytes, of kinds that may have some. */
const contentOf = (record: PageRecord): Stored | undefined =>
  "content" in record ? record.content : undefined;

/** What the stored bytes look like, of kinds that may have some. */
const previewOf = (record: PageRecord): ContentPreviewFragment["preview"] | undefined =>
  "preview" in record ? (record as unknown as ContentPreviewFragment).preview : undefined;

/** Predicates whose back-links the page lists elsewhere. */
const LISTED: ReadonlySet<string> = new Set([
  "schema:owner",
  ...Object.values(CONNECTIONS).flatMap((connection) => connection.in),
  ...Object.values(CONNECTIONS).flatMap((connection) => connection.out),
]);

/** Records that are shown of those that name this one by other predicates. */
const MAX_NAMING = 20;

function Relations({ record, kind }: { record: PageRecord; kind: KindName }) {
  const { id } = record;
  const others = record.backward.nodes.filter(
    ({ predicate, record: { id: other } }) =>
      !LISTED.has(predicate) && !other.endsWith("/ro-crate-metadata.json"),
  );
  const namedAs = new Map<string, Named[]>();
  for (const { predicate, record: other } of others.slice(0, MAX_NAMING))
    getOrInsert(namedAs, predicate, () => []).push(other);
  // What the picture above names in full is not repeated.
  const beyond = (related: Related | undefined): Related | undefined =>
    related !== undefined && countOf(related) > MAX_BRIEF ? related : undefined;
  const partOf =
    record.isPartOf?.nodes.length === 1 && record.isPartOf.nodes[0]!.id === record.crate?.id
      ? undefined
      : record.isPartOf;
  const groups: readonly (readonly [string, string, Related | undefined])[] = [
    ["USED_BY", "Used by", beyond(record.usedBy)],
    ["DERIVED_FROM", "Derived from", beyond(record.derivedFrom)],
    ["DERIVED_TO", "Source of", beyond(record.derivedTo)],
    ["GENERATED", "Generated", beyond(record.generated)],
    ["ANNOTATES", "About", record.annotates],
    ["HAS_PART", "Parts", partsBesides(record, kind)],
    ["IS_PART_OF", "Part of", partOf],
    ["ORGANIZATIONS", "Organizations and groups", record.organizations],
    ["PROJECTS", "Projects", record.projects],
  ];
  if (!groups.some(([, , related]) => hasAny(related)) && others.length === 0) return null;
  return (
    <Section id="related" title={AGENTS.has(kind) ? "People and groups" : "Related"}>
      {groups.map(([relation, title, related]) => (
        <Relation {...{ id, relation, title, related }} />
      ))}
      {[...namedAs].map(([predicate, naming]) => (
        <div class="relation">
          <h3>
            Named as “{shortened(labelOf(predicate).toLowerCase(), 60)}” by{" "}
            <span class="count">{countText(naming.length)}</span>
          </h3>
          <ul class="records">
            {naming.map((other) => (
              <li>
                <RecordLink record={other} glyph />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  );
}

/** Parts that the page does not list as files or as contents. */
function partsBesides(record: PageRecord, kind: KindName): Related | undefined {
  const files = new Set(filesOf(record).map(({ id }) => id));
  const listed = kind === "rocrate" || record.hasPart?.nodes.every(({ id }) => files.has(id));
  return listed ? undefined : record.hasPart;
}

/** Who is in a group, organization or project, and what that means. */
function MembersSection({ collective, request: { viewer } }: BodyProps) {
  if (!collective) return null;
  const mayManage = collective.kind === "GROUP" && collective.owner?.id === viewer?.id;
  return (
    <Section id="members" title="Members" count={countText(collective.members.totalCount)}>
      <Rights collective={collective} />
      <Members collective={collective} />
      {mayManage && (
        <p>
          <a href="/my/groups">Add or remove members</a>
        </p>
      )}
    </Section>
  );
}

/** What a user, group, organization or project owns. */
function Holdings({ record, owned, collective, holdings }: BodyProps) {
  const total = owned?.totalCount ?? 0;
  const shown = holdings?.nodes ?? [];
  return (
    <Section id="records" title="Records">
      {total === 0 ? (
        <p class="quiet">
          {record.name ? <bdi>{shortened(record.name, 80)}</bdi> : "This account"} owns no record.
        </p>
      ) : (
        <>
          {collective && <OwnedNumbers collective={collective} />}
          <div class="results-list">
            {shown.map((each) => (
              <RecordCard record={each} />
            ))}
          </div>
          {total > shown.length && (
            <p>
              <a href={withQuery(recordPath(record.id, "related"), { relation: "owner" })}>
                All {countText(total)} records
              </a>
            </p>
          )}
        </>
      )}
    </Section>
  );
}
