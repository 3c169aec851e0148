import { responseSink } from "../../oci/index.ts";
import { matchesEtag } from "../../lib/etags.ts";
import { statement } from "../../store/index.ts";
import { type Made, renderedAs } from "../artifacts/rendered.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { send, sendFile } from "../http/send.ts";
import { noteBlocked, requireOpen, requireSome } from "../policies/check.ts";
import { type BlockedVersion, type Gate, type Shown, shown } from "../policies/gate.ts";
import { goodUntilMs } from "../upstreams/known.ts";
import { type FoundProject, knownProject, listedIn, type Named, offeredIn } from "./found.ts";
import { BESIDE, factsOf, isChanged, type OfferedFile } from "./offered.ts";
import { type SimpleForm, simpleFormOf, simpleIndexParts, simpleProject } from "./simple-pages.ts";
import { fetchListed, PROVENANCE_TYPE } from "./upstream-files.ts";
import { newestOf } from "./versions.ts";

const NAMES_PER_READ = 5_000;
const CACHING = { "cache-control": "private, no-cache", vary: "accept, accept-encoding, authorization" };

/** Sends the client to the path that ends with a slash, or has the project's normalized name. */
export function redirect(exchange: LibraryExchange, location: string): void {
  send(exchange, 301, { location, "content-type": "text/plain; charset=utf-8" }, Buffer.from(`See ${location}\n`));
}

/** GET of a project's page: what is here and what the upstream lists, without what is blocked. */
export async function sendProject(exchange: LibraryExchange, named: Named): Promise<void> {
  const { form, mediaType } = wantedForm(exchange);
  const { "if-none-match": known, "accept-encoding": encodings = "" } = exchange.req.headers;
  const project = await read(exchange, (call) => knownProject(call, exchange, named));
  const found = await listedIn(exchange, project);
  const page = await renderedAs(pageKey(found, form), () => madePage(exchange, found, form), exchange.callData.nowMs);
  noteBlocked(exchange, found.gate, page.blocked);
  exchange.goodUntilMs = goodUntilMs(found, page);
  const headers = { ...CACHING, "content-type": mediaType, etag: page.etag };
  if (matchesEtag(known, page.etag)) return send(exchange, 304, headers, Buffer.alloc(0));
  if (!/\bgzip\b/.test(String(encodings))) return send(exchange, 200, headers, page.plain);
  send(exchange, 200, { ...headers, "content-encoding": "gzip" }, page.gzipped);
}

function pageKey({ group, normalized, artifact, document, removed, gate }: FoundProject, form: SimpleForm): string {
  const ofGroup = artifact === undefined ? "" : `${artifact.uid} ${artifact.revision}`;
  // Without an artifact no revision says what was removed with it.
  return `pypi ${group} ${normalized} ${ofGroup} ${removed} ${document?.revision ?? ""} ${form} ${gate.key}`;
}

async function madePage(exchange: LibraryExchange, found: FoundProject, form: SimpleForm): Promise<Made> {
  const { gate, normalized: name, group } = found;
  const offered = await offeredIn(exchange, found);
  for (const file of offered)
    if (isChanged(file)) exchange.deps.upstreams.changed({ ecosystem: "pypi", group, name, version: file.version });
  const judged = shown(gate, offered, ({ facts }) => facts);
  requireSome(exchange, gate, judged);
  const versions = [...new Set(judged.visible.map(({ version }) => version))];
  return {
    text: simpleProject(form, { name, versions, files: judged.visible }),
    untilMs: judged.nextMs,
    blocked: latestBlocked(gate, offered, judged),
  };
}

/** The version that pip would choose, were it not blocked. */
function latestBlocked(
  gate: Gate,
  offered: readonly OfferedFile[],
  { hidden }: Shown<OfferedFile>,
): BlockedVersion | undefined {
  if (hidden.length === 0) return undefined;
  const latest = newestOf(offered)?.version;
  const open = newestOf(offered.filter(({ facts }) => gate.verdictOn(facts) === undefined))?.version;
  return latest === open ? undefined : hidden.findLast(({ version }) => version === latest);
}

function wantedForm(exchange: LibraryExchange): NonNullable<ReturnType<typeof simpleFormOf>> {
  const wanted = simpleFormOf(exchange.req.headers.accept);
  if (wanted === undefined)
    throw libraryError(406, "Not acceptable: this index is there as HTML and as JSON of version 1 (PEP 691)");
  return wanted;
}

/** GET and HEAD of a file, or of metadata or provenance beside one, whole or a range of it. */
export async function sendDistribution(
  exchange: LibraryExchange,
  { file, ...named }: Named & { file: string },
): Promise<void> {
  const keptFile = () =>
    read(exchange, async (call) => {
      const known = await knownProject(call, exchange, named);
      return { known, kept: known.artifact && (await fileNamed(call.tx, known.artifact.uid, file)) };
    });
  let { known, kept } = await keptFile();
  let isNoted = false;
  if (kept === undefined) {
    ({ isNoted } = await fetchListed(exchange, known, file));
    ({ known, kept } = await keptFile());
  }
  if (kept === undefined) throw libraryError(404, `Not found: ${file}`);
  // Also of a file that has just come: only now is its license known. Each request is noted once.
  if (!isNoted) requireOpen(exchange, known.gate, factsOf(kept));
  const contentType = file.endsWith(BESIDE.provenance) ? PROVENANCE_TYPE : "application/octet-stream";
  await sendFile(exchange, { file: kept.file, contentType });
}

const selectNames = statement<{ normalized: string }>(
  `select normalized from artifacts where parent = ? and ecosystem = ? and normalized > ? order by normalized limit ${NAMES_PER_READ}`,
  ["text", "bigint", "text"],
);

/** GET of the list of all projects of the group, written as it is read: there may be a million. */
export async function sendIndex(
  exchange: LibraryExchange,
  { group: path }: { group: readonly string[] },
): Promise<void> {
  const { form, mediaType } = wantedForm(exchange);
  const { res, req, ecosystem } = exchange;
  const group = await read(exchange, (call) => groupFor(call, path, ecosystem.read));
  res.statusCode = 200;
  for (const [name, value] of Object.entries({ ...CACHING, "content-type": mediaType })) res.setHeader(name, value);
  res.setHeader("x-content-type-options", "nosniff");
  if (req.method === "HEAD") return void res.end();
  const { head, tail, item, between } = simpleIndexParts(form);
  const sink = responseSink(exchange);
  let [after, separator] = ["", head];
  for (;;) {
    const names = await read(exchange, ({ tx }) => selectNames(tx, group, ecosystem.number, after));
    for (const { normalized } of names) {
      await sink(Buffer.from(separator + item(normalized)));
      separator = between;
    }
    const last = names.at(-1);
    if (last === undefined || names.length < NAMES_PER_READ) break;
    after = last.normalized;
  }
  await sink(Buffer.from((separator === head ? head : "") + tail));
  res.end();
}
