import { createHash } from "node:crypto";
import {
  IMAGE_TYPES,
  keysOfPackage,
  parsedPurl,
  purlKey,
  type PurlOfPackage,
  writePurl,
} from "@moorage/kernel/lib/purls";
import { UnreadableRecord } from "../records/record.ts";
import { targetOf } from "./applies.ts";
import { csafDocument } from "./csaf.ts";
import { cycloneDxDocument } from "./cyclonedx.ts";
import { openVexDocument } from "./openvex.ts";
import { storable, storableIds } from "./storable.ts";
import type { VexDocument, VexStatement } from "./types.ts";

// What a feed of VEX documents may decide about: FeedDefinition.products.

const READERS: Readonly<Record<string, (document: unknown) => VexDocument>> = {
  openvex: openVexDocument,
  "csaf-vex": csafDocument,
  "cyclonedx-vex": cycloneDxDocument,
};

/** The formats of such feeds. */
export const VEX_FORMATS: readonly string[] = Object.keys(READERS);

/** The largest document that is read, in characters, and the most that one says about products that may be decided. */
export const MAX_DOCUMENT_CHARS = 4 << 20;
const MAX_STATEMENTS = 20_000;
const MAX_KEY_BYTES = 1_000;

/** A statement of a feed about a product that the feed may decide about. */
export interface TrustedStatement extends VexStatement {
  /** By what it is found: see productKeyOf. */
  key: string;
  author: string;
}

/** An image as statements name it. */
export interface NamedDigest {
  /** Of the repo, as `acme/web`. */
  path: string;
  digest: string;
}

/**
 * What the document says about products with one of these beginnings, the first of it. Nothing of a document that
 * cannot be read: the import has checked less of it than a reading of its statements wants.
 */
export function trustedIn(format: string, body: string, products: readonly string[]): TrustedStatement[] {
  const { author, subject, statements } = documentOf(format, body);
  const found: TrustedStatement[] = [];
  const prefixes = products.map(writtenPrefix);
  for (const each of statements) {
    if (found.length >= MAX_STATEMENTS) break;
    const { product, component } = inSubject(each, subject);
    const named = product || component;
    // Who names a component of a package means the component.
    const key = productKeyOf(component === "" || isImage(product) ? named : component);
    const ids = storableIds(each.ids);
    if (key === undefined || ids.length === 0 || !prefixes.some((prefix) => begins(writtenOnce(named), prefix)))
      continue;
    const texts = [product, component].map(storable) as [string, string];
    // Another text than the one that was looked at would be another product.
    if (texts[0] !== product || texts[1] !== component) continue;
    found.push({ ...each, ids, product, component, key, impact: storable(each.impact), author: storable(author) });
  }
  return found;
}

/** All that the document says, of whichever products. Nothing of a document that cannot be read. */
export function statementsIn(format: string, body: string): VexStatement[] {
  const { subject, statements } = documentOf(format, body);
  return statements.map((each) => ({ ...each, ...inSubject(each, subject) }));
}

function documentOf(format: string, body: string): VexDocument {
  try {
    const document = READERS[format]?.(JSON.parse(body));
    if (document !== undefined) return document;
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
  }
  return { id: "", author: "", subject: "", statements: [] };
}

/** A statement of a document about an image is about that image: as a whole, or about the package in it. */
function inSubject({ product, component }: VexStatement, subject: string): { product: string; component: string } {
  if (product !== "") return { product, component };
  if (component === "" || isImage(component)) return { product: component || subject, component: "" };
  return { product: isImage(subject) ? subject : "", component };
}

/** The purl as we write it, so that one that is written otherwise begins with the same; what is no purl as it is. */
function writtenOnce(text: string): string {
  const purl = parsedPurl(text);
  if (purl === undefined || !text.isWellFormed()) return text;
  const written = writePurl({ ...purl, qualifiers: Object.fromEntries(purl.qualifiers) });
  return purl.type === "golang" ? written.toLowerCase() : written;
}

/** The beginning of purls as we write them; what begins none as it is. */
function writtenPrefix(prefix: string): string {
  const end = /[/@?#]$/.test(prefix) ? prefix.slice(-1) : "";
  // A name behind it makes a purl of a namespace.
  if (end === "/") return parsedPurl(`${prefix}x`) === undefined ? prefix : writtenOnce(`${prefix}x`).slice(0, -1);
  const whole = prefix.slice(0, prefix.length - end.length);
  return parsedPurl(whole) === undefined ? prefix : `${writtenOnce(whole)}${end}`;
}

const isImage = (text: string): boolean => IMAGE_TYPES.has(parsedPurl(text)?.type ?? "");

/** Whether the text begins with the other, and with it ends a part of a purl. */
function begins(purl: string, prefix: string): boolean {
  return purl.startsWith(prefix) && (/[/@?#]$/.test(prefix) || /^(?:[/@?#]|$)/.test(purl.slice(prefix.length)));
}

/**
 * By what statements about a product are found: type, namespace and name, as `npm//left-pad`. Undefined for what is no
 * purl, which may be anybody's name for anything.
 */
export function productKeyOf(text: string): string | undefined {
  const purl = parsedPurl(text);
  if (purl === undefined) return undefined;
  const key = purlKey(purl);
  return usableKey(IMAGE_TYPES.has(purl.type) ? key.toLowerCase() : key);
}

/** By what statements about a package are found: its own key, and that of the source that it is built from. */
export function productKeysOf(held: PurlOfPackage): string[] {
  return keysOfPackage(held).flatMap((key) => usableKey(key) ?? []);
}

function usableKey(key: string): string | undefined {
  return Buffer.byteLength(key) > MAX_KEY_BYTES ? undefined : storable(key);
}

/** The keys of statements that may be about an image of the repo at the path. */
export function imageKeys(path: string): string[] {
  const name = lastPart(path);
  return [...IMAGE_TYPES].map((type) => `${type}//${name}`);
}

/** The name of the images that a key means; undefined for one of packages. */
export function imageNameIn(key: string): string | undefined {
  const [type = "", namespace, name] = key.split("/");
  return IMAGE_TYPES.has(type) && namespace === "" ? name : undefined;
}

/**
 * What the statement is about in the image: the purl of a package, or empty for the whole image. Undefined when it is
 * about something else. `within`: a package, with its purl, that the image must hold, too.
 */
export function targetIn(
  { product, component }: Pick<VexStatement, "product" | "component">,
  { path, digest }: NamedDigest,
): { target: string; within: string | undefined } | undefined {
  const purl = parsedPurl(product);
  const isOfImage = purl !== undefined && IMAGE_TYPES.has(purl.type);
  if (isOfImage && !isNamed(purl, path)) return undefined;
  const target = targetOf({ product, component }, digest);
  if (target === undefined) return undefined;
  return { target, within: isOfImage || product === "" || component === "" ? undefined : product };
}

/** Whether the purl of an image has the name that the path ends with, and no other place. */
function isNamed({ name, qualifiers }: NonNullable<ReturnType<typeof parsedPurl>>, path: string): boolean {
  const place = qualifiers.get("repository_url");
  return (
    name.toLowerCase() === lastPart(path) &&
    (place === undefined || place.toLowerCase().endsWith(`/${path.toLowerCase()}`))
  );
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1).toLowerCase();

/** Equal for statements that say the same. */
export function hashOf(statement: TrustedStatement): string {
  const { ids, status, justification, impact, product, component, author, timeMs, remedies } = statement;
  const said: unknown[] = [ids, status, justification, impact, product, component, author, timeMs];
  // Those that were stored before there were remedies have the hash without.
  if (remedies.length > 0) said.push(remedies);
  const content = JSON.stringify(said);
  return createHash("sha256").update(content).digest("hex");
}
