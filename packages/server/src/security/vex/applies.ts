import type { PackageURL } from "packageurl-js";
import { comparableName, IMAGE_TYPES, parsedPurl } from "./purls.ts";

/**
 * What in the image a statement is about, if it is attached to the digest: a purl, or empty for the whole image.
 * Undefined when it is about something else. Whatever has a name of its own is the image only if the name has its
 * digest.
 */
export function targetOf(
  { product, component }: { product: string; component: string },
  digest: string,
): string | undefined {
  const purl = parsedPurl(product);
  if (product !== "" && (purl === undefined || IMAGE_TYPES.has(purl.type))) {
    const isImage = product.includes(digest) || (purl !== undefined && (purl.version ?? "") in { "": 0, [digest]: 0 });
    if (!isImage) return undefined;
    return component === "" ? "" : packageIn(component);
  }
  if (product === "" && component === "") return "";
  return packageIn(component === "" ? product : component);
}

/** The purl of a package; undefined for what is none. */
function packageIn(text: string): string | undefined {
  const purl = parsedPurl(text);
  return purl === undefined || IMAGE_TYPES.has(purl.type) ? undefined : text;
}

/**
 * Whether what a statement is about is the package: the same type, namespace and name, and the same version and
 * qualifiers as far as the statement has them. Source: purl-spec; OpenVEX 0.2, "Product identification".
 */
export function isAbout(target: string, purl: string): boolean {
  if (target === "") return true;
  const [wanted, held] = [parsedPurl(target), parsedPurl(purl)];
  if (wanted === undefined || held === undefined) return false;
  return (
    wanted.type === held.type &&
    (wanted.namespace ?? "") === (held.namespace ?? "") &&
    comparableName(wanted) === comparableName(held) &&
    (!wanted.version || wanted.version === held.version) &&
    Object.entries(qualifiersOf(wanted)).every(
      ([key, value]) => !COMPARED.has(key) || isSame(key, value, qualifiersOf(held)[key]),
    )
  );
}

/** Others say where a package came from. */
const COMPARED: ReadonlySet<string> = new Set(["arch", "distro", "epoch"]);

/** A statement about a release is one about its updates: debian-12 holds for debian-12.5. */
function isSame(key: string, wanted: string | undefined, held: string | undefined): boolean {
  return wanted === held || (key === "distro" && held !== undefined && held.startsWith(`${wanted}.`));
}

function qualifiersOf({ qualifiers }: PackageURL): Record<string, string | undefined> {
  return (qualifiers ?? {}) as Record<string, string | undefined>;
}
