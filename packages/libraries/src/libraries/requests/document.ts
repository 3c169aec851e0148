import type { AnyKind } from "../ecosystem/document-kind.ts";
import { libraryError } from "../http/errors.ts";
import type { JudgeData, WholeBlock } from "../policies/judge.ts";
import { INLINE_BYTES } from "../reading/limits.ts";
import type { Task } from "../reading/task.ts";
import type { UpstreamDocument, WantedDocument } from "../upstreams/documents.ts";
import { unlessKept } from "../upstreams/errors.ts";
import type { DocumentInput } from "../upstreams/pieces.ts";
import { noteBlocked, requireSome } from "./check.ts";
import { type LibraryExchange, read, upstreamsOf } from "./exchange.ts";
import { type Rendered, renderedAs } from "./rendering.ts";
import { type Named, removedIn, resolve, type Resolved } from "./resolve.ts";
import { packedRows, type RowsInput, smallRows } from "./rows.ts";

// The order in which a document is read, the same for all ecosystems: what its name means, what the upstream offers of
// it, what the group has of it; judged and rendered, from memory where nothing has changed; noted, and sent.

/** A document of an upstream that says what it offers of an artifact. `name`: what it is kept under. */
export interface OfferedDocument<K extends AnyKind> {
  name: string;
  wanted: WantedDocument<K>;
}

/** What a document is made of. */
export interface Found<K extends AnyKind> extends Resolved {
  /** Undefined when nobody is asked, or when the upstream has none or fails. */
  document: UpstreamDocument<K> | undefined;
}

/** What a document is rendered from, as plain data: what all ecosystems have in common. */
export interface RenderInput<K extends AnyKind> {
  /** Normalized. */
  name: string;
  rows: RowsInput;
  /** Versions that the group has removed: nobody has them any more. */
  removed: readonly string[];
  document: DocumentInput<K> | undefined;
  /** When the upstream said so, in milliseconds since 1970. */
  fetchedMs: number | undefined;
  judge: JudgeData;
}

/**
 * A document; `whole` where every version is blocked, `empty` where there is nothing. `changed`: versions of which the
 * upstream has other content by now than when it came. Defaults to none.
 */
export type RenderOutput = { changed?: string[] } & ({ rendered: Rendered } | { whole: WholeBlock } | { empty: true });

/** How an ecosystem renders a document. */
interface Rendering<K extends AnyKind, Extra extends object, Output extends RenderOutput> {
  /** On what it depends beside the artifact, the upstream's document and the policy. */
  key: string;
  task: Task<RenderInput<K> & Extra, Output>;
  /** What the task gets beside the rest. */
  extra(): Extra;
  /** By how much longer it takes to render so many bytes than of JSON. Defaults to 1. */
  weight?: number;
  /**
   * What is still to be found out after the document was rendered, so that it is rendered once more; it is good until
   * then, in milliseconds since 1970, or as long as it is. Undefined: nothing.
   */
  findMore?(output: Output): Promise<{ untilMs: number | undefined } | undefined>;
}

/**
 * What a name means, with what its upstream offers. Throws 403, 404 when neither the group nor the upstream has it, and
 * 502 and 503 when the upstream fails and the group has nothing to go on with.
 */
export async function findDocument<K extends AnyKind>(
  exchange: LibraryExchange,
  named: Named,
  offered: (settings: { url: string }) => OfferedDocument<K>,
): Promise<Found<K>> {
  const resolved = await read(exchange, (call) => resolve(call, exchange, named));
  return await withDocument(exchange, resolved, offered);
}

/** The same of a name that was looked up. */
export async function withDocument<K extends AnyKind>(
  exchange: LibraryExchange,
  resolved: Resolved,
  offered: (settings: { url: string }) => OfferedDocument<K>,
): Promise<Found<K>> {
  const { settings, isEnough, named } = resolved;
  if (settings === undefined) return { ...resolved, document: undefined };
  const { name, wanted } = offered(settings);
  const { documents } = upstreamsOf(exchange);
  const document = await unlessKept(isEnough, () => documents.of(settings, name, wanted));
  if (document === undefined && !isEnough) throw libraryError(404, named.missing);
  return { ...resolved, document };
}

/** Renders a document, or has it from memory. Throws 404 without versions, and 409 when every version is blocked. */
export async function renderDocument<K extends AnyKind, Extra extends object, Output extends RenderOutput>(
  exchange: LibraryExchange,
  found: Found<K>,
  rendering: Rendering<K, Extra, Output>,
): Promise<Rendered> {
  const { group, named, artifact, settings, document, removed, gate } = found;
  const key = [
    exchange.ecosystem.key,
    group,
    named.normalized,
    artifact === undefined ? "" : `${artifact.uid} ${artifact.revision}`,
    // Without an artifact no revision says what was removed with it.
    removed,
    settings?.uid,
    document?.revision,
    rendering.key,
    gate.key,
  ].join(" ");
  return await renderedAs(key, () => render(exchange, found, rendering), exchange.callData.nowMs);
}

/** Made here, and of a large artifact in a task. */
async function render<K extends AnyKind, Extra extends object, Output extends RenderOutput>(
  exchange: LibraryExchange,
  found: Found<K>,
  { task, extra, weight = 1, findMore }: Rendering<K, Extra, Output>,
): Promise<Rendered> {
  const { group, named, gate, document } = found;
  const { deps, ecosystem } = exchange;
  const { normalized } = named;
  const place = { group, ecosystem, normalized };
  const removed = [...(await removedIn(exchange, found))];
  // Read again, so that the artifact and its versions are of one moment.
  const rows = await smallRows(exchange, place);
  const bytes = (document?.size ?? 0) + (rows === "large" ? INLINE_BYTES + 1 : rows.bytes);
  const run = (): Promise<Output> => {
    const input = async (): Promise<RenderInput<K> & Extra> => ({
      ...extra(),
      name: normalized,
      rows: rows === "large" ? await packedRows(exchange, place) : rows,
      removed,
      document: await document?.input(),
      fetchedMs: document?.fetchedMs,
      judge: gate.data,
    });
    return deps.reading.run(task, input, bytes * weight);
  };
  let output = await run();
  const more = await findMore?.(output);
  if (more !== undefined) output = await run();
  for (const version of output.changed ?? [])
    deps.upstreams.changed({ ecosystem: ecosystem.key, group, name: normalized, version });
  if ("empty" in output) throw libraryError(404, named.missing);
  if (!("rendered" in output)) {
    requireSome(exchange, gate, output.whole);
    throw new Error("a document was not rendered");
  }
  const { rendered } = output;
  return more?.untilMs === undefined ? rendered : { ...rendered, untilMs: more.untilMs };
}

/** Notes what of a document is blocked, and says until when its answer is good: it is about to be sent. */
export function noteDocument<K extends AnyKind>(
  exchange: LibraryExchange,
  { gate, settings, document }: Found<K>,
  { blocked, untilMs = Infinity }: Rendered,
): void {
  noteBlocked(exchange, gate, blocked);
  // An upstream that says nothing may say something at any time.
  exchange.goodUntilMs = settings === undefined ? untilMs : document && Math.min(document.freshUntilMs, untilMs);
}
