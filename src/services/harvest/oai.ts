/** OAI-PMH 2.0: the verbs, their answers, and the metadata formats. */
import { eventLoop } from "../../event-loop-budget.js";
import { ServiceError, ValidationError } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import { XML_DECLARATION } from "../../model/markup.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { dataciteXml } from "../formats/datacite.js";
import { dublinCoreXml } from "../formats/dublin-core.js";
import { element, parent } from "../formats/xml.js";
import type { RecordView } from "../records/view.js";
import {
  datestamp,
  datestampsOf,
  foreign,
  type OaiArguments,
  OaiError,
  oaiArguments,
  readToken,
  type Verb,
  writeToken,
} from "./oai-arguments.js";
import {
  earliestOf,
  filtersOf,
  type ItemPosition,
  itemOf,
  itemsOf,
  listSets,
  type OaiItem,
  type SetPage,
  setsOf,
} from "./oai-items.js";
import { pairs } from "../../pairs.js";

/** A metadata format of the repository. */
interface OaiFormat {
  readonly prefix: string;
  readonly namespace: string;
  readonly schema: string;
  /**
   * The metadata of a record, as one XML element.
   * @throws ValidationError where the record lacks what the format requires
   */
  write(deps: Deps, record: StoredRecord): Promise<string>;
}

/** No format shows what other records imply, so that is not read. */
const viewOf = (record: StoredRecord): RecordView => ({ record, bytes: record.document, etag: "" });

const DUBLIN_CORE: OaiFormat = {
  prefix: "oai_dc",
  namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
  schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
  write: (deps, record) => dublinCoreXml(deps, viewOf(record)),
};

const OAI_DATACITE = "http://schema.datacite.org/oai/oai-1.1/";
/** The envelope in which DataCite's own repository delivers its documents. */
const DATACITE: OaiFormat = {
  prefix: "oai_datacite",
  namespace: OAI_DATACITE,
  schema: `${OAI_DATACITE}oai.xsd`,
  write: async (deps, record) =>
    parent(
      "oai_datacite",
      [
        element("schemaVersion", "4.7"),
        element("datacentreSymbol", deps.config.REGISTRY_NAME),
        parent("payload", [await dataciteXml(deps, viewOf(record))]),
      ],
      { xmlns: OAI_DATACITE, "xsi:schemaLocation": `${OAI_DATACITE} ${OAI_DATACITE}oai.xsd` },
    ),
};

/** The formats of the repository; each record has the first one. */
export const OAI_FORMATS: readonly [OaiFormat, ...OaiFormat[]] = [DUBLIN_CORE, DATACITE];

const NAMESPACE = "http://www.openarchives.org/OAI/2.0/";
const ROOT =
  `${XML_DECLARATION}<OAI-PMH xmlns="${NAMESPACE}" ` +
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
  `xsi:schemaLocation="${NAMESPACE} http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd">\n`;

/** Where harvesters are written to while no operator has set CONTACT_EMAIL; nobody reads it. */
const NO_CONTACT = "contact-not-set@registry.invalid";

/**
 * Answers a request of OAI-PMH 2.0, errors of the protocol included.
 * @param parameters arguments in the order in which they were sent
 * @param signal aborted when nobody waits for the answer any more
 * @returns an XML document
 * @throws ServiceError where the stores cannot answer; harvesters repeat the request
 */
export async function answerOai(
  deps: Deps,
  parameters: Iterable<[name: string, value: string]>,
  signal: AbortSignal,
): Promise<string> {
  const at = Date.now();
  let args: OaiArguments | undefined;
  let body: string;
  try {
    args = oaiArguments(parameters);
    body = `<${args.verb}>${await ANSWERS[args.verb](deps, args, signal)}</${args.verb}>`;
  } catch (error) {
    if (!(error instanceof OaiError)) throw error;
    // Arguments that were not understood are not repeated (section 3.2).
    if (error.code === "badVerb" || error.code === "badArgument") args = undefined;
    body = element("error", error.message, { code: error.code });
  }
  const request = element("request", `${deps.baseUrl()}/oai`, { ...args });
  return `${ROOT}${element("responseDate", datestamp(at))}\n${request}\n${body}\n</OAI-PMH>\n`;
}

type Answer = (deps: Deps, args: OaiArguments, signal: AbortSignal) => Promise<string>;

const ANSWERS: Readonly<Record<Verb, Answer>> = {
  async Identify(deps) {
    const earliest = await earliestOf(deps);
    return [
      element("repositoryName", deps.config.REGISTRY_NAME),
      element("baseURL", `${deps.baseUrl()}/oai`),
      element("protocolVersion", "2.0"),
      element("adminEmail", deps.config.CONTACT_EMAIL ?? NO_CONTACT),
      element("earliestDatestamp", datestamp(earliest ?? 0)),
      element("deletedRecord", "persistent"),
      element("granularity", "YYYY-MM-DDThh:mm:ssZ"),
      element("compression", "gzip"),
      element("compression", "br"),
    ].join("");
  },

  async ListMetadataFormats(deps, { identifier }) {
    const formats: OaiFormat[] = [];
    if (identifier === undefined) formats.push(...OAI_FORMATS);
    else {
      const item = await askedItem(deps, identifier);
      for (const format of OAI_FORMATS)
        if (item.isDeleted || (await metadataOf(deps, item.record, format)) !== undefined)
          formats.push(format);
    }
    if (formats.length === 0)
      throw new OaiError("noMetadataFormats", `${identifier} has no metadata format.`);
    return formats
      .map(
        ({ prefix, schema, namespace }) =>
          "<metadataFormat>" +
          element("metadataPrefix", prefix) +
          element("schema", schema) +
          element("metadataNamespace", namespace) +
          "</metadataFormat>",
      )
      .join("");
  },

  async ListSets(deps, { verb, resumptionToken }) {
    let after: string | undefined;
    if (resumptionToken !== undefined) {
      const [of, position] = readToken(deps.jwtSecret, resumptionToken);
      if (of !== verb) throw foreign();
      after = position as string;
    }
    const { OAI_PAGE_SIZE: limit } = deps.config;
    const page = await setsFrom(deps, limit, after);
    // No list is empty, so a token must lead to a set.
    const rest = page.next === undefined ? undefined : await setsFrom(deps, limit, page.next);
    const sets = page.sets.map(
      ({ spec, name }) => `<set>${element("setSpec", spec)}${element("setName", name)}</set>`,
    );
    if (sets.length === 0)
      throw resumptionToken === undefined
        ? new OaiError("noSetHierarchy", "There are no sets yet: nothing is published.")
        : restIsGone();
    const next =
      page.next !== undefined && rest?.sets.length
        ? writeToken(deps.jwtSecret, [verb, page.next])
        : "";
    const isWhole = next === "" && resumptionToken === undefined;
    return sets.join("") + (isWhole ? "" : tokenElement(next));
  },

  async GetRecord(deps, { identifier, metadataPrefix }) {
    const format = formatOf(metadataPrefix);
    const item = await askedItem(deps, identifier);
    const [sets = []] = await setsOf(deps, [item.record]);
    const record = await recordElement(deps, item, sets, format);
    if (record === undefined)
      throw new OaiError(
        "cannotDisseminateFormat",
        `${identifier} lacks what ${format.prefix} requires; ask for ${OAI_FORMATS[0].prefix}.`,
      );
    return record;
  },

  // Headers are listed where a record has the format, as ListRecords has it.
  ListIdentifiers: (deps, args, signal) =>
    listed(deps, args, signal, async (item, sets, format) =>
      (await recordElement(deps, item, sets, format)) === undefined
        ? undefined
        : header(item, sets),
    ),

  ListRecords: (deps, args, signal) =>
    listed(deps, args, signal, (item, sets, format) => recordElement(deps, item, sets, format)),
};

/** Records that are written in one turn of the event loop. */
const MAX_RECORDS_PER_TURN = 20;

/** The first page from a position that has sets; an empty page where none has. */
async function setsFrom(deps: Deps, limit: number, after: string | undefined): Promise<SetPage> {
  let page = await resumed(() => listSets(deps, limit, after));
  while (page.sets.length === 0 && page.next !== undefined) {
    const { next } = page;
    page = await resumed(() => listSets(deps, limit, next));
  }
  return page;
}

/** A list, and how far it has been read. */
interface Listing {
  args: Pick<OaiArguments, "metadataPrefix" | "from" | "until" | "set">;
  position: ItemPosition;
  /** Items before the page. */
  cursor: number;
  /** ARK of the last item that was sent. */
  last?: string;
}

/**
 * Writes an item for a list.
 * @param sets the sets that it is in
 * @returns `undefined` where the record lacks what the format requires
 */
type ItemWriter = (
  item: OaiItem,
  sets: readonly string[],
  format: OaiFormat,
) => Promise<string | undefined>;

/** A page of a list of items, with the token of the next page. */
async function listed(
  deps: Deps,
  { verb, resumptionToken, ...args }: OaiArguments,
  signal: AbortSignal,
  write: ItemWriter,
): Promise<string> {
  const listing: Listing =
    resumptionToken === undefined
      ? { args, position: [null, null], cursor: 0 }
      : readListing(deps, verb, resumptionToken);
  const format = formatOf(listing.args.metadataPrefix);
  const times = datestampsOf(listing.args);
  const { set } = listing.args;
  const filters = set === undefined ? null : filtersOf(set);
  if (filters === undefined) throw noRecords();
  let { position, cursor } = listing;
  for (;;) {
    signal.throwIfAborted();
    const from = position;
    const page = await resumed(() =>
      itemsOf(deps, filters, times, from, deps.config.OAI_PAGE_SIZE),
    );
    const { written, last } = await writtenOf(deps, page.items, format, write);
    const begins = cursor;
    cursor += page.items.length;
    position = page.position;
    // A page of records that all lack what the format requires is not sent: no list is empty.
    if (last === undefined && page.more) continue;
    if (last === undefined && resumptionToken === undefined) throw noRecords();
    // What was left of the list has gone elsewhere: the item before is sent again.
    if (last === undefined)
      return (await repeated(deps, listing, format, write)) + tokenElement("", begins - 1);
    if (!page.more && resumptionToken === undefined) return written.join("");
    const next = page.more
      ? writeListing(deps, verb, { args: listing.args, position, cursor, last })
      : "";
    return written.join("") + tokenElement(next, begins);
  }
}

/** What is written of items, and the ARK of the last one of which something is. */
async function writtenOf(
  deps: Deps,
  items: readonly OaiItem[],
  format: OaiFormat,
  write: ItemWriter,
): Promise<{ written: string[]; last?: string }> {
  const sets = await setsOf(
    deps,
    items.map(({ record }) => record),
  );
  const written: string[] = [];
  let last: string | undefined;
  for (const [index, [item, own]] of pairs(items, sets).entries()) {
    const text = await write(item, own, format);
    if (text !== undefined) {
      written.push(text);
      last = item.record.ark;
    }
    if (index % MAX_RECORDS_PER_TURN === MAX_RECORDS_PER_TURN - 1) await eventLoop.nextTurn();
  }
  return { written, ...(last === undefined ? {} : { last }) };
}

/**
 * The last item that was sent, as it is now: harvesters take an item that comes again.
 * @throws OaiError `badResumptionToken` where that one is no item any longer
 */
async function repeated(
  deps: Deps,
  { last }: Listing,
  format: OaiFormat,
  write: ItemWriter,
): Promise<string> {
  const ark = last === undefined ? undefined : lookupArk(last);
  const found = ark && (await deps.records.find(ark));
  const item = found && "record" in found ? await itemOf(deps, found.record) : undefined;
  const { written } = await writtenOf(deps, item ? [item] : [], format, write);
  if (written.length === 0) throw restIsGone();
  return written.join("");
}

const restIsGone = (): OaiError =>
  new OaiError(
    "badResumptionToken",
    "What was left of this list is gone; repeat the request without the resumption token.",
  );

const noRecords = (): OaiError =>
  new OaiError("noRecordsMatch", "No records match from, until, set and metadataPrefix.");

function writeListing(deps: Deps, verb: Verb, { args, position, cursor, last }: Listing): string {
  const { metadataPrefix, from = null, until = null, set = null } = args;
  const asked = [verb, metadataPrefix, from, until, set];
  return writeToken(deps.jwtSecret, [...asked, ...position, cursor, last]);
}

/** @throws OaiError `badResumptionToken` */
function readListing(deps: Deps, verb: Verb, token: string): Listing {
  const [of, metadataPrefix, from, until, set, live, deleted, cursor, last] = readToken(
    deps.jwtSecret,
    token,
  ) as [Verb, string, ...(string | null)[]];
  if (of !== verb) throw foreign();
  return {
    args: {
      metadataPrefix,
      ...(from == null ? {} : { from }),
      ...(until == null ? {} : { until }),
      ...(set == null ? {} : { set }),
    },
    position: [live ?? null, deleted ?? null],
    cursor: Number(cursor),
    ...(last == null ? {} : { last }),
  };
}

/** The store refuses positions of another version of the registry. */
async function resumed<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.code === "BAD_REQUEST") throw foreign();
    throw error;
  }
}

/** @throws OaiError `cannotDisseminateFormat` */
function formatOf(prefix = ""): OaiFormat {
  const format = OAI_FORMATS.find((one) => one.prefix === prefix);
  if (format) return format;
  throw new OaiError(
    "cannotDisseminateFormat",
    `There is no metadata format ${prefix.slice(0, 100)}; use one of ` +
      `${OAI_FORMATS.map((one) => one.prefix).join(", ")}.`,
  );
}

/** @throws OaiError `idDoesNotExist` */
async function askedItem(deps: Deps, identifier = ""): Promise<OaiItem> {
  const ark = lookupArk(identifier);
  const found = ark && (await deps.records.find(ark));
  const item = found && "record" in found ? await itemOf(deps, found.record) : undefined;
  if (item) return item;
  throw new OaiError(
    "idDoesNotExist",
    `No published record has the identifier ${identifier.slice(0, 200)}; identifiers are ARKs, ` +
      "for example ark:99999/dataset-images.",
  );
}

/** Identifiers are URIs: characters beyond ASCII are escaped. The key of an ARK is the same. */
const uriOf = (ark: string): string =>
  ark.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));

const header = ({ record, isDeleted }: OaiItem, sets: readonly string[]): string =>
  parent(
    "header",
    [
      element("identifier", uriOf(record.ark)),
      element("datestamp", datestamp(record.modifiedAt)),
      ...sets.map((set) => element("setSpec", set)),
    ],
    isDeleted ? { status: "deleted" } : {},
  );

/** The last page of a list has an empty token. @param cursor items before the page */
const tokenElement = (token: string, cursor?: number): string => {
  const place = cursor === undefined ? "" : ` cursor="${cursor}"`;
  return `<resumptionToken${place}${token === "" ? "/>" : `>${token}</resumptionToken>`}`;
};

/** `undefined` where the record lacks what the format requires. */
async function recordElement(
  deps: Deps,
  item: OaiItem,
  sets: readonly string[],
  format: OaiFormat,
): Promise<string | undefined> {
  if (item.isDeleted) return `<record>${header(item, sets)}</record>`;
  const metadata = await metadataOf(deps, item.record, format);
  return metadata === undefined
    ? undefined
    : `<record>${header(item, sets)}<metadata>${metadata}</metadata></record>`;
}

async function metadataOf(
  deps: Deps,
  record: StoredRecord,
  format: OaiFormat,
): Promise<string | undefined> {
  try {
    return await format.write(deps, record);
  } catch (error) {
    if (error instanceof ValidationError) return undefined;
    throw error;
  }
}
