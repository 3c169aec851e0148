import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { announcedLength, wholeBodyOf } from "@moorage/registry/oci";
import { type AskedLibrary, libraryVulnerabilities, type LibraryVulnerability } from "@moorage/security/security";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { sendJson } from "../requests/send.ts";
import { type Holding, holding } from "../reading/holding.ts";
import { auditRequest } from "./tasks.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
const SEVERITIES: Readonly<Record<LibraryVulnerability["severity"], string>> = {
  CRITICAL: "critical",
  HIGH: "high",
  MEDIUM: "moderate",
  LOW: "low",
  NEGLIGIBLE: "low",
  NONE: "info",
  UNKNOWN: "moderate",
};

/**
 * POST of `-/npm/v1/security/advisories/bulk`, which `npm audit` sends: what the feeds of the installation know of the
 * packages, by their names, without what the group's advisories and trusted VEX documents say does not affect them.
 */
export async function answerAudit(exchange: LibraryExchange, group: string): Promise<void> {
  const { reading } = exchange.deps;
  const held = holding(reading, group);
  try {
    const body = await bodyIn(exchange, held);
    const asked = await reading.run(auditRequest, { body }, body.length);
    await answer(exchange, group, asked);
  } finally {
    held.release();
  }
}

async function answer(exchange: LibraryExchange, group: string, asked: AskedLibrary[]): Promise<void> {
  const found = await read(exchange, ({ tx }) => libraryVulnerabilities(tx, group, asked));
  const answer: Record<string, object[]> = {};
  for (const [at, vulnerabilities] of found.entries()) {
    const { namespace = "", name = "" } = asked[at] ?? {};
    if (vulnerabilities.length > 0)
      answer[namespace === "" ? name : `${namespace}/${name}`] = vulnerabilities.map(advisoryOf);
  }
  sendJson(exchange, 200, answer, { "cache-control": "no-store" });
}

async function bodyIn(exchange: LibraryExchange, { hold }: Holding): Promise<Buffer> {
  const tooLarge = (): Error => libraryError(413, `Invalid argument: body: has more than ${MAX_BODY_BYTES} bytes`);
  await hold(Math.min(announcedLength(exchange.req) ?? MAX_BODY_BYTES, MAX_BODY_BYTES));
  const body = await wholeBodyOf(exchange, MAX_BODY_BYTES, tooLarge);
  if (!/\bgzip\b/.test(exchange.req.headers["content-encoding"] ?? "")) return body;
  const chunks: Buffer[] = [];
  let size = body.length;
  try {
    for await (const chunk of Readable.from([body]).pipe(createGunzip())) {
      size += (chunk as Buffer).length;
      if (size > MAX_JSON_BYTES) break;
      await hold(size);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith("Z_") !== true) throw error;
    size = Infinity;
  }
  if (size > MAX_JSON_BYTES)
    throw libraryError(400, `Invalid argument: body: is no gzip of at most ${MAX_JSON_BYTES} bytes`);
  return Buffer.concat(chunks);
}

/** One advisory, in the form of npm's registry. */
function advisoryOf(known: LibraryVulnerability): object {
  const { id, summary, severity, urls, cwes, scoreTenths } = known;
  return {
    id,
    url: urls.find((url) => url.includes(id)) ?? urls[0] ?? `https://osv.dev/vulnerability/${encodeURIComponent(id)}`,
    title: summary === "" ? id : summary,
    severity: SEVERITIES[severity],
    vulnerable_versions: rangeOf(known),
    cwe: cwes,
    cvss: { score: (scoreTenths ?? 0) / 10, vectorString: null },
  };
}

/** What is affected as a range of npm. Where the record has no ranges that still hold, the versions asked about. */
function rangeOf({ intervals, versions }: LibraryVulnerability): string {
  if (intervals === undefined || intervals.length === 0) return versions.join(" || ");
  return intervals
    .map(({ from, fixed, last }) => {
      const parts = [
        ...(from === undefined ? [] : [`>=${from}`]),
        ...(fixed === undefined ? [] : [`<${fixed}`]),
        ...(last === undefined ? [] : [`<=${last}`]),
      ];
      return parts.length === 0 ? "*" : parts.join(" ");
    })
    .join(" || ");
}
