/** What one sends to others: the address of a record, its citation, and code for other sites. */
import { encodeQR } from "qr";
import { ServiceError } from "../../../errors.js";
import { nameText } from "../../../model/labels.js";
import { CITED } from "../../../services/formats/facts.js";
import { CopyButton, Notice, Section } from "../../components.js";
import { ShareCitationDocument, SharePageDocument, type SharePageQuery } from "../../documents.js";
import { kindOf } from "../../format.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { dateText, shortened } from "../../words.js";
import { TakeBack } from "./owner.js";
import { Back } from "./related.js";

type Shared = NonNullable<SharePageQuery["record"]>;

async function sharePage(request: PageRequest): Promise<Page> {
  const { ask, param, base, query } = request;
  const id = param("ark");
  const { record } = await ask(SharePageDocument, { id });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const cited = CITED.includes(kindOf(record.kind ?? "ENTITY"));
  const citation = cited ? (await ask(ShareCitationDocument, { id })).record?.citation : null;
  const name = nameText(record);
  const address = base + recordPath(record.id);
  const isDone = query.get("done") === "publish" && record.publicationStatus === "PUBLISHED";
  return {
    title: `Share ${shortened(name, 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>{isDone ? "Published" : "Share"}</h1>
        {isDone && (
          <Notice tone="success">
            <p>
              <bdi>{shortened(name, 200)}</bdi> is public: everyone may read and download it.
            </p>
            <TakeBack id={record.id} request={request} />
          </Notice>
        )}
        <Hidden record={record} />
        <div class="share panel">
          <div>
            <Copied label="Link" text={address} />
            <Cited text={citation?.text.trim() ?? ""} />
            <p class="actions">
              <a class="button" href={recordPath(record.id)}>
                Open the record
              </a>
            </p>
          </div>
          <figure>
            <div
              class="qr"
              role="img"
              aria-label={`QR code of ${address}`}
              // Drawn by a library, of the address of this registry.
              dangerouslySetInnerHTML={{ __html: encodeQR(address, "svg", { ecc: "medium" }) }}
            />
            <figcaption>For a poster or a slide</figcaption>
          </figure>
        </div>
        <Embedding
          {...{ name, address }}
          shown={evidenceAddress("", record.id)("badge")}
          picture={evidenceAddress(base, record.id)}
        />
      </>
    ),
  };
}

const evidenceAddress = (base: string, id: string) => (format: "svg" | "badge") =>
  withQuery(`${base}/evidencegraph/query${recordPath(id)}`, {
    format,
    direction: format === "svg" ? "both" : null,
  });

/** Others see the record, but not its files. */
function Hidden({ record }: { record: Shared }) {
  const { publicationStatus: status, embargoEndsAt, mayChange, id } = record;
  if (status === "PUBLISHED") return null;
  return (
    <Notice tone="warning">
      <p>
        {status === "EMBARGOED" && embargoEndsAt
          ? `Under an embargo until ${dateText(embargoEndsAt)}: until then others read the description, but not the files.`
          : "Not public: others read the description, but not the files."}
      </p>
      {mayChange && (
        <p>
          <a class="button" href={withQuery("/my/records/publish", { id })}>
            Publish
          </a>
        </p>
      )}
    </Notice>
  );
}

function Copied({ label, text }: { label: string; text: string }) {
  return (
    <div class="copied">
      <h2>{label}</h2>
      <p>
        <code>{text}</code> <CopyButton text={text} label={`Copy: ${label}`} />
      </p>
    </div>
  );
}

function Cited({ text }: { text: string }) {
  if (text === "") return null;
  const shown = shortened(text, 3000);
  return (
    <div class="copied">
      <h2>Citation</h2>
      <p class="citation" dir="auto">
        {shown} <CopyButton text={shown} label="Copy: Citation" />
      </p>
    </div>
  );
}

interface EmbeddingProps {
  name: string;
  address: string;
  /** The badge as this page shows it. */
  shown: string;
  /** Addresses for other sites. */
  picture: (format: "svg" | "badge") => string;
}

/** Code for a README and for a web page; the pictures are those that the addresses answer. */
function Embedding({ name, address, shown, picture }: EmbeddingProps) {
  const called = shortened(name, 120);
  const html = called.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)!};`);
  const badge = `provenance: ${shortened(called, 80).replace(/[[\]\\`*_<>]/g, "")}`;
  return (
    <Section id="embed" title="On other sites">
      <p>
        <img class="badge-picture" src={shown} alt="Badge of this record" /> A badge for a README.
        It says how much is known about the origin, and changes with the record.
      </p>
      <Code label="Badge in Markdown" text={`[![${badge}](${picture("badge")})](${address})`} />
      <Code
        label="Picture of the evidence in HTML"
        text={`<a href="${address}"><img src="${picture("svg")}" alt="Where ${html} came from"></a>`}
      />
    </Section>
  );
}

const Code = ({ label, text }: { label: string; text: string }) => (
  <>
    <h3>{label}</h3>
    <div class="command">
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  </>
);

export const shareRoutes: readonly Route[] = [{ path: "/share/*ark", get: sharePage }];
