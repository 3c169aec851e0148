import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { libraryError } from "../http/errors.ts";

/**
 * Why an upstream could not be used. `unreachable`: it does not answer, or asks to come back later, so that another
 * attempt may succeed; `refused`: it denies access, or this server must not reach it; `wrong`: what it answers is not
 * what it should be.
 */
type UpstreamFailureKind = "unreachable" | "refused" | "wrong";

/** A failed request to an upstream. The message is for people, in one line, and contains no credentials. */
export class UpstreamFailure extends Error {
  readonly kind: UpstreamFailureKind;

  constructor(kind: UpstreamFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Turns an error of the guarded fetch into a failure. Returns any other error as it is. */
export function asFailure(error: unknown): unknown {
  if (!(error instanceof FetchError)) return error;
  return error.kind === "refused"
    ? new UpstreamFailure("wrong", `the server does not fetch that: ${error.message}`, error)
    : new UpstreamFailure("unreachable", unreachableReason(error), error);
}

/** What people can mend, by the codes of Node, OpenSSL and undici. All others share one reason. */
function unreachableReason({ cause }: FetchError): string {
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "the host name of its URL is not found";
  if (code === "ECONNREFUSED") return "nothing listens at the host and port of its URL";
  if (/^CERT_|^ERR_TLS_CERT|_CERT(?:$|_)|^UNABLE_TO_/.test(code)) return `its certificate is not trusted (${code})`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) return `it does not speak TLS as it should (${code})`;
  return "it cannot be reached in time, or broke off";
}

/** What clients are answered: 503, which they repeat, for what another attempt may get, and 502 for the rest. */
export function failureAnswer({ kind, message }: UpstreamFailure): Error {
  return libraryError(kind === "unreachable" ? 503 : 502, `The upstream has failed: ${message}`);
}

/**
 * What is asked of an upstream; undefined when it fails, if what is kept is enough to go on without it. Any other error
 * is thrown.
 */
export async function unlessKept<T>(isKept: boolean, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isKept || !(error instanceof MoorageError) || error.code !== Code.Unavailable) throw error;
    return undefined;
  }
}
