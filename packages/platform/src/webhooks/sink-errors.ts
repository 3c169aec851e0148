import { FetchError } from "@moorage/kernel/lib/guarded-fetch";

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection broke off before there was an answer",
  EPIPE: "the connection broke off before there was an answer",
  UND_ERR_SOCKET: "the connection broke off before there was an answer",
  ENOTFOUND: "the sink's name has no address",
  EAI_AGAIN: "the sink's name could not be resolved",
  EHOSTUNREACH: "the sink's network cannot be reached",
  ENETUNREACH: "the sink's network cannot be reached",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_OVERFLOW: "the head of the answer is too large",
  EPROTO: "the sink does not speak TLS",
};
// Error codes of OpenSSL and Node for certificates that are not accepted.
const CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;

/**
 * Why a sink did not answer, in this server's own words: the system's messages contain addresses, and change between
 * versions.
 */
export function failureText(error: unknown): string {
  // Connecting to a name with several addresses fails with one error for all of them.
  const first =
    error instanceof AggregateError
      ? (error.errors.find((one) => one instanceof FetchError) ?? error.errors[0])
      : error;
  if (first instanceof FetchError) return first.message;
  if (!(first instanceof Error)) return "the request failed";
  if (first.cause instanceof FetchError) return first.cause.message;
  const code = "code" in first && typeof first.code === "string" ? first.code : undefined;
  if (first.name === "HTTPParserError" || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH")
    return "the answer is not HTTP";
  if (code === undefined) return "the request failed";
  if (CERTIFICATE.test(code))
    return `the sink's certificate is not accepted: ${code.toLowerCase().replaceAll("_", " ")}`;
  if (code.startsWith("ERR_SSL_")) return "the sink does not speak TLS";
  return TEXTS[code] ?? `the request failed: ${code.toLowerCase().replaceAll("_", " ")}`;
}
