import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { StoredLayer } from "../catalog/queue.ts";
import type { Component } from "../catalog/types.ts";
import { componentOf } from "./components.ts";
import { cycloneDxPackages } from "./cyclonedx.ts";
import { IN_TOTO, type Opened, openEnvelopes } from "./envelopes.ts";
import { textOf, timeOf } from "./fields.ts";
import { CYCLONEDX_VEX, isReadType, type PredicateKind } from "./media-types.ts";
import { collectComponents } from "../vex/records.ts";
import { hasAnalyses } from "../vex/cyclonedx.ts";
import { storable } from "../vex/storable.ts";
import { LINE } from "./sources.ts";
import { spdxPackages } from "./spdx.ts";
import { vexOf } from "./vex-of.ts";
import { type AttachedDocument, AttachedError, type AttachedLayer } from "./types.ts";

/** The largest document with its envelope, in bytes; base64 makes a third more of what is in it. */
const MAX_BYTES = 64 << 20;

/** How deep its objects and lists may be nested, and how many values there may be in all of them. */
const MAX_DEPTH = 64;
const MAX_VALUES = 4_000_000;
const MAX_PACKAGES = 200_000;
const MAX_REASON = 500;

/**
 * Reads the documents in the layers of an attached manifest, one after another, in some hundred MiB of memory at most.
 * What cannot be read has its reason; statements of other kinds are left out. `bytesOf`: the bytes of a stored layer.
 */
export async function readAttached(
  subject: string,
  layers: readonly AttachedLayer[],
  bytesOf: (layer: StoredLayer) => AsyncIterable<Uint8Array>,
): Promise<AttachedDocument[]> {
  const documents: AttachedDocument[] = [];
  for (const layer of layers) {
    const { n, digest, mediaType } = layer;
    const about = { n, layer: digest, mediaType };
    const rejected = (error: unknown): AttachedDocument => {
      if (!(error instanceof AttachedError)) throw error;
      return { ...about, kind: "", reason: reasonOf(error), ...NOTHING };
    };
    try {
      const content = await contentOf(layer, bytesOf);
      for (const [at, part] of partsIn(content).entries()) {
        const place = { ...about, n: n + at * LINE };
        try {
          const opened = openEnvelopes(parsed(part), subject, parsed);
          if (mediaType === IN_TOTO && opened !== undefined && opened.kind === undefined)
            throw new AttachedError("it is not an in-toto statement, though its type says so");
          if (opened !== undefined) documents.push({ ...place, ...documentOf(opened, mediaType, subject) });
        } catch (error) {
          documents.push({ ...rejected(error), ...place });
        }
      }
    } catch (error) {
      documents.push(rejected(error));
    }
  }
  return documents;
}

/** The most attestations of one layer, one a line. */
const MAX_LINES = 50;

/**
 * The attestations of a layer that has several, one a line (JSON Lines), or the one document that it is. Throws an
 * AttachedError when there are too many.
 */
function partsIn(content: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < content.length;) {
    const newline = content.indexOf(0x0a, from);
    const to = newline < 0 ? content.length : newline;
    const line = content.subarray(from, to);
    from = to + 1;
    const start = line.findIndex((byte) => !BLANKS.has(byte));
    if (start < 0) continue;
    // A document in many lines has lines that are no objects by themselves.
    if (line[start] !== 0x7b || line[line.findLastIndex((byte) => !BLANKS.has(byte))] !== 0x7d) return [content];
    lines.push(line);
    if (lines.length > MAX_LINES) throw new AttachedError(`it has more than ${MAX_LINES} attestations, one a line`);
  }
  return lines.length > 1 ? lines : [content];
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);

async function contentOf(
  { mediaType, stored }: AttachedLayer,
  bytesOf: (layer: StoredLayer) => AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  if (!isReadType(mediaType)) throw new AttachedError(`${mediaType} is not read: attach it as JSON`);
  if (stored === undefined) throw new AttachedError("the document is not stored here");
  if (stored.size > MAX_BYTES) throw new AttachedError(`it has ${stored.size} bytes, more than ${MAX_BYTES}`);
  const content = Buffer.alloc(stored.size);
  let at = 0;
  for await (const chunk of bytesOf(stored)) {
    content.set(chunk, at);
    at += chunk.length;
  }
  return content;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), MAX_DEPTH, MAX_VALUES);
  } catch (error) {
    throw new AttachedError(`it cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
}

type Content = Omit<AttachedDocument, "n" | "layer" | "mediaType">;

const NOTHING = {
  timeMs: 0,
  components: [],
  documentId: "",
  author: "",
  statements: [],
  passedOver: { total: 0, first: [] },
  refs: [],
};

function documentOf({ document, kind: stated }: Opened, mediaType: string, subject: string): Content {
  const kind = kindOf(document);
  if (kind === undefined || (stated !== undefined && stated.replace("-vex", "") !== kind))
    throw new AttachedError(`it is not a document of ${stated ?? "a format that is read"}`);
  const isVexAlone = stated === "cyclonedx-vex" || mediaType === CYCLONEDX_VEX;
  const content = { ...NOTHING, kind, timeMs: madeAt(document) };
  try {
    const components = (kind === "cyclonedx" && !isVexAlone) || kind === "spdx" ? packagesOf(kind, document) : [];
    const isVex = kind === "openvex" || kind === "csaf" || (kind === "cyclonedx" && hasAnalyses(document));
    const vex = isVex ? vexOf(kind, document, subject) : {};
    if (components.length === 0 && !isVex)
      throw new AttachedError(isVexAlone ? "it says nothing of a vulnerability" : "it names no package with a purl");
    const linked = kind === "cyclonedx" && components.length > 0 ? linkedOf(document) : {};
    return { ...content, reason: "", components, ...linked, ...vex };
  } catch (error) {
    if (!(error instanceof AttachedError)) throw error;
    return { ...content, reason: reasonOf(error) };
  }
}

/** The most references of one document that are kept, and the longest. */
const MAX_REFS = 10_000;
const MAX_REF = 400;

/** By what other documents link to the components of this one, where that is not their package URLs. */
function linkedOf(document: Record<string, unknown>): Pick<Content, "documentId" | "refs"> | object {
  const serialNumber = textOf(document["serialNumber"]);
  if (!/^urn:uuid:[0-9a-f-]{36}$/i.test(serialNumber)) return {};
  const purls = new Map<string, string>();
  collectComponents(document["components"], purls);
  const refs = [...purls].flatMap(([ref, purl]) =>
    ref.startsWith("pkg:") || ref.length > MAX_REF || purl.length > MAX_REF
      ? []
      : [{ ref: storable(ref), purl: storable(purl) }],
  );
  return { documentId: serialNumber.toLowerCase(), refs: refs.slice(0, MAX_REFS) };
}

function packagesOf(kind: "cyclonedx" | "spdx", document: Record<string, unknown>): Component[] {
  const { packages, distribution } = kind === "spdx" ? spdxPackages(document) : cycloneDxPackages(document);
  const components = new Map<string, Component>();
  for (const each of packages) {
    const component = componentOf(each, kind, distribution);
    if (component !== undefined) components.set(`${component.purl} ${component.path}`, component);
    if (components.size > MAX_PACKAGES) throw new AttachedError(`it has more than ${MAX_PACKAGES} packages`);
  }
  return [...components.values()];
}

function kindOf(document: Record<string, unknown>): Exclude<PredicateKind, "cyclonedx-vex"> | undefined {
  if (document["bomFormat"] === "CycloneDX") return "cyclonedx";
  if (textOf(document["spdxVersion"]) !== "") return "spdx";
  if (textOf(document["@context"]).startsWith("https://openvex.dev/ns")) return "openvex";
  const { document: about } = document;
  return isObject(about) && textOf(about["csaf_version"]) !== "" ? "csaf" : undefined;
}

function madeAt({ metadata, creationInfo, timestamp }: Record<string, unknown>): number {
  if (typeof timestamp === "string") return timeOf(timestamp);
  if (isObject(metadata)) return timeOf(metadata["timestamp"]);
  return isObject(creationInfo) ? timeOf(creationInfo["created"]) : 0;
}

/** One line that every database takes. */
function reasonOf({ message }: Error): string {
  return message
    .toWellFormed()
    .replaceAll(/\p{C}+/gu, " ")
    .slice(0, MAX_REASON)
    .toWellFormed();
}
