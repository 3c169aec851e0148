import { responseSink } from "@moorage/registry/oci";
import { statement } from "@moorage/kernel/store";
import { libraryError } from "../http/errors.ts";
import { groupFor } from "../http/groups.ts";
import { findDocument, noteDocument, renderDocument } from "../requests/document.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { answerFile } from "../requests/file.ts";
import { sendRendered } from "../requests/send-document.ts";
import { begin, send, sendFile } from "../requests/send.ts";
import { offeredDistribution, PROVENANCE_TYPE } from "./fetch.ts";
import { BESIDE } from "./beside.ts";
import { factsOf } from "./offer.ts";
import { offeredProject, projectNamed, type ProjectPath } from "./resolve.ts";
import { simpleFormOf, simpleIndexParts } from "./simple-pages.ts";
import { projectPage } from "./tasks.ts";

const NAMES_PER_READ = 5_000;
const CACHING = { "cache-control": "private, no-cache", vary: "accept, accept-encoding, authorization" };

/** Sends the client to the path that ends with a slash, or has the project's normalized name. */
export function redirect(exchange: LibraryExchange, location: string): void {
  send(exchange, 301, { location, "content-type": "text/plain; charset=utf-8" }, Buffer.from(`See ${location}\n`));
}

/** GET of a project's page: what is here and what the upstream lists, without what is blocked. */
export async function sendProject(exchange: LibraryExchange, path: ProjectPath): Promise<void> {
  const { form, mediaType } = wantedForm(exchange);
  const named = projectNamed(path);
  const found = await findDocument(exchange, named, offeredProject(named.normalized));
  const page = await renderDocument(exchange, found, { key: form, task: projectPage, extra: () => ({ form }) });
  noteDocument(exchange, found, page);
  await sendRendered(exchange, page, { ...CACHING, "content-type": mediaType }, { isCompressed: true });
}

function wantedForm(exchange: LibraryExchange): NonNullable<ReturnType<typeof simpleFormOf>> {
  const wanted = simpleFormOf(exchange.req.headers.accept);
  if (wanted === undefined)
    throw libraryError(406, "Not acceptable: this index is there as HTML and as JSON of version 1 (PEP 691)");
  return wanted;
}

/** GET and HEAD of a file, or of metadata or provenance beside one, whole or a range of it. */
export async function sendDistribution(exchange: LibraryExchange, path: ProjectPath & { file: string }): Promise<void> {
  const { file } = path;
  await answerFile(exchange, {
    named: projectNamed(path),
    file,
    missing: `Not found: ${file}`,
    facts: (_, kept) => factsOf(kept),
    offer: (asked) => offeredDistribution(exchange, asked, file),
    send: (kept) =>
      sendFile(exchange, {
        file: kept,
        contentType: file.endsWith(BESIDE.provenance) ? PROVENANCE_TYPE : "application/octet-stream",
      }),
  });
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
  begin(exchange, 200, { ...CACHING, "content-type": mediaType });
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
