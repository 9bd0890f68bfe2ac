import { givenArk, openRegistry, type ServerOption } from "../../registry.js";
import { visible } from "../../terminal.js";

interface AccessToken {
  id: string;
  name: string;
  scopes: string[];
  boundTo: string | null;
  usedAt: string | null;
  expiresAt: string;
}

/** `token create`. @throws Failure */
export async function createTokenCommand(
  name: string,
  options: ServerOption & { scope?: string[]; boundTo?: string; until?: string },
): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  const { secret } = await registry.send<{ secret: string }>("POST", "/me/tokens", {
    name,
    ...(options.scope ? { scopes: options.scope } : {}),
    ...(options.boundTo === undefined ? {} : { boundTo: givenArk(options.boundTo) }),
    ...(options.until === undefined ? {} : { expiresAt: options.until }),
  });
  process.stdout.write(`${secret}\n`);
}

/** `token list`: a line for each, columns with tabs between. @throws Failure */
export async function listTokensCommand(options: ServerOption): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  for (const token of await registry.json<AccessToken[]>("/me/tokens")) {
    const { id, name, scopes, boundTo, usedAt, expiresAt } = token;
    const columns = [id, name, scopes.join(","), boundTo ?? "all", usedAt ?? "never", expiresAt];
    process.stdout.write(`${columns.map(visible).join("\t")}\n`);
  }
}

/** `token revoke`. @throws Failure */
export async function revokeTokenCommand(id: string, options: ServerOption): Promise<void> {
  const registry = await openRegistry(options, { token: true });
  await registry.json(`/me/tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
  process.stdout.write(`Revoked ${visible(id)}\n`);
}
