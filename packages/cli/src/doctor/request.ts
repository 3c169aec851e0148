import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { CA_HINT, certificateProblem, isUnknownAuthority } from "../http/certificates.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1 << 20;

/** An answer of a server. */
export interface Answer {
  status: number;
  text: string;
  /** How much the server's clock is ahead of this machine's, to the second; undefined where it says no time. */
  offsetMs: number | undefined;
}

/**
 * GETs the URL, on a connection of its own. `trusts`: whatever the certificate; nothing secret is sent. `maxBytes`: of
 * the answer, by default a MiB. Throws an Error that says why there is no answer.
 */
export function get(
  url: string,
  { trusts = false, maxBytes = MAX_BYTES }: { trusts?: boolean; maxBytes?: number } = {},
): Promise<Answer> {
  const askedMs = Date.now();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = { agent: false, rejectUnauthorized: !trusts, signal: AbortSignal.timeout(TIMEOUT_MS) };
  const request = url.startsWith("https:") ? tlsRequest(url, options) : plainRequest(url, options);
  request.on("error", (error: NodeJS.ErrnoException) =>
    reject(new Error(error.name === "AbortError" ? "no answer in 5 seconds" : whyOf(error))),
  );
  request.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > maxBytes) request.destroy(new Error(`the answer is larger than ${maxBytes >> 20} MiB`));
    });
    response.on("end", () => {
      const serverMs = Date.parse(response.headers.date ?? "");
      const offsetMs = Number.isNaN(serverMs) ? undefined : serverMs + 500 - (askedMs + Date.now()) / 2;
      resolve({ status: response.statusCode ?? 0, text, offsetMs });
    });
    response.on("error", reject);
  });
  request.end();
  return promise;
}

function whyOf(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  if (isUnknownAuthority(error.code ?? "")) return `${certificateProblem(error.code ?? "")}; ${CA_HINT}`;
  return error.message === "" ? (error.code ?? "no connection") : error.message;
}

/** The JSON object of a text; undefined for anything else. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
