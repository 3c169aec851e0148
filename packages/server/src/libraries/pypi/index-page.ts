import { responseSink } from "../../oci/index.ts";
import { statement } from "../../store/index.ts";
import { packedRows, smallRows } from "../requests/rows.ts";
import { type Rendered, renderedAs } from "../requests/rendering.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { sendRendered } from "../requests/send-document.ts";
import { send, sendFile } from "../requests/send.ts";
import { noteBlocked, requireOpen, requireSome } from "../requests/check.ts";
import { INLINE_BYTES } from "../reading/limits.ts";
import { goodUntilMs } from "../upstreams/known.ts";
import { type FoundProject, knownProject, listedIn, type Named, removedIn } from "./resolve.ts";
import { BESIDE, factsOf } from "./offer.ts";
import { type SimpleForm, simpleFormOf, simpleIndexParts } from "./simple-pages.ts";
import { fetchListed, PROVENANCE_TYPE } from "./fetch.ts";

const NAMES_PER_READ = 5_000;
const CACHING = { "cache-control": "private, no-cache", vary: "accept, accept-encoding, authorization" };

/** Sends the client to the path that ends with a slash, or has the project's normalized name. */
export function redirect(exchange: LibraryExchange, location: string): void {
  send(exchange, 301, { location, "content-type": "text/plain; charset=utf-8" }, Buffer.from(`See ${location}\n`));
}

/** GET of a project's page: what is here and what the upstream lists, without what is blocked. */
export async function sendProject(exchange: LibraryExchange, named: Named): Promise<void> {
  const { form, mediaType } = wantedForm(exchange);
  const project = await read(exchange, (call) => knownProject(call, exchange, named));
  const found = await listedIn(exchange, project);
  const page = await renderedAs(pageKey(found, form), () => madePage(exchange, found, form), exchange.callData.nowMs);
  noteBlocked(exchange, found.gate, page.blocked);
  exchange.goodUntilMs = goodUntilMs(found, page);
  await sendRendered(exchange, page, { ...CACHING, "content-type": mediaType }, { isCompressed: true });
}

function pageKey({ group, normalized, artifact, document, removed, gate }: FoundProject, form: SimpleForm): string {
  const ofGroup = artifact === undefined ? "" : `${artifact.uid} ${artifact.revision}`;
  // Without an artifact no revision says what was removed with it.
  return `pypi ${group} ${normalized} ${ofGroup} ${removed} ${document?.revision ?? ""} ${form} ${gate.key}`;
}

/** Made here, and of a large project in a task. */
async function madePage(exchange: LibraryExchange, found: FoundProject, form: SimpleForm): Promise<Rendered> {
  const { gate, normalized: name, group, document } = found;
  const { deps, ecosystem } = exchange;
  const named = { group, ecosystem, normalized: name };
  const removed = [...(await removedIn(exchange, found))];
  // Read again, so that the project and its files are of one moment.
  const rows = await smallRows(exchange, named);
  const input = async () => ({
    name,
    form,
    rows: rows === "large" ? await packedRows(exchange, named) : rows,
    removed,
    document: await document?.input(),
    judge: gate.data,
  });
  const bytes = (document?.size ?? 0) + (rows === "large" ? INLINE_BYTES + 1 : rows.bytes);
  const output = await deps.reading.run("pypi.page", input, bytes);
  for (const version of output.changed) deps.upstreams.changed({ ecosystem: "pypi", group, name, version });
  requireSome(exchange, gate, "whole" in output ? output.whole : undefined);
  if (!("rendered" in output)) throw new Error("a page was not rendered");
  return output.rendered;
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
