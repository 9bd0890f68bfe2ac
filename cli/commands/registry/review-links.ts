import { givenArk, openRegistry, type ServerOption } from "../../registry.js";
import { visible } from "../../terminal.js";

interface ReviewLink {
  id: string;
  uses: number;
  usedAt: string | null;
  expiresAt: string;
}

const pathOf = (ark: string): string => `/review-links/${encodeURI(givenArk(ark))}`;

/** `review-link create`. @throws Failure */
export async function createLinkCommand(
  ark: string,
  { until, ...options }: ServerOption & { until?: string },
): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  const { address } = await registry.send<{ address: string }>("POST", pathOf(ark), {
    ...(until === undefined ? {} : { expiresAt: until }),
  });
  process.stdout.write(`${address}\n`);
}

/** `review-link list`: a line for each, columns with tabs between. @throws Failure */
export async function listLinksCommand(ark: string, options: ServerOption): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  for (const { id, uses, usedAt, expiresAt } of await registry.json<ReviewLink[]>(pathOf(ark))) {
    const columns = [id, String(uses), usedAt ?? "never", expiresAt];
    process.stdout.write(`${columns.map(visible).join("\t")}\n`);
  }
}

/** `review-link revoke`. @throws Failure */
export async function revokeLinkCommand(
  ark: string,
  id: string,
  options: ServerOption,
): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  const path = `${pathOf(ark)}?link=${encodeURIComponent(id)}`;
  await registry.json(path, { method: "DELETE" });
  process.stdout.write(`Revoked ${visible(id)}\n`);
}
