import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { wholeBodyOf } from "../../oci/index.ts";
import { type AskedLibrary, libraryVulnerabilities, type LibraryVulnerability } from "../../security/index.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { sendJson } from "../http/send.ts";
import { isRecord } from "./manifest.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
const MAX_PACKAGES = 20_000;
const MAX_VERSIONS = 200;
const SEVERITIES: Readonly<Record<LibraryVulnerability["severity"], string>> = {
  CRITICAL: "critical",
  HIGH: "high",
  MEDIUM: "moderate",
  LOW: "low",
  NEGLIGIBLE: "low",
  NONE: "info",
  UNKNOWN: "moderate",
};
const unpack = promisify(gunzip);

/**
 * POST of `-/npm/v1/security/advisories/bulk`, which `npm audit` sends: what the feeds of the installation know of the
 * packages, by their names, without what the group's advisories and trusted VEX documents say does not affect them.
 */
export async function answerAudit(exchange: LibraryExchange, group: string): Promise<void> {
  const asked = askedIn(await bodyIn(exchange));
  const found = await read(exchange, ({ tx }) => libraryVulnerabilities(tx, group, asked));
  const answer: Record<string, object[]> = {};
  for (const [at, vulnerabilities] of found.entries()) {
    const { namespace = "", name = "" } = asked[at] ?? {};
    if (vulnerabilities.length > 0)
      answer[namespace === "" ? name : `${namespace}/${name}`] = vulnerabilities.map(advisoryOf);
  }
  sendJson(exchange, 200, answer, { "cache-control": "no-store" });
}

async function bodyIn(exchange: LibraryExchange): Promise<Buffer> {
  const tooLarge = (): Error => libraryError(413, `Invalid argument: body: has more than ${MAX_BODY_BYTES} bytes`);
  const body = await wholeBodyOf(exchange, MAX_BODY_BYTES, tooLarge);
  if (!/\bgzip\b/.test(exchange.req.headers["content-encoding"] ?? "")) return body;
  return await unpack(body, { maxOutputLength: MAX_JSON_BYTES }).catch(() => {
    throw libraryError(400, `Invalid argument: body: is no gzip of at most ${MAX_JSON_BYTES} bytes`);
  });
}

/** The packages and versions of the body: `{"<name>": ["<version>", …]}`. */
function askedIn(body: Buffer): AskedLibrary[] {
  const parsed = parsedBody(body);
  const entries = isRecord(parsed) ? Object.entries(parsed) : undefined;
  const isValid = entries?.every(
    ([, versions]) => Array.isArray(versions) && versions.every((version) => typeof version === "string"),
  );
  if (entries === undefined || isValid !== true)
    throw libraryError(400, "Invalid argument: body: must be an object of lists of versions by package");
  if (entries.length > MAX_PACKAGES)
    throw libraryError(413, `Invalid argument: body: has more than ${MAX_PACKAGES} packages`);
  return entries.map(([full, versions]) => {
    const cut = full.startsWith("@") ? full.indexOf("/") : -1;
    return {
      type: "npm",
      namespace: cut < 0 ? "" : full.slice(0, cut),
      name: full.slice(cut + 1),
      versions: (versions as string[]).slice(0, MAX_VERSIONS),
    };
  });
}

function parsedBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw libraryError(400, "Invalid argument: body: is not JSON");
  }
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
