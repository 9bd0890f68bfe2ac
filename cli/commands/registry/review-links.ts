import { givenArk, openRegistry, type ServerOption } from "../../registry.js";
import { visible } from "../../terminal.js";

interface ReviewLink {
  id: string;
  anonymous: boolean;
  uses: number;
  usedAt: string | null;
  expiresAt: string;
}

const pathOf = (ark: string): string => `/review-links/${encodeURI(givenArk(ark))}`;

/** `review-link create`. @throws Failure */
export async function createLinkCommand(
  ark: string,
  { until, anonymous = false, ...options }: ServerOption & { until?: string; anonymous?: boolean },
): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  const { address } = await registry.send<{ address: string }>("POST", pathOf(ark), {
    anonymous,
    ...(until === undefined ? {} : { expiresAt: until }),
  });
  process.stdout.write(`${address}\n`);
}

/** `review-link list`: a line for each, columns with tabs between. @throws Failure */
export async function listLinksCommand(ark: string, options: ServerOption): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  for (const link of await registry.json<ReviewLink[]>(pathOf(ark))) {
    const { id, anonymous, uses, usedAt, expiresAt } = link;
    const shows = anonymous ? "anonymous" : "with names";
    const columns = [id, shows, String(uses), usedAt ?? "never", expiresAt];
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
