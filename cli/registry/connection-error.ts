import { Failure } from "../failure.js";

/** The registry could not be reached, or did not answer to the end: asking again may help. */
export class ConnectionError extends Failure {}

const TLS = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|HOSTNAME_MISMATCH|INVALID_CA)/;

/** What went wrong on the way, as one sentence without the request's secrets. */
export function connectionError(address: string, error: NodeJS.ErrnoException): Failure {
  const { code = "" } = error;
  const options = { cause: error };
  if (code === "ECONNREFUSED") return new ConnectionError(`${address} refuses the connection: is the registry running there?`, options);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return new ConnectionError(`${address} cannot be found: is the name of the host right?`, options);
  if (code === "ETIMEDOUT" || code === "ESOCKETTIMEDOUT") return new ConnectionError(`${address} does not answer (${error.message})`, options);
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH" || code === "EADDRNOTAVAIL") return new ConnectionError(`${address} cannot be reached from here`, options);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return new Failure(`the certificate of ${address} is for another host: is the name right?`, options);
  if (code === "CERT_HAS_EXPIRED") return new Failure(`the certificate of ${address} has expired`, options);
  if (TLS.test(code)) return new Failure(`the certificate of ${address} is not trusted (${code}): name the authority that signed it in NODE_EXTRA_CA_CERTS`, options);
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return new Failure(`${address} does not speak TLS: is it http:// in place of https://?`, options);
  if (code.startsWith("HPE_")) return new Failure(`${address} does not speak HTTP: is it https:// in place of http://, or another port?`, options);
  return new ConnectionError(`${address} ended the connection before it had answered (${code || error.message})`, options);
}
