/** What an owner does with records: list them, read their history, hand them over, open them. */
import { spawn } from "node:child_process";
import {
  addressOf,
  givenArk,
  openRegistry,
  type Registry,
  type ServerOption,
} from "../../registry.js";
import { Failure, headline, paint, visible } from "../../terminal.js";
import { whoIs } from "./session.js";

/** GraphQL has the kinds in capitals. */
const enumName = (kind: string): string => kind.toUpperCase().replaceAll("-", "_");
const kindName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

export interface ListOptions extends ServerOption {
  kind?: string[];
  status?: string[];
  name?: string;
  crate?: string;
  owner?: string;
  limit: number;
  json?: true;
}

interface Listed {
  id: string;
  kind: string | null;
  label: string | null;
  publicationStatus: string | null;
  modifiedAt: string | null;
}

const LIST = `query ($filter: RecordFilter, $first: Int!) {
  records(filter: $filter, first: $first, orderBy: { field: MODIFIED, direction: DESC }) {
    totalCount
    nodes { id kind label publicationStatus modifiedAt }
  }
}`;

/** `list`: the caller's records, last changed first. @throws Failure */
export async function listCommand({
  kind,
  status,
  name,
  crate,
  owner,
  limit,
  json,
  ...options
}: ListOptions): Promise<void> {
  const registry = await openRegistry(options, { token: owner === undefined });
  const filter = {
    owners: [owner === undefined ? await ownArk(registry) : givenArk(owner)],
    ...(kind && { kinds: kind.map(enumName) }),
    ...(status && { publicationStatus: status }),
    ...(name !== undefined && { name: { contains: name } }),
    ...(crate !== undefined && { crate: givenArk(crate) }),
  };
  const { records } = await registry.graphql<{
    records: { totalCount: number; nodes: Listed[] };
  }>(LIST, { filter, first: limit });
  if (json === true) return void process.stdout.write(`${JSON.stringify(records, null, 2)}\n`);
  const { totalCount: total, nodes } = records;
  const lines = nodes.map(
    ({ id, kind: of, label, publicationStatus, modifiedAt }) =>
      `${headline(visible(label ?? id), [kindName(of ?? "record"), publicationStatus, day(modifiedAt)])}\n` +
      `  ${paint("cyan", addressOf(registry, id))}\n`,
  );
  const rest = nodes.length < total ? `, ${nodes.length} shown: more with --limit` : "";
  process.stdout.write(
    `${lines.join("")}${total === 1 ? "1 record" : `${total} records`}${rest}\n`,
  );
}

const day = (time: string | null): string | null => time?.slice(0, 10) ?? null;

async function ownArk(registry: Registry): Promise<string> {
  const { me } = await whoIs(registry);
  if (!me) throw new Failure(`${registry.address} rejected the token: run arkgraph login`);
  return me.id;
}

interface Revision {
  number: number;
  at: string;
  action: string;
  changed: string[];
  by: { id: string | null; text: string; record: { label: string | null } | null } | null;
}

const HISTORY = `query ($id: ID!, $first: Int!) {
  revisions(id: $id, first: $first) {
    pageInfo { hasNextPage }
    nodes { number at action changed by { id text record { label } } }
  }
}`;

/** `history`: who changed a record, when and where, newest first. @throws Failure */
export async function historyCommand(
  id: string,
  { limit, json, ...options }: ServerOption & { limit: number; json?: true },
): Promise<void> {
  const registry = await openRegistry(options);
  const { revisions } = await registry.graphql<{
    revisions: { pageInfo: { hasNextPage: boolean }; nodes: Revision[] };
  }>(HISTORY, { id: givenArk(id), first: limit });
  if (json === true)
    return void process.stdout.write(`${JSON.stringify(revisions.nodes, null, 2)}\n`);
  const lines = revisions.nodes.map(({ number, at, action, changed, by }) => {
    const who = by === null ? "the registry" : (by.record?.label ?? by.text);
    const where = changed.length === 0 ? "" : `: ${changed.join(", ")}`;
    return visible(`${number}  ${at}  ${action.toLowerCase()} by ${who}${where}`) + "\n";
  });
  const rest = revisions.pageInfo.hasNextPage ? "older revisions: more with --limit\n" : "";
  process.stdout.write(lines.join("") + rest);
}

interface Outcome {
  "@id": string;
  done: boolean;
  message: string | null;
}

/** `transfer`: hands records over to another owner. @throws Failure when one was refused */
export async function transferCommand(
  ids: readonly string[],
  { to, ...options }: ServerOption & { to: string },
): Promise<void> {
  const body = { ids: ids.map(givenArk), owner: givenArk(to) };
  const registry = await openRegistry(options, { token: true });
  const outcomes = await registry.send<Outcome[]>("POST", "/records/transfer", body);
  const refused = outcomes.filter(({ done }) => !done);
  for (const { "@id": ark } of outcomes.filter(({ done }) => done))
    process.stdout.write(`${visible(ark)} belongs to ${body.owner}\n`);
  if (refused.length > 0)
    throw new Failure(
      refused
        .map(({ "@id": ark, message }) => visible(`${ark}: ${message ?? "it was refused"}`))
        .join("; "),
    );
}

/** Programs that open an address in the browser of the desktop. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer" };

/** Whether somebody sits before a desktop here, and not only at the end of a pipe or of SSH. */
function hasDesktop(): boolean {
  if (!process.stdout.isTTY) return false;
  if (OPENERS[process.platform] !== undefined) return process.env["SSH_CONNECTION"] === undefined;
  return (process.env["DISPLAY"] ?? process.env["WAYLAND_DISPLAY"] ?? "") !== "";
}

/** `open`: prints the address of a record's page, and opens it in a browser. @throws Failure */
export async function openCommand(
  id: string,
  { browser, ...options }: ServerOption & { browser: boolean },
): Promise<void> {
  const ark = givenArk(id);
  const address = addressOf(await openRegistry(options), ark);
  process.stdout.write(`${address}\n`);
  if (!browser || !hasDesktop()) return;
  const opener = spawn(OPENERS[process.platform] ?? "xdg-open", [address], {
    stdio: "ignore",
    detached: true,
  });
  // Without such a program the address is there to be copied.
  opener.on("error", () => {});
  opener.unref();
}
