const RESPONSE = "application/graphql-response+json";
const LEGACY = "application/json";

/** Media type of an answer: the one of GraphQL over HTTP for clients that name it, else JSON as ever. */
export function mediaTypeFor(accept: string | undefined): string {
  return `${isModern(accept) ? RESPONSE : LEGACY}; charset=utf-8`;
}

/**
 * Status of an answer without data. In JSON as ever it is 200: an intermediary may have made such an answer as
 * well, so that its status says nothing; the newer type is answered by GraphQL servers only.
 */
export function legacyStatus(accept: string | undefined): 200 | 400 {
  return isModern(accept) ? 400 : 200;
}

function isModern(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes(RESPONSE)) return false;
  return qualityOf(accept, RESPONSE) >= Math.max(qualityOf(accept, LEGACY), Number.MIN_VALUE);
}

function qualityOf(accept: string, type: string): number {
  const range = accept.split(",").map((part) => part.trim().split(";").map((piece) => piece.trim().toLowerCase())).find(([name]) => name === type);
  if (!range) return 0;
  const quality = Number(range.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
  return Number.isFinite(quality) ? quality : 0;
}
